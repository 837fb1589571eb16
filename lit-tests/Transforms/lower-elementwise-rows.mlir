// RUN: ck-opt %s -ck-lower-elementwise | FileCheck %s
// RUN: ck-opt %s -ck-lower-elementwise=strict | FileCheck %s --check-prefix=STRICT

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// Threads share the 4 vectors of 32 features; each goes over all tokens.
// CHECK-LABEL: func.func private @add
func.func private @add(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<4x32xf32>, %b: memref<4x32xf32>, %y: memref<4x32xf32>) attributes {ck.kernel} {
  // CHECK: %[[COUNT:.*]] = arith.constant 4 : index
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[COUNT]], %arg0
  // CHECK-NEXT: %[[LO:.*]] = arith.divui %[[BEFORE]], %arg1
  // CHECK-NEXT: %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[COUNT]]
  // CHECK-NEXT: %[[HI:.*]] = arith.divui %[[AFTER]], %arg1
  // CHECK-NEXT: affine.for %[[T:.*]] = 0 to %arg2 {
  // CHECK-NEXT: affine.for %[[I:.*]] = %[[LO]] to %[[HI]] {
  // CHECK-NEXT: %[[F:.*]] = affine.apply #{{.*}}(%[[I]])
  // CHECK-DAG: %[[A:.*]] = vector.load %arg5[%[[T]], %[[F]]] : memref<4x32xf32>, vector<8xf32>
  // CHECK-DAG: %[[B:.*]] = vector.load %arg6[%[[T]], %[[F]]]
  // CHECK: %[[Y:.*]] = arith.addf %[[A]], %[[B]] : vector<8xf32>
  // CHECK-NEXT: vector.store %[[Y]], %arg7[%[[T]], %[[F]]]
  ck.add ins(%a, %b : memref<4x32xf32>, memref<4x32xf32>) outs(%y : memref<4x32xf32>)
  return
}

// 35 features are five vectors, the last of which begins at 27.
// CHECK-LABEL: func.func private @last_vector_moves_back
func.func private @last_vector_moves_back(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<4x35xf32>, %y: memref<4x35xf32>) attributes {ck.kernel} {
  // CHECK: arith.constant 5 : index
  // CHECK: %[[F:.*]] = affine.apply
  // CHECK-NEXT: %[[LAST:.*]] = arith.constant 27 : index
  // CHECK-NEXT: %[[START:.*]] = arith.minui %[[F]], %[[LAST]] : index
  // CHECK-NEXT: vector.load %arg5[%{{.*}}, %[[START]]]
  // CHECK: vector.store %{{.*}}, %arg6[%{{.*}}, %[[START]]]
  ck.add ins(%a, %a : memref<4x35xf32>, memref<4x35xf32>) outs(%y : memref<4x35xf32>)
  return
}

// CHECK-LABEL: func.func private @fewer_features_than_lanes
func.func private @fewer_features_than_lanes(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<4x7xf32>, %y: memref<4x7xf32>) attributes {ck.kernel} {
  // CHECK: arith.constant 7 : index
  // CHECK-NOT: vector
  // CHECK: %[[A:.*]] = memref.load %arg5[%[[T:.*]], %[[F:.*]]] : memref<4x7xf32>
  // CHECK: %[[Y:.*]] = arith.addf {{.*}} : f32
  // CHECK-NEXT: memref.store %[[Y]], %arg6[%[[T]], %[[F]]]
  // CHECK-NOT: vector
  // CHECK: return
  ck.add ins(%a, %a : memref<4x7xf32>, memref<4x7xf32>) outs(%y : memref<4x7xf32>)
  return
}

// The row of the table is the token's id, that of the positions is position + token.
// CHECK-LABEL: func.func private @embed
func.func private @embed(%tid: index, %threads: index, %T: index, %first: index, %position: index, %ids: memref<40xi32>, %t: memref<64x48xf32>, %p: memref<40x48xf32>, %y: memref<4x32xf32>) attributes {ck.kernel} {
  // CHECK: affine.for %[[T:.*]] = 0 to %arg2 {
  // CHECK-NEXT: %[[SMALL:.*]] = memref.load %arg5[%[[T]]]
  // CHECK-NEXT: %[[ID:.*]] = arith.index_cast %[[SMALL]] : i32 to index
  // CHECK-NEXT: %[[ROW:.*]] = arith.addi %arg4, %[[T]] : index
  // CHECK: %[[E:.*]] = vector.load %arg6[%[[ID]], %[[F:.*]]] : memref<64x48xf32>, vector<8xf32>
  // CHECK-NEXT: %[[P:.*]] = vector.load %arg7[%[[ROW]], %[[F]]]
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[E]], %[[P]]
  // CHECK-NEXT: vector.store %[[Y]], %arg8[%[[T]], %[[F]]]
  ck.embed ins(%ids, %t : memref<40xi32>, memref<64x48xf32>) positions(%p : memref<40x48xf32>) outs(%y : memref<4x32xf32>)
  return
}

// Every thread sums the whole row: vectors, their lanes as a tree, then what is left; and scales its own part.
// CHECK-LABEL: func.func private @rmsnorm
func.func private @rmsnorm(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x48xf32>, %g: memref<48xf32>, %y: memref<4x48xf32>) attributes {ck.kernel} {
  // CHECK: affine.for %[[T:.*]] = 0 to %arg2 {
  // CHECK: %[[SUMS:.*]] = affine.for %[[F:.*]] = 0 to 32 step 8 iter_args(%[[S:.*]] = %{{.*}}) -> (vector<8xf32>) {
  // CHECK-NEXT: %[[X:.*]] = vector.load %arg5[%[[T]], %[[F]]]
  // CHECK-NEXT: %[[N:.*]] = math.fma %[[X]], %[[X]], %[[S]]
  // CHECK-DAG: vector.shuffle %[[SUMS]], %[[SUMS]] [0, 1, 2, 3]
  // CHECK-DAG: vector.shuffle %[[SUMS]], %[[SUMS]] [4, 5, 6, 7]
  // CHECK: %[[S4:.*]] = arith.addf
  // CHECK-DAG: vector.shuffle %[[S4]], %[[S4]] [0, 1]
  // CHECK-DAG: vector.shuffle %[[S4]], %[[S4]] [2, 3]
  // CHECK: %[[S1:.*]] = arith.addf {{.*}} : vector<1xf32>
  // CHECK-NEXT: %[[LANES:.*]] = vector.extract %[[S1]][0]
  // CHECK-NEXT: %[[ALL:.*]] = affine.for %{{.*}} = 0 to 3 iter_args(%{{.*}} = %[[LANES]]) -> (f32) {
  // CHECK: math.fma {{.*}} : f32
  // CHECK: %[[MEAN:.*]] = arith.divf %[[ALL]], %{{.*}} : f32
  // CHECK-NEXT: %[[EPS:.*]] = arith.addf %[[MEAN]],
  // CHECK-NEXT: %[[ROOT:.*]] = math.sqrt %[[EPS]]
  // CHECK-NEXT: %[[RSTD:.*]] = arith.divf %{{.*}}, %[[ROOT]]
  // CHECK-NEXT: affine.for
  // CHECK: arith.constant 27 : index
  // CHECK: vector.broadcast %[[RSTD]] : f32 to vector<8xf32>
  // CHECK: vector.load %arg6
  // CHECK: vector.store %{{.*}}, %arg7
  ck.rmsnorm ins(%x, %g : memref<4x48xf32>, memref<48xf32>) outs(%y : memref<4x48xf32>) eps 1.0e-5 features 35
  return
}

// CHECK-LABEL: func.func private @rmsnorm_of_few_features_with_rstd
func.func private @rmsnorm_of_few_features_with_rstd(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x7xf32>, %g: memref<7xf32>, %y: memref<4x7xf32>, %r: memref<4xf32>) attributes {ck.kernel} {
  // CHECK-NOT: vector
  // rstd has a value for each row of x, wherever that stands in the context.
  // CHECK: affine.for %[[T:.*]] = 0 to %arg2 {
  // CHECK: affine.for %{{.*}} = 0 to 7 iter_args
  // CHECK: %[[ROOT:.*]] = math.sqrt
  // CHECK-NEXT: %[[RSTD:.*]] = arith.divf %{{.*}}, %[[ROOT]]
  // CHECK-NEXT: memref.store %[[RSTD]], %arg8[%[[T]]]
  // CHECK: memref.store %{{.*}}, %arg7
  // CHECK-NOT: vector
  // CHECK: return
  ck.rmsnorm ins(%x, %g : memref<4x7xf32>, memref<7xf32>) outs(%y : memref<4x7xf32>) rstd(%r : memref<4xf32>) eps 1.0e-5 features 7
  return
}

// CHECK-LABEL: func.func private @swiglu
// STRICT-LABEL: func.func private @swiglu
func.func private @swiglu(%tid: index, %threads: index, %T: index, %first: index, %position: index, %g: memref<4x48xf32>, %u: memref<4x48xf32>, %y: memref<4x48xf32>) attributes {ck.kernel} {
  // CHECK-DAG: %[[G:.*]] = vector.load %arg5
  // CHECK-DAG: %[[U:.*]] = vector.load %arg6
  // CHECK-DAG: math.exp %{{.*}} : vector<8xf32>
  // CHECK-DAG: %[[SILU:.*]] = arith.divf %[[G]],
  // CHECK: %[[Y:.*]] = arith.mulf %[[SILU]], %[[U]]
  // CHECK: vector.store %[[Y]], %arg7
  // STRICT: math.exp %{{.*}} : vector<8xf64>
  ck.swiglu ins(%g, %u : memref<4x48xf32>, memref<4x48xf32>) outs(%y : memref<4x48xf32>)
  return
}

// CHECK-LABEL: func.func private @split
func.func private @split(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x96xf32>, %a: memref<4x48xf32>, %b: memref<4x48xf32>) attributes {ck.kernel} {
  // CHECK: arith.constant 6 : index
  // CHECK: %[[X:.*]] = vector.load %arg5[%[[T:.*]], %[[F:.*]]]
  // CHECK-NEXT: vector.store %[[X]], %arg6[%[[T]], %[[F]]]
  // CHECK-NEXT: %[[HALF:.*]] = arith.constant 48 : index
  // CHECK-NEXT: %[[G:.*]] = arith.addi %[[F]], %[[HALF]] : index
  // CHECK-NEXT: %[[Y:.*]] = vector.load %arg5[%[[T]], %[[G]]]
  // CHECK-NEXT: vector.store %[[Y]], %arg7[%[[T]], %[[F]]]
  ck.split ins(%x : memref<4x96xf32>) outs(%a, %b : memref<4x48xf32>, memref<4x48xf32>)
  return
}

// Heads are shared; the angles are those of position + token.
// CHECK-LABEL: func.func private @rope_of_rows
func.func private @rope_of_rows(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) attributes {ck.kernel} {
  // CHECK: arith.constant 4 : index
  // CHECK: affine.for %[[H:.*]] = %{{.*}} to %{{.*}} {
  // CHECK-NEXT: affine.for %[[T:.*]] = 0 to %arg2 {
  // CHECK-NEXT: %[[ROW:.*]] = arith.addi %arg4, %[[T]] : index
  // CHECK-NEXT: affine.for %[[I:.*]] = 0 to 4 {
  // CHECK-NEXT: %[[A:.*]] = affine.apply #{{.*}}(%[[H]], %[[I]])
  // CHECK: %[[B:.*]] = arith.addi %[[A]], %c4
  // CHECK: memref.load %arg5[%[[T]], %[[A]]]
  // CHECK-NEXT: memref.load %arg5[%[[T]], %[[B]]]
  // CHECK-NEXT: memref.load %arg6[%[[ROW]], %[[I]]]
  // CHECK-NEXT: memref.load %arg7[%[[ROW]], %[[I]]]
  // CHECK: memref.store %{{.*}}, %arg5[%[[T]], %[[A]]]
  // CHECK: memref.store %{{.*}}, %arg5[%[[T]], %[[B]]]
  ck.rope inout(%x : memref<4x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// The cache is the same for both kinds of programs: its rows are shared.
// CHECK-LABEL: func.func private @rope_of_the_cache
func.func private @rope_of_the_cache(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<2x40x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) attributes {ck.kernel} {
  // CHECK: arith.muli %arg2, %arg0 : index
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %arg4 : index
  // CHECK: memref.store %{{.*}}, %arg5[%{{.*}}, %[[ROW]], %{{.*}}]
  // CHECK: memref.store %{{.*}}, %arg5[%{{.*}}, %[[ROW]], %{{.*}}]
  ck.rope inout(%x : memref<2x40x16xf32>) head_major table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}
}
