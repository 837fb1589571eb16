// RUN: ck-opt %s -ck-inject-fault=kernel=rms | FileCheck %s

// The pass cannot fail; what it must leave alone.

// Numbers that aren't floats count or choose: doubled, they could be anything.
// CHECK-LABEL: func.func private @rms_of_integers
func.func private @rms_of_integers(%v: vector<8xi32>, %s: i32, %y: memref<8xi32>, %i: index, %z: index, %n: memref<8xindex>) attributes {ck.kernel} {
  // CHECK-NEXT: vector.store
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: return
  vector.store %v, %y[%i] : memref<8xi32>, vector<8xi32>
  memref.store %s, %y[%i] : memref<8xi32>
  memref.store %z, %n[%i] : memref<8xindex>
  return
}

// CHECK-LABEL: func.func private @rms_that_is_no_kernel
func.func private @rms_that_is_no_kernel(%s: f32, %y: memref<8xf32>, %i: index) {
  // CHECK-NEXT: memref.store
  memref.store %s, %y[%i] : memref<8xf32>
  return
}

// CHECK-LABEL: func.func private @add_of_another_name
func.func private @add_of_another_name(%s: f32, %y: memref<8xf32>, %i: index) attributes {ck.kernel} {
  // CHECK-NEXT: memref.store
  memref.store %s, %y[%i] : memref<8xf32>
  return
}
