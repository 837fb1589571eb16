// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// Bytes of a block by hand: q4_k 2 + 2 + 12 + 128 = 144, q6_k 128 + 64 + 16 + 2 = 210, q8_0 2 + 32 = 34.
// CHECK-LABEL: func.func @bytes_of_weights
func.func @bytes_of_weights(%a: memref<3x2x!ck.block<q4_k>>, %b: memref<5x!ck.block<q6_k>>, %c: memref<2x3x1x!ck.block<q8_0>>) {
  // CHECK: ck.bytes %{{.*}} : memref<3x2x!ck.block<q4_k>> to memref<864xi8>
  %0 = ck.bytes %a : memref<3x2x!ck.block<q4_k>> to memref<864xi8>
  // CHECK: ck.bytes %{{.*}} : memref<5x!ck.block<q6_k>> to memref<1050xi8>
  %1 = ck.bytes %b : memref<5x!ck.block<q6_k>> to memref<1050xi8>
  // CHECK: ck.bytes %{{.*}} : memref<2x3x1x!ck.block<q8_0>> to memref<204xi8>
  %2 = ck.bytes %c : memref<2x3x1x!ck.block<q8_0>> to memref<204xi8>
  return
}
