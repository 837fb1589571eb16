// RUN: ck-opt %s -ck-outline-kernels | FileCheck %s

// The pass cannot fail; what it must leave alone.

// The name that a kernel would get is taken, by a function that isn't one: the kernel takes another.
// CHECK-LABEL: func.func @add.32
// CHECK-NEXT: return
func.func @add.32(%x: memref<3x32x16xf32>) {
  return
}

// CHECK-LABEL: func.func @program
func.func @program(%x: memref<3x32x16xf32>, %i: index) {
  // CHECK-NEXT: ck.launch @[[KERNEL:add.32_[0-9]+]](
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  // An op inside a loop isn't the program's.
  // CHECK-NEXT: affine.for
  // CHECK-NEXT: ck.add
  affine.for %j = 0 to 2 {
    ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  }
  // CHECK: ck.barrier
  ck.barrier
  return
}
// CHECK: func.func private @[[KERNEL]](
