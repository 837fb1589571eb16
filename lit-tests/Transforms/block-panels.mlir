// RUN: ck-opt %s -ck-block-panels | FileCheck %s

// CHECK-DAG: #[[START:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[END:.*]] = affine_map<(d0)[s0] -> (d0 + 4, s0)>

// CHECK-LABEL: func.func @moves_block_loop_outside_rows
// CHECK-SAME: %[[M:.*]]: memref<?x?xf32>, %[[ROWS:.*]]: index, %[[FIRST:.*]]: index, %[[PANELS:.*]]: index)
func.func @moves_block_loop_outside_rows(%m: memref<?x?xf32>, %rows: index, %first: index, %panels: index) {
  // CHECK: affine.for %[[BLOCK:.*]] = %[[FIRST]] to %[[PANELS]] step 4 {
  // CHECK-NEXT: affine.for %[[ROW:.*]] = 0 to %[[ROWS]] {
  // CHECK-NEXT: affine.apply
  // CHECK-NEXT: affine.for %[[P:.*]] = #[[START]](%[[BLOCK]]) to min #[[END]](%[[BLOCK]])[%[[PANELS]]] {
  // CHECK-NEXT: memref.store %{{.*}}, %[[M]][%[[ROW]], %[[P]]]
  // CHECK-NEXT: } {ck.jam = 2 : i64}
  %x = arith.constant 1.0 : f32
  affine.for %row = 0 to %rows {
    %twice = affine.apply affine_map<(d0) -> (d0 * 2)>(%row)
    affine.for %p = %first to %panels {
      memref.store %x, %m[%row, %p] : memref<?x?xf32>
    } {ck.block = 4 : i64, ck.jam = 2 : i64}
  }
  return
}

// CHECK-LABEL: func.func @starts_at_a_constant
// CHECK-SAME: %{{.*}}: memref<?x?xf32>, %[[PANELS:.*]]: index)
func.func @starts_at_a_constant(%m: memref<?x?xf32>, %panels: index) {
  // CHECK: affine.for %[[BLOCK:.*]] = 0 to %[[PANELS]] step 4 {
  // CHECK-NEXT: affine.for %{{.*}} = 0 to 8 {
  // CHECK-NEXT: affine.for %{{.*}} = #[[START]](%[[BLOCK]]) to min #[[END]](%[[BLOCK]])[%[[PANELS]]] {
  %x = arith.constant 1.0 : f32
  affine.for %row = 0 to 8 {
    affine.for %p = 0 to %panels {
      memref.store %x, %m[%row, %p] : memref<?x?xf32>
    } {ck.block = 4 : i64}
  }
  return
}

// Two nests in a kernel are blocked each for itself.
// CHECK-LABEL: func.func @two_nests
func.func @two_nests(%m: memref<?x?xf32>, %panels: index) {
  // CHECK-COUNT-2: step 4
  // CHECK-NOT: ck.block
  // CHECK: return
  %x = arith.constant 1.0 : f32
  affine.for %row = 0 to 8 {
    affine.for %p = 0 to %panels {
      memref.store %x, %m[%row, %p] : memref<?x?xf32>
    } {ck.block = 4 : i64}
  }
  affine.for %row = 0 to 8 {
    affine.for %p = 0 to %panels {
      memref.store %x, %m[%row, %p] : memref<?x?xf32>
    } {ck.block = 4 : i64}
  }
  return
}

// CHECK-LABEL: func.func @leaves_other_loops
func.func @leaves_other_loops(%m: memref<?x?xf32>, %panels: index) {
  // CHECK-NOT: step
  // CHECK: return
  %x = arith.constant 1.0 : f32
  affine.for %row = 0 to 8 {
    affine.for %p = 0 to %panels {
      memref.store %x, %m[%row, %p] : memref<?x?xf32>
    }
  }
  return
}
