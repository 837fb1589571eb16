// RUN: ck-opt %s -ck-insert-barriers | FileCheck %s

// The pass cannot fail; what it must leave alone.

// Kernels are called between barriers: launches are separated before, as ops.
// CHECK-LABEL: func.func @launches_get_none
func.func @launches_get_none(%x: memref<1x32x16xf32>) {
  // CHECK-NEXT: ck.launch
  // CHECK-NEXT: ck.launch
  // CHECK-NEXT: return
  ck.launch @kernel(%x) : memref<1x32x16xf32>
  ck.launch @kernel(%x) : memref<1x32x16xf32>
  return
}

// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT: return
func.func private @kernel(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<1x32x16xf32>) attributes {ck.kernel} {
  return
}

// One buffer of the last bytes that can be counted and one of the first: no overlap by wrapping around.
// CHECK-LABEL: func.func @none_between_the_ends_of_memory
func.func @none_between_the_ends_of_memory(%a: memref<1x32x16xf32>) {
  // CHECK-NOT: ck.barrier
  // CHECK: return
  %first = ck.buffer scratch "first" at 0 : memref<1x32x16xf32>
  %last = ck.buffer scratch "last" at 9223372036854773696 : memref<1x32x16xf32>
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%first : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%last : memref<1x32x16xf32>)
  return
}

// CHECK: func.func private @declaration
func.func private @declaration(memref<1x32x16xf32>)
