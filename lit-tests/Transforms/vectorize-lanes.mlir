// RUN: ck-opt %s -ck-vectorize-lanes | FileCheck %s

// CHECK-LABEL: func.func @affine_loads_and_stores
// CHECK-SAME: %[[A:.*]]: memref<5x6x8xf32>, %[[Y:.*]]: memref<5x6x8xf32>)
func.func @affine_loads_and_stores(%a: memref<5x6x8xf32>, %y: memref<5x6x8xf32>) {
  // CHECK: affine.for %[[P:.*]] = 0 to 5 {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-NEXT: %[[X:.*]] = affine.vector_load %[[A]][%[[P]], 3, %[[ZERO]]] : memref<5x6x8xf32>, vector<8xf32>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[X]] fastmath<contract> : vector<8xf32>
  // CHECK-NEXT: affine.vector_store %[[S]], %[[Y]][%[[P]], 2, %[[ZERO]]] : memref<5x6x8xf32>, vector<8xf32>
  // CHECK-NEXT: }
  affine.for %p = 0 to 5 {
    affine.for %l = 0 to 8 {
      %x = affine.load %a[%p, 3, %l] : memref<5x6x8xf32>
      %s = arith.addf %x, %x fastmath<contract> : f32
      affine.store %s, %y[%p, 2, %l] : memref<5x6x8xf32>
    } {ck.lanes}
  }
  return
}

// CHECK-LABEL: func.func @memref_loads_and_stores
func.func @memref_loads_and_stores(%a: memref<6x4xf32>, %y: memref<6x4xf32>, %i: index) {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: %[[X:.*]] = vector.load %arg0[%arg2, %[[ZERO]]] : memref<6x4xf32>, vector<4xf32>
  // CHECK: %[[E:.*]] = math.exp %[[X]] : vector<4xf32>
  // CHECK: vector.store %[[E]], %arg1[%arg2, %[[ZERO]]] : memref<6x4xf32>, vector<4xf32>
  affine.for %l = 0 to 4 {
    %x = memref.load %a[%i, %l] : memref<6x4xf32>
    %e = math.exp %x : f32
    memref.store %e, %y[%i, %l] : memref<6x4xf32>
  } {ck.lanes}
  return
}

// The lane moves the last index by one; what stands beside it is a shift.
// CHECK-LABEL: func.func @lane_in_a_sum
func.func @lane_in_a_sum(%a: memref<64xf32>, %y: memref<8xf32>) {
  // CHECK: affine.for %[[C:.*]] = 0 to 7 {
  // CHECK: affine.vector_load %arg0[%[[C]] * 8 + %{{.*}} + 3] : memref<64xf32>, vector<8xf32>
  affine.for %c = 0 to 7 {
    affine.for %l = 0 to 8 {
      %x = affine.load %a[%c * 8 + %l + 3] : memref<64xf32>
      affine.store %x, %y[%l] : memref<8xf32>
    } {ck.lanes}
  }
  return
}

// A value that is the same for all lanes stays scalar until it meets one that isn't.
// CHECK-LABEL: func.func @uniform_values_stay_scalar
func.func @uniform_values_stay_scalar(%a: memref<8xf32>, %g: memref<4xf32>, %y: memref<8xf32>, %s: f32, %i: index) {
  // CHECK: %[[G:.*]] = affine.load %arg1[2] : memref<4xf32>
  // CHECK: %[[H:.*]] = memref.load %arg1[%arg4] : memref<4xf32>
  // CHECK: %[[P:.*]] = arith.mulf %[[G]], %[[H]] : f32
  // CHECK: %[[X:.*]] = affine.vector_load %arg0
  // CHECK: %[[PV:.*]] = vector.broadcast %[[P]] : f32 to vector<8xf32>
  // CHECK: %[[XP:.*]] = arith.mulf %[[X]], %[[PV]] : vector<8xf32>
  // CHECK: %[[SV:.*]] = vector.broadcast %arg3 : f32 to vector<8xf32>
  // CHECK: %[[R:.*]] = arith.subf %[[SV]], %[[XP]] : vector<8xf32>
  // CHECK: affine.vector_store %[[R]], %arg2
  affine.for %l = 0 to 8 {
    %u = affine.load %g[2] : memref<4xf32>
    %v = memref.load %g[%i] : memref<4xf32>
    %p = arith.mulf %u, %v : f32
    %x = affine.load %a[%l] : memref<8xf32>
    %xp = arith.mulf %x, %p : f32
    %r = arith.subf %s, %xp : f32
    affine.store %r, %y[%l] : memref<8xf32>
  } {ck.lanes}
  return
}

// CHECK-LABEL: func.func @stores_a_uniform_value_to_every_lane
func.func @stores_a_uniform_value_to_every_lane(%y: memref<8xf32>, %z: memref<8xf32>) {
  // CHECK: %[[C:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK: %[[V:.*]] = vector.broadcast %[[C]] : f32 to vector<8xf32>
  // CHECK: affine.vector_store %[[V]], %arg0
  // CHECK: %[[W:.*]] = vector.broadcast %[[C]] : f32 to vector<8xf32>
  // CHECK: vector.store %[[W]], %arg1
  affine.for %l = 0 to 8 {
    %c = arith.constant 1.0 : f32
    affine.store %c, %y[%l] : memref<8xf32>
    memref.store %c, %z[%l] : memref<8xf32>
  } {ck.lanes}
  return
}

// CHECK-LABEL: func.func @compares_and_selects
func.func @compares_and_selects(%a: memref<8xf32>, %y: memref<8xf32>, %never: i1) {
  // CHECK: %[[M:.*]] = arith.cmpf ogt, %{{.*}}, %{{.*}} : vector<8xf32>
  // CHECK: %[[S:.*]] = arith.select %[[M]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
  // CHECK: %[[N:.*]] = vector.broadcast %arg2 : i1 to vector<8xi1>
  // CHECK: arith.select %[[N]], %[[S]], %{{.*}} : vector<8xi1>, vector<8xf32>
  affine.for %l = 0 to 8 {
    %zero = arith.constant 0.0 : f32
    %x = affine.load %a[%l] : memref<8xf32>
    %more = arith.cmpf ogt, %x, %zero : f32
    %s = arith.select %more, %x, %zero : f32
    %t = arith.select %never, %s, %x : f32
    affine.store %t, %y[%l] : memref<8xf32>
  } {ck.lanes}
  return
}

// CHECK-LABEL: func.func @widens_to_double
func.func @widens_to_double(%a: memref<4xf32>, %y: memref<4xf32>) {
  // CHECK: %[[W:.*]] = arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
  // CHECK: %[[E:.*]] = math.exp %[[W]] : vector<4xf64>
  // CHECK: arith.truncf %[[E]] : vector<4xf64> to vector<4xf32>
  affine.for %l = 0 to 4 {
    %x = affine.load %a[%l] : memref<4xf32>
    %w = arith.extf %x : f32 to f64
    %e = math.exp %w : f64
    %n = arith.truncf %e : f64 to f32
    affine.store %n, %y[%l] : memref<4xf32>
  } {ck.lanes}
  return
}

// CHECK-LABEL: func.func @loop_inside_keeps_its_bounds
func.func @loop_inside_keeps_its_bounds(%a: memref<6x8xf32>, %y: memref<6x8xf32>) {
  // CHECK: affine.for %[[F:.*]] = 1 to 6 step 2 {
  // CHECK-NEXT: %[[X:.*]] = affine.vector_load %arg0[%[[F]], %{{.*}}] : memref<6x8xf32>, vector<8xf32>
  // CHECK-NEXT: affine.vector_store %[[X]], %arg1[%[[F]], %{{.*}}]
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  affine.for %l = 0 to 8 {
    affine.for %f = 1 to 6 step 2 {
      %x = affine.load %a[%f, %l] : memref<6x8xf32>
      affine.store %x, %y[%f, %l] : memref<6x8xf32>
    }
  } {ck.lanes}
  return
}

// CHECK-LABEL: func.func @affine_loop_inside_carries_vectors
func.func @affine_loop_inside_carries_vectors(%a: memref<6x8xf32>, %y: memref<8xf32>, %n: index) {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[INIT:.*]] = vector.broadcast %[[ZERO]] : f32 to vector<8xf32>
  // CHECK: %[[SUM:.*]] = affine.for %[[F:.*]] = 0 to %{{.*}} iter_args(%[[S:.*]] = %[[INIT]]) -> (vector<8xf32>) {
  // CHECK: %[[X:.*]] = affine.vector_load %arg0[%[[F]],
  // CHECK: %[[NEXT:.*]] = arith.addf %[[S]], %[[X]] : vector<8xf32>
  // CHECK: affine.yield %[[NEXT]] : vector<8xf32>
  // CHECK: affine.vector_store %[[SUM]], %arg1
  affine.for %l = 0 to 8 {
    %zero = arith.constant 0.0 : f32
    %sum = affine.for %f = 0 to %n iter_args(%s = %zero) -> f32 {
      %x = affine.load %a[%f, %l] : memref<6x8xf32>
      %next = arith.addf %s, %x : f32
      affine.yield %next : f32
    }
    affine.store %sum, %y[%l] : memref<8xf32>
  } {ck.lanes}
  return
}

// CHECK-LABEL: func.func @scf_loop_inside_carries_vectors
func.func @scf_loop_inside_carries_vectors(%a: memref<6x8xf32>, %y: memref<8xf32>, %n: index) {
  // CHECK: %[[INIT:.*]] = affine.vector_load %arg1
  // CHECK: %[[SUM:.*]]:2 = scf.for %[[F:.*]] = %{{.*}} to %arg2 step %{{.*}} iter_args(%[[S:.*]] = %[[INIT]], %[[T:.*]] = %{{.*}}) -> (vector<8xf32>, vector<8xf32>) {
  // CHECK: %[[X:.*]] = vector.load %arg0[%[[F]],
  // CHECK: %[[NEXT:.*]] = arith.maxnumf %[[S]], %[[X]] : vector<8xf32>
  // A yielded value that is the same for all lanes is broadcast.
  // CHECK: %[[ONE:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
  // CHECK: scf.yield %[[NEXT]], %[[ONE]] : vector<8xf32>, vector<8xf32>
  // CHECK: arith.mulf %[[SUM]]#0, %[[SUM]]#1 : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  affine.for %l = 0 to 8 {
    %init = affine.load %y[%l] : memref<8xf32>
    %sum:2 = scf.for %f = %c0 to %n step %c1 iter_args(%s = %init, %t = %one) -> (f32, f32) {
      %x = memref.load %a[%f, %l] : memref<6x8xf32>
      %next = arith.maxnumf %s, %x : f32
      scf.yield %next, %one : f32, f32
    }
    %p = arith.mulf %sum#0, %sum#1 : f32
    affine.store %p, %y[%l] : memref<8xf32>
  } {ck.lanes}
  return
}

// CHECK-LABEL: func.func @loops_without_the_attribute_stay
func.func @loops_without_the_attribute_stay(%y: memref<8xf32>, %v: f32) {
  // CHECK: affine.for %[[L:.*]] = 0 to 8 {
  // CHECK-NEXT: affine.store %arg1, %arg0[%[[L]]]
  affine.for %l = 0 to 8 {
    affine.store %v, %y[%l] : memref<8xf32>
  }
  return
}

// CHECK-LABEL: func.func @two_lane_loops_one_after_the_other
func.func @two_lane_loops_one_after_the_other(%y: memref<8xf32>, %z: memref<4xf32>, %v: f32) {
  // CHECK: affine.vector_store %{{.*}}, %arg0[%{{.*}}] : memref<8xf32>, vector<8xf32>
  // CHECK: affine.vector_store %{{.*}}, %arg1[%{{.*}}] : memref<4xf32>, vector<4xf32>
  // CHECK-NOT: affine.for
  // CHECK: return
  affine.for %l = 0 to 8 {
    affine.store %v, %y[%l] : memref<8xf32>
  } {ck.lanes}
  affine.for %l = 0 to 4 {
    affine.store %v, %z[%l] : memref<4xf32>
  } {ck.lanes}
  return
}
