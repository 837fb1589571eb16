// RUN: ck-opt %s -ck-lower-dot-tile | FileCheck %s

// Row after row, one vector of it and of each token a step; a vector of sums a token is carried. Two rows of 16 are
// read by two loops.
// CHECK-LABEL: func.func @rows_are_read_one_after_the_other
// CHECK-SAME: %[[W:.*]]: memref<64xf32>, %[[X:.*]]: memref<512xf32>, %[[R0:.*]]: index, %[[R1:.*]]: index, %[[T0:.*]]: index, %[[T1:.*]]: index)
func.func @rows_are_read_one_after_the_other(%w: memref<64xf32>, %x: memref<512xf32>, %r0: index, %r1: index, %t0: index, %t1: index) -> (vector<2xf32>, vector<2xf32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
  // CHECK: %[[FIRST:.*]] = arith.addi %[[R0]], %{{.*}} : index
  // CHECK: %[[A:.*]]:2 = scf.for %[[K:.*]] = %c0{{.*}} to %c16{{.*}} step %c8{{.*}} iter_args(%[[S:.*]] = %[[ZERO]], %[[T:.*]] = %[[ZERO]])
  // CHECK: %[[FK:.*]] = arith.addi %[[FIRST]], %[[K]]
  // CHECK: %[[V:.*]] = vector.load %[[W]][%{{.*}}] : memref<64xf32>, vector<8xf32>
  // CHECK: %[[X0:.*]] = vector.load %[[X]][%{{.*}}] : memref<512xf32>, vector<8xf32>
  // CHECK: %[[N0:.*]] = math.fma %[[V]], %[[X0]], %[[S]] : vector<8xf32>
  // CHECK: %[[X1:.*]] = vector.load %[[X]][%{{.*}}] : memref<512xf32>, vector<8xf32>
  // CHECK: %[[N1:.*]] = math.fma %[[V]], %[[X1]], %[[T]] : vector<8xf32>
  // CHECK: scf.yield %[[N0]], %[[N1]]
  // CHECK: arith.addi %[[R1]], %{{.*}} : index
  // CHECK: %[[B:.*]]:2 = scf.for
  // CHECK: scf.yield
  // CHECK-NOT: scf.for
  // The lanes of both rows are summed side by side, as a tree: 8, 4, 2, 1.
  // CHECK-DAG: %[[L4:.*]] = vector.shuffle %[[A]]#0, %[[B]]#0 [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
  // CHECK-DAG: %[[H4:.*]] = vector.shuffle %[[A]]#0, %[[B]]#0 [4, 5, 6, 7, 12, 13, 14, 15] : vector<8xf32>, vector<8xf32>
  // CHECK: %[[S4:.*]] = arith.addf %[[L4]], %[[H4]] : vector<8xf32>
  // CHECK-DAG: %[[L2:.*]] = vector.shuffle %[[S4]], %[[S4]] [0, 1, 4, 5]
  // CHECK-DAG: %[[H2:.*]] = vector.shuffle %[[S4]], %[[S4]] [2, 3, 6, 7]
  // CHECK: %[[S2:.*]] = arith.addf %[[L2]], %[[H2]] : vector<4xf32>
  // CHECK-DAG: %[[L1:.*]] = vector.shuffle %[[S2]], %[[S2]] [0, 2]
  // CHECK-DAG: %[[H1:.*]] = vector.shuffle %[[S2]], %[[S2]] [1, 3]
  // CHECK: %[[Y0:.*]] = arith.addf %[[L1]], %[[H1]] : vector<2xf32>
  // CHECK: vector.shuffle %[[A]]#1, %[[B]]#1
  // CHECK: %[[Y1:.*]] = arith.addf %{{.*}} : vector<2xf32>
  // CHECK: return %[[Y0]], %[[Y1]]
  %y:2 = ck.dot_tile %w[%r0, %r1], %x[%t0, %t1] depth 16 segments 1 by 0 lanes 8 unroll 1 : memref<64xf32>, memref<512xf32> -> vector<2xf32>, vector<2xf32>
  return %y#0, %y#1 : vector<2xf32>, vector<2xf32>
}

// One row: the same tree.
// CHECK-LABEL: func.func @one_row
func.func @one_row(%w: memref<64xf32>, %o: index) -> vector<1xf32> {
  // CHECK: %[[A:.*]] = scf.for
  // CHECK-DAG: %[[L2:.*]] = vector.shuffle %[[A]], %[[A]] [0, 1] : vector<4xf32>, vector<4xf32>
  // CHECK-DAG: %[[H2:.*]] = vector.shuffle %[[A]], %[[A]] [2, 3]
  // CHECK: %[[S2:.*]] = arith.addf %[[L2]], %[[H2]] : vector<2xf32>
  // CHECK-DAG: %[[L1:.*]] = vector.shuffle %[[S2]], %[[S2]] [0]
  // CHECK-DAG: %[[H1:.*]] = vector.shuffle %[[S2]], %[[S2]] [1]
  // CHECK: %[[Y:.*]] = arith.addf %[[L1]], %[[H1]] : vector<1xf32>
  // CHECK: return %[[Y]]
  %y = ck.dot_tile %w[%o], %w[%o] depth 16 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return %y : vector<1xf32>
}

// More rows than lanes: rows whose lanes are summed are put side by side, in order.
// CHECK-LABEL: func.func @more_rows_than_lanes
func.func @more_rows_than_lanes(%w: memref<64xf32>, %o: index) -> vector<4xf32> {
  // CHECK-COUNT-4: scf.for
  // CHECK-DAG: vector.shuffle %{{.*}}, %{{.*}} [0, 2] : vector<2xf32>, vector<2xf32>
  // CHECK-DAG: vector.shuffle %{{.*}}, %{{.*}} [1, 3] : vector<2xf32>, vector<2xf32>
  // CHECK: %[[A:.*]] = arith.addf {{.*}} : vector<2xf32>
  // CHECK-COUNT-2: vector.shuffle
  // CHECK: %[[B:.*]] = arith.addf {{.*}} : vector<2xf32>
  // CHECK: %[[Y:.*]] = vector.shuffle %[[A]], %[[B]] [0, 1, 2, 3] : vector<2xf32>, vector<2xf32>
  // CHECK: return %[[Y]]
  %y = ck.dot_tile %w[%o, %o, %o, %o], %w[%o] depth 16 segments 1 by 0 lanes 2 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<4xf32>
  return %y : vector<4xf32>
}

// 19 elements are two vectors of 8 and three single ones, which have a sum of their own.
// CHECK-LABEL: func.func @depth_with_a_rest
func.func @depth_with_a_rest(%w: memref<64xf32>, %o: index) -> vector<2xf32> {
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c8{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<8xf32>)
  // CHECK: %[[A:.*]] = scf.for %[[K:.*]] = %c16{{.*}} to %c19{{.*}} step %c1{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
  // CHECK: memref.load
  // CHECK: memref.load
  // CHECK: math.fma {{.*}} : f32
  // CHECK: scf.for {{.*}} -> (vector<8xf32>)
  // CHECK: %[[B:.*]] = scf.for {{.*}} -> (f32)
  // CHECK: %[[WHOLE:.*]] = arith.addf {{.*}} : vector<2xf32>
  // CHECK: %[[REST:.*]] = vector.from_elements %[[A]], %[[B]] : vector<2xf32>
  // CHECK: %[[Y:.*]] = arith.addf %[[WHOLE]], %[[REST]] : vector<2xf32>
  // CHECK: return %[[Y]]
  %y = ck.dot_tile %w[%o, %o], %w[%o] depth 19 segments 1 by 0 lanes 8 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  return %y : vector<2xf32>
}

// CHECK-LABEL: func.func @shorter_than_a_vector
func.func @shorter_than_a_vector(%w: memref<64xf32>, %o: index) -> vector<2xf32> {
  // CHECK-NOT: vector.load
  // CHECK: %[[A:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c7{{.*}} step %c1{{.*}} -> (f32)
  // CHECK: %[[B:.*]] = scf.for {{.*}} -> (f32)
  // CHECK-NOT: vector.shuffle
  // CHECK: %[[Y:.*]] = vector.from_elements %[[A]], %[[B]] : vector<2xf32>
  // CHECK-NEXT: return %[[Y]]
  %y = ck.dot_tile %w[%o, %o], %w[%o] depth 7 segments 1 by 0 lanes 8 unroll 2 : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  return %y : vector<2xf32>
}

// Steps of four vectors, side by side; 28 elements are one such step, then three vectors one by one. The vectors of a
// step are summed as a tree: (0 + 1) + (2 + 3).
// CHECK-LABEL: func.func @unroll_with_a_rest_of_vectors
func.func @unroll_with_a_rest_of_vectors(%w: memref<64xf32>, %o: index) -> vector<1xf32> {
  // CHECK: %[[A:.*]]:4 = scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c16{{.*}} iter_args
  // CHECK-COUNT-4: math.fma
  // CHECK-NOT: math.fma
  // CHECK: scf.yield
  // CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %c16{{.*}} to %c28{{.*}} step %c4{{.*}} iter_args(%{{.*}} = %[[A]]#0)
  // CHECK: math.fma
  // CHECK-NOT: math.fma
  // CHECK: scf.yield
  // CHECK: %[[AB:.*]] = arith.addf %[[FIRST]], %[[A]]#1 : vector<4xf32>
  // CHECK: %[[CD:.*]] = arith.addf %[[A]]#2, %[[A]]#3 : vector<4xf32>
  // CHECK: %[[ALL:.*]] = arith.addf %[[AB]], %[[CD]] : vector<4xf32>
  // CHECK: vector.shuffle %[[ALL]], %[[ALL]]
  %y = ck.dot_tile %w[%o], %w[%o] depth 28 segments 1 by 0 lanes 4 unroll 4 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return %y : vector<1xf32>
}

// A depth below a step of two vectors carries the one that it has.
// CHECK-LABEL: func.func @unroll_beyond_the_depth
func.func @unroll_beyond_the_depth(%w: memref<64xf32>, %o: index) -> vector<1xf32> {
  // CHECK: %[[A:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c4{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<4xf32>)
  // CHECK: %[[REST:.*]] = scf.for %{{.*}} = %c4{{.*}} to %c7{{.*}} step %c1{{.*}} -> (f32)
  // CHECK-NOT: scf.for
  // CHECK: return
  %y = ck.dot_tile %w[%o], %w[%o] depth 7 segments 1 by 0 lanes 4 unroll 2 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return %y : vector<1xf32>
}

// Segment s: weights from s * 512 on, x from s * depth on; vector and rest go from segment to segment.
// CHECK-LABEL: func.func @segments
func.func @segments(%w: memref<2048xf32>, %x: memref<64xf32>, %r: index, %t: index) -> vector<1xf32> {
  // CHECK: %[[SUM:.*]]:2 = scf.for %[[S:.*]] = %c0{{.*}} to %c3{{.*}} step %c1{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (vector<4xf32>, f32)
  // CHECK: %[[WS:.*]] = arith.muli %[[S]], %c512
  // CHECK: arith.addi %arg2, %[[WS]]
  // CHECK: %[[XS:.*]] = arith.muli %[[S]], %c6
  // CHECK: arith.addi %arg3, %[[XS]]
  // CHECK: %[[V:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c4{{.*}} iter_args(%{{.*}} = %[[A]])
  // CHECK: %[[E:.*]] = scf.for %{{.*}} = %c4{{.*}} to %c6{{.*}} step %c1{{.*}} iter_args(%{{.*}} = %[[B]])
  // CHECK: scf.yield %[[V]], %[[E]]
  // CHECK: vector.from_elements %[[SUM]]#1
  %y = ck.dot_tile %w[%r], %x[%t] depth 6 segments 3 by 512 lanes 4 unroll 1 : memref<2048xf32>, memref<64xf32> -> vector<1xf32>
  return %y : vector<1xf32>
}

// CHECK-LABEL: func.func @strict_sums_in_double_and_rounds_once
func.func @strict_sums_in_double_and_rounds_once(%w: memref<64xf32>, %o: index) -> vector<2xf32> {
  // CHECK: arith.constant dense<0.000000e+00> : vector<4xf64>
  // CHECK: scf.for {{.*}} -> (vector<4xf64>)
  // CHECK: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
  // CHECK: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
  // CHECK: math.fma {{.*}} : vector<4xf64>
  // CHECK: scf.for {{.*}} -> (f64)
  // CHECK: arith.extf %{{.*}} : f32 to f64
  // CHECK: arith.extf %{{.*}} : f32 to f64
  // CHECK: math.fma {{.*}} : f64
  // CHECK-NOT: arith.truncf
  // CHECK: vector.from_elements {{.*}} : vector<2xf64>
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf {{.*}} : vector<2xf64>
  // CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[SUM]] : vector<2xf64> to vector<2xf32>
  // CHECK: return %[[Y]]
  %y = ck.dot_tile %w[%o, %o], %w[%o] depth 6 segments 1 by 0 lanes 4 unroll 1 strict : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  return %y : vector<2xf32>
}

// Each vector of weights fetches the one 256 elements ahead; x, which stays in the cache, and the rest of the depth
// fetch nothing.
// CHECK-LABEL: func.func @prefetches_the_row_ahead
func.func @prefetches_the_row_ahead(%w: memref<64xf32>, %x: memref<64xf32>, %o: index) {
  // CHECK: scf.for
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c0{{.*}} : index
  // CHECK: %[[AHEAD:.*]] = arith.addi %[[AT]], %c256{{.*}} : index
  // CHECK: memref.prefetch %arg0[%[[AHEAD]]], read, locality<3>, data
  // CHECK: vector.load %arg0
  // CHECK: vector.load %arg1
  // CHECK: memref.prefetch %arg0
  // CHECK: vector.load %arg0
  // CHECK: vector.load %arg1
  // CHECK-NOT: memref.prefetch
  // CHECK: return
  %y = ck.dot_tile %w[%o], %x[%o] depth 17 segments 1 by 0 lanes 4 unroll 2 prefetch 256 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}
