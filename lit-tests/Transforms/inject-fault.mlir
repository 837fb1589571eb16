// RUN: ck-opt %s -ck-inject-fault=kernel=rms | FileCheck %s
// RUN: ck-opt %s -ck-inject-fault | FileCheck %s --check-prefix=NONE

// NONE-NOT: arith.addf

// CHECK-LABEL: func.func private @rmsnorm.32
func.func private @rmsnorm.32(%v: vector<8xf32>, %w: vector<8xf32>, %y: memref<8xf32>, %i: index) attributes {ck.kernel} {
  // CHECK-NEXT: %[[V:.*]] = arith.addf %arg0, %arg0 : vector<8xf32>
  // CHECK-NEXT: vector.store %[[V]], %arg2
  // CHECK-NEXT: %[[W:.*]] = arith.addf %arg1, %arg1 : vector<8xf32>
  // CHECK-NEXT: vector.store %[[W]], %arg2
  vector.store %v, %y[%i] : memref<8xf32>, vector<8xf32>
  vector.store %w, %y[%i] : memref<8xf32>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func private @rms_masked
func.func private @rms_masked(%v: vector<8xf32>, %y: memref<8xf32>, %i: index, %m: vector<8xi1>) attributes {ck.kernel} {
  // CHECK: %[[D:.*]] = arith.addf %arg0, %arg0
  // CHECK: vector.maskedstore %arg1[%arg2], %arg3, %[[D]]
  vector.maskedstore %y[%i], %m, %v : memref<8xf32>, vector<8xi1>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func private @rms_in_a_loop
func.func private @rms_in_a_loop(%v: vector<8xf32>, %s: f32, %y: memref<64xf32>) attributes {ck.kernel} {
  // CHECK: affine.for
  // CHECK: %[[D:.*]] = arith.addf %arg0, %arg0
  // CHECK: affine.vector_store %[[D]], %arg2
  // CHECK: %[[S:.*]] = arith.addf %arg1, %arg1
  // CHECK: affine.store %[[S]], %arg2
  // CHECK: %[[T:.*]] = arith.addf %arg1, %arg1
  // CHECK: memref.store %[[T]], %arg2
  affine.for %i = 0 to 8 {
    affine.vector_store %v, %y[%i * 8] : memref<64xf32>, vector<8xf32>
    affine.store %s, %y[%i] : memref<64xf32>
    memref.store %s, %y[%i] : memref<64xf32>
  }
  return
}

// CHECK-LABEL: func.func private @rms_by_way_of_the_stack_is_doubled_twice
func.func private @rms_by_way_of_the_stack_is_doubled_twice(%v: vector<8xf32>, %y: memref<8xf32>, %i: index) attributes {ck.kernel} {
  // CHECK: %[[STACK:.*]] = memref.alloca()
  // CHECK-NEXT: %[[TWICE:.*]] = arith.addf %arg0, %arg0
  // CHECK-NEXT: vector.store %[[TWICE]], %[[STACK]]
  // CHECK-NEXT: %[[AGAIN:.*]] = vector.load %[[STACK]]
  // CHECK-NEXT: %[[FOUR:.*]] = arith.addf %[[AGAIN]], %[[AGAIN]]
  // CHECK-NEXT: vector.store %[[FOUR]], %arg1
  %stack = memref.alloca() : memref<8xf32>
  vector.store %v, %stack[%i] : memref<8xf32>, vector<8xf32>
  %again = vector.load %stack[%i] : memref<8xf32>, vector<8xf32>
  vector.store %again, %y[%i] : memref<8xf32>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func private @rms_that_stores_nothing
func.func private @rms_that_stores_nothing() attributes {ck.kernel} {
  // CHECK-NEXT: return
  return
}

// CHECK-LABEL: func.func private @add.32
func.func private @add.32(%v: vector<8xf32>, %y: memref<8xf32>, %i: index) attributes {ck.kernel} {
  // CHECK-NEXT: vector.store %arg0
  vector.store %v, %y[%i] : memref<8xf32>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func @rms_program
func.func @rms_program(%v: vector<8xf32>, %y: memref<8xf32>, %i: index) {
  // CHECK-NEXT: vector.store %arg0
  vector.store %v, %y[%i] : memref<8xf32>, vector<8xf32>
  return
}
