// RUN: ck-opt %s -ck-empty-kernels | FileCheck %s

// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT: return
func.func private @kernel(%n: index, %y: memref<8xf32>) attributes {ck.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> f32 {
    %b = arith.addf %a, %s : f32
    scf.yield %b : f32
  }
  memref.store %r, %y[%c0] : memref<8xf32>
  return
}

// What isn't a kernel stays as it is.
// CHECK-LABEL: func.func @prefill
// CHECK: memref.store
func.func @prefill(%s: f32, %y: memref<8xf32>, %i: index) {
  memref.store %s, %y[%i] : memref<8xf32>
  return
}
