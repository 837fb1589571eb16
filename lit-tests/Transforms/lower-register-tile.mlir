// RUN: ck-opt %s -ck-lower-register-tile | FileCheck %s

// Two rows by two vectors: a step of k loads two vectors and two weights for four fused multiply-adds.
// CHECK-LABEL: func.func @two_by_two
// CHECK-SAME: %[[W:.*]]: memref<64xf32>, %[[X:.*]]: memref<512xf32>, %[[R0:.*]]: index, %[[R1:.*]]: index, %[[C0:.*]]: index, %[[C1:.*]]: index, %[[D:.*]]: index, %[[Y:.*]]: memref<4x8xf32>)
func.func @two_by_two(%w: memref<64xf32>, %x: memref<512xf32>, %r0: index, %r1: index, %c0: index, %c1: index, %d: index, %y: memref<4x8xf32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
  // CHECK: %[[SUM:.*]]:4 = scf.for %[[K:.*]] = %{{.*}} to %[[D]] step %{{.*}} iter_args(%[[A:.*]] = %[[ZERO]], %[[B:.*]] = %[[ZERO]], %[[C:.*]] = %[[ZERO]], %[[E:.*]] = %[[ZERO]])
  // CHECK: %[[X0:.*]] = vector.load %[[X]][%{{.*}}] : memref<512xf32>, vector<8xf32>
  // CHECK: %[[X1:.*]] = vector.load %[[X]][%{{.*}}] : memref<512xf32>, vector<8xf32>
  // CHECK: %[[S0:.*]] = memref.load %[[W]]
  // CHECK: %[[W0:.*]] = vector.broadcast %[[S0]] : f32 to vector<8xf32>
  // CHECK: %[[N0:.*]] = math.fma %[[W0]], %[[X0]], %[[A]] : vector<8xf32>
  // CHECK: %[[N1:.*]] = math.fma %[[W0]], %[[X1]], %[[B]] : vector<8xf32>
  // CHECK: %[[S1:.*]] = memref.load %[[W]]
  // CHECK: %[[W1:.*]] = vector.broadcast %[[S1]] : f32 to vector<8xf32>
  // CHECK: %[[N2:.*]] = math.fma %[[W1]], %[[X0]], %[[C]] : vector<8xf32>
  // CHECK: %[[N3:.*]] = math.fma %[[W1]], %[[X1]], %[[E]] : vector<8xf32>
  // CHECK: scf.yield %[[N0]], %[[N1]], %[[N2]], %[[N3]]
  // CHECK: vector.store %[[SUM]]#2, %[[Y]]
  // CHECK-NOT: scf.for
  // CHECK: return
  %t:4 = ck.register_tile %w[%r0, %r1], %x[%c0, %c1] depth %d segments 1 by 0 step 1 unroll 1 : memref<64xf32>, memref<512xf32> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  vector.store %t#2, %y[%r0, %r1] : memref<4x8xf32>, vector<8xf32>
  return
}

// Rows a constant apart: one index a step, the constant added last, for the address to take it in.
// CHECK-LABEL: func.func @rows_a_constant_apart
func.func @rows_a_constant_apart(%w: memref<64xf32>, %x: memref<512xf32>, %o: index, %d: index) -> vector<8xf32> {
  // CHECK: scf.for %[[K:[a-z0-9]+]] =
  // CHECK: %[[AT:.*]] = arith.addi %[[BASE:.*]], %[[K]] : index
  // CHECK: memref.load %arg0[%{{.*}}]
  // CHECK: %[[AGAIN:.*]] = arith.addi %[[BASE]], %[[K]] : index
  // CHECK: %[[ROW:.*]] = arith.addi %[[AGAIN]], %c32{{.*}} : index
  // CHECK: memref.load %arg0[%[[ROW]]]
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %r0 = arith.addi %o, %c0 : index
  %r1 = arith.addi %o, %c32 : index
  %t:2 = ck.register_tile %w[%r0, %r1], %x[%o] depth %d segments 1 by 0 step 1 unroll 1 : memref<64xf32>, memref<512xf32> -> vector<8xf32>, vector<8xf32>
  return %t#1 : vector<8xf32>
}

// The steps beyond the last whole group of four are a loop by one.
// CHECK-LABEL: func.func @unroll_with_a_rest
func.func @unroll_with_a_rest(%w: memref<64xf32>, %x: memref<512xf32>, %o: index, %d: index) -> vector<8xf32> {
  // CHECK: %[[REST:.*]] = arith.remui %arg3, %c4
  // CHECK: %[[WHOLE:.*]] = arith.subi %arg3, %[[REST]]
  // CHECK: %[[MAIN:.*]] = scf.for %{{.*}} = %{{.*}} to %[[WHOLE]] step %c4
  // CHECK-COUNT-4: math.fma
  // CHECK-NOT: math.fma
  // CHECK: scf.yield
  // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[WHOLE]] to %arg3 step %{{.*}} iter_args(%{{.*}} = %[[MAIN]])
  // CHECK-COUNT-1: math.fma
  // CHECK-NOT: math.fma
  // CHECK: return %[[SUM]]
  %t = ck.register_tile %w[%o], %x[%o] depth %d segments 1 by 0 step 1 unroll 4 : memref<64xf32>, memref<512xf32> -> vector<8xf32>
  return %t : vector<8xf32>
}

// CHECK-LABEL: func.func @unroll_that_divides_a_constant_depth
func.func @unroll_that_divides_a_constant_depth(%w: memref<64xf32>, %x: memref<512xf32>, %o: index) -> vector<8xf32> {
  // CHECK: %[[SUM:.*]] = scf.for
  // CHECK-COUNT-4: math.fma
  // CHECK-NOT: scf.for
  // CHECK: return %[[SUM]]
  %d = arith.constant 32 : index
  %t = ck.register_tile %w[%o], %x[%o] depth %d segments 1 by 0 step 1 unroll 4 : memref<64xf32>, memref<512xf32> -> vector<8xf32>
  return %t : vector<8xf32>
}

// CHECK-LABEL: func.func @unroll_that_does_not_divide_a_constant_depth
func.func @unroll_that_does_not_divide_a_constant_depth(%w: memref<64xf32>, %x: memref<512xf32>, %o: index) -> vector<8xf32> {
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT: scf.for
  // CHECK: return
  %d = arith.constant 33 : index
  %t = ck.register_tile %w[%o], %x[%o] depth %d segments 1 by 0 step 1 unroll 4 : memref<64xf32>, memref<512xf32> -> vector<8xf32>
  return %t : vector<8xf32>
}

// Segment s: weights from s * 512 on, x from s * depth * lanes on.
// CHECK-LABEL: func.func @segments
func.func @segments(%w: memref<64xf32>, %x: memref<512xf32>, %r: index, %c: index, %d: index) -> vector<8xf32> {
  // CHECK: %[[SUM:.*]] = scf.for %[[S:.*]] = %{{.*}} to %c3{{.*}} step %{{.*}} iter_args(%[[A:.*]] =
  // CHECK: arith.muli %[[S]], %c512
  // CHECK: %[[SD:.*]] = arith.muli %[[S]], %arg4
  // CHECK: arith.muli %[[SD]], %c8
  // CHECK: %[[INNER:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[A]])
  // CHECK: scf.yield %[[INNER]]
  // CHECK: return %[[SUM]]
  %t = ck.register_tile %w[%r], %x[%c] depth %d segments 3 by 512 step 1 unroll 1 : memref<64xf32>, memref<512xf32> -> vector<8xf32>
  return %t : vector<8xf32>
}

// CHECK-LABEL: func.func @weights_a_step_apart
func.func @weights_a_step_apart(%w: memref<64xf32>, %x: memref<512xf32>, %r: index, %c: index, %d: index) -> vector<8xf32> {
  // CHECK: scf.for %[[K:[a-z0-9]+]] =
  // CHECK: %[[KL:.*]] = arith.muli %[[K]], %c8{{.*}}
  // CHECK: vector.load
  // CHECK: %[[KS:.*]] = arith.muli %[[K]], %c16{{.*}}
  // CHECK: memref.load
  %t = ck.register_tile %w[%r], %x[%c] depth %d segments 1 by 0 step 16 unroll 1 : memref<64xf32>, memref<512xf32> -> vector<8xf32>
  return %t : vector<8xf32>
}

// CHECK-LABEL: func.func @strict_sums_in_double_and_rounds_once
func.func @strict_sums_in_double_and_rounds_once(%w: memref<64xf32>, %x: memref<512xf32>, %r: index, %c: index, %d: index) -> vector<8xf32> {
  // CHECK: arith.constant dense<0.000000e+00> : vector<8xf64>
  // CHECK: %[[SUM:.*]] = scf.for
  // CHECK: arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
  // CHECK: %[[S:.*]] = arith.extf %{{.*}} : f32 to f64
  // CHECK: vector.broadcast %[[S]] : f64 to vector<8xf64>
  // CHECK: math.fma %{{.*}} : vector<8xf64>
  // CHECK: %[[R:.*]] = arith.truncf %[[SUM]] : vector<8xf64> to vector<8xf32>
  // CHECK: return %[[R]]
  %t = ck.register_tile %w[%r], %x[%c] depth %d segments 1 by 0 step 1 unroll 1 strict : memref<64xf32>, memref<512xf32> -> vector<8xf32>
  return %t : vector<8xf32>
}

// Each step fetches two elements (its rows) of what comes 64 elements later, for each of two groups of rows.
// CHECK-LABEL: func.func @next_tile_is_prefetched
func.func @next_tile_is_prefetched(%w: memref<256xf32>, %x: memref<512xf32>, %r: index, %s: index, %t: index, %u: index, %c: index, %d: index) {
  // CHECK: scf.for %[[K:[a-z0-9]+]] =
  // CHECK: %[[STEP:.*]] = arith.muli %[[K]], %c2{{.*}}
  // CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[STEP]]
  // CHECK: %[[AHEAD:.*]] = arith.addi %[[FIRST]], %c64{{.*}}
  // CHECK: memref.prefetch %arg0[%[[AHEAD]]], read, locality<2>, data
  // CHECK: memref.prefetch %arg0
  // CHECK-NOT: memref.prefetch
  // CHECK: math.fma
  %0:4 = ck.register_tile %w[%r, %s, %t, %u], %x[%c] depth %d segments 1 by 0 step 1 unroll 1 prefetch 64 parts 2 : memref<256xf32>, memref<512xf32> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  return
}
