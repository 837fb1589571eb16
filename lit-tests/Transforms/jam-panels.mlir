// RUN: ck-opt %s -ck-jam-panels | FileCheck %s

// CHECK-LABEL: func.func @jams_three_tiles_into_one
// CHECK-SAME: %[[W:.*]]: memref<64xf32>, %[[X:.*]]: memref<4096xf32>, %[[Y:.*]]: memref<64x2x8xf32>, %[[LO:.*]]: index, %[[HI:.*]]: index, %[[D:.*]]: index, %[[R0:.*]]: index, %[[R1:.*]]: index)
func.func @jams_three_tiles_into_one(%w: memref<64xf32>, %x: memref<4096xf32>, %y: memref<64x2x8xf32>, %lo: index,
                                     %hi: index, %d: index, %r0: index, %r1: index) {
  // CHECK: %[[FIRST:.*]] = affine.max #{{.*}}()[%[[LO]]]
  // CHECK: %[[END:.*]] = affine.min #{{.*}}()[%[[HI]]]
  // CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]]
  // CHECK: %[[REST:.*]] = arith.remsi %[[COUNT]], %{{.*}}
  // CHECK: %[[MIDDLE:.*]] = arith.subi %[[END]], %[[REST]]
  // CHECK: scf.for %[[P:.*]] = %[[FIRST]] to %[[MIDDLE]] step %c3
  // CHECK: %[[P1:.*]] = arith.addi %[[P]], %c1
  // CHECK: %[[P2:.*]] = arith.addi %[[P]], %c2
  // CHECK: %[[C0:.*]] = affine.apply #{{.*}}(%[[P]])
  // CHECK: %[[C1:.*]] = affine.apply #{{.*}}(%[[P1]])
  // CHECK: %[[C2:.*]] = affine.apply #{{.*}}(%[[P2]])
  // The rows are those of one tile, the columns stand side by side; row r of panel p is result 3r + p.
  // CHECK: %[[T:.*]]:6 = ck.register_tile %[[W]][%[[R0]], %[[R1]]], %[[X]][%[[C0]], %[[C1]], %[[C2]]] depth %[[D]] segments 2 by 8 step 4 unroll 2 strict :
  // CHECK: vector.store %[[T]]#0, %[[Y]][%[[P]], %c0
  // CHECK: vector.store %[[T]]#1, %[[Y]][%[[P1]], %c0
  // CHECK: vector.store %[[T]]#2, %[[Y]][%[[P2]], %c0
  // CHECK: vector.store %[[T]]#3, %[[Y]][%[[P]], %c1
  // CHECK: vector.store %[[T]]#4, %[[Y]][%[[P1]], %c1
  // CHECK: vector.store %[[T]]#5, %[[Y]][%[[P2]], %c1
  // CHECK: }
  // CHECK: scf.for %[[P:.*]] = %[[MIDDLE]] to %[[END]] step %c1
  // CHECK: %[[C:.*]] = affine.apply #{{.*}}(%[[P]])
  // CHECK: %[[T:.*]]:2 = ck.register_tile %[[W]][%[[R0]], %[[R1]]], %[[X]][%[[C]]] depth %[[D]] segments 2 by 8 step 4 unroll 2 strict :
  // CHECK-COUNT-2: vector.store
  // CHECK-NOT: ck.jam
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  affine.for %p = %lo to %hi {
    %c = affine.apply affine_map<(d0) -> (d0 * 64)>(%p)
    %t:2 = ck.register_tile %w[%r0, %r1], %x[%c] depth %d segments 2 by 8 step 4 unroll 2 strict : memref<64xf32>, memref<4096xf32> -> vector<8xf32>, vector<8xf32>
    vector.store %t#0, %y[%p, %c0, %c0] : memref<64x2x8xf32>, vector<8xf32>
    vector.store %t#1, %y[%p, %c1, %c0] : memref<64x2x8xf32>, vector<8xf32>
  } {ck.jam = 3 : i64}
  return
}

// CHECK-LABEL: func.func @factor_one_needs_no_rest
func.func @factor_one_needs_no_rest(%w: memref<64xf32>, %x: memref<4096xf32>, %y: memref<64x8xf32>, %hi: index, %d: index) {
  // CHECK: scf.for
  // CHECK: ck.register_tile
  // CHECK-NOT: scf.for
  // CHECK: return
  %c0 = arith.constant 0 : index
  affine.for %p = 0 to %hi {
    %t = ck.register_tile %w[%c0], %x[%p] depth %d segments 1 by 0 step 1 unroll 1 : memref<64xf32>, memref<4096xf32> -> vector<8xf32>
    vector.store %t, %y[%p, %c0] : memref<64x8xf32>, vector<8xf32>
  } {ck.jam = 1 : i64}
  return
}

// The bounds that ck-block-panels leaves.
// CHECK-LABEL: func.func @loop_over_a_block
func.func @loop_over_a_block(%y: memref<64x8xf32>, %hi: index, %v: vector<8xf32>) {
  // CHECK: affine.for %[[B:.*]] = 0 to %{{.*}} step 4 {
  // CHECK: %[[LO:.*]] = affine.max #{{.*}}(%[[B]])
  // CHECK: %[[HI:.*]] = affine.min #{{.*}}(%[[B]])[%{{.*}}]
  // CHECK: scf.for %{{.*}} = %[[LO]] to %{{.*}} step %c2
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[HI]] step %c1
  %c0 = arith.constant 0 : index
  affine.for %b = 0 to %hi step 4 {
    affine.for %p = affine_map<(d0) -> (d0)>(%b) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%b)[%hi] {
      vector.store %v, %y[%p, %c0] : memref<64x8xf32>, vector<8xf32>
    } {ck.jam = 2 : i64}
  }
  return
}

// Ops of a region are copied whole, for one panel after the other.
// CHECK-LABEL: func.func @copies_branches
func.func @copies_branches(%y: memref<64x8xf32>, %hi: index, %v: vector<8xf32>) {
  // CHECK: scf.for %[[P:.*]] =
  // CHECK: %[[Q:.*]] = arith.addi %[[P]], %c1
  // CHECK: scf.if
  // CHECK: vector.store %{{.*}}, %{{.*}}[%[[P]],
  // CHECK: scf.if
  // CHECK: vector.store %{{.*}}, %{{.*}}[%[[Q]],
  %c0 = arith.constant 0 : index
  affine.for %p = 0 to %hi {
    %some = arith.cmpi ult, %p, %hi : index
    scf.if %some {
      vector.store %v, %y[%p, %c0] : memref<64x8xf32>, vector<8xf32>
    }
  } {ck.jam = 2 : i64}
  return
}

// CHECK-LABEL: func.func @affine_ops_that_leave_the_panel_alone
func.func @affine_ops_that_leave_the_panel_alone(%y: memref<64x8xf32>, %bias: memref<8xf32>, %hi: index) {
  // CHECK: scf.for
  // CHECK-COUNT-2: affine.load %{{.*}}[0]
  %c0 = arith.constant 0 : index
  affine.for %p = 0 to %hi {
    %b = affine.load %bias[0] : memref<8xf32>
    memref.store %b, %y[%p, %c0] : memref<64x8xf32>
  } {ck.jam = 2 : i64}
  return
}

// CHECK-LABEL: func.func @leaves_other_loops
func.func @leaves_other_loops(%y: memref<64x8xf32>, %hi: index, %v: vector<8xf32>) {
  // CHECK: affine.for
  // CHECK-NOT: scf.for
  // CHECK: return
  %c0 = arith.constant 0 : index
  affine.for %p = 0 to %hi {
    vector.store %v, %y[%p, %c0] : memref<64x8xf32>, vector<8xf32>
  }
  return
}
