// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[TABLE:.*]]: memref<64x32xf32>, %[[OUT:.*]]: memref<40x64xf32>)
func.func @rows(%x: memref<40x32xf32>, %table: memref<64x32xf32>, %out: memref<40x64xf32>) {
  // CHECK-NEXT: ck.lm_head ins(%[[X]], %[[TABLE]] : memref<40x32xf32>, memref<64x32xf32>) outs(%[[OUT]] : memref<40x64xf32>) depth 32
  ck.lm_head ins(%x, %table : memref<40x32xf32>, memref<64x32xf32>) outs(%out : memref<40x64xf32>) depth 32
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[TABLE:.*]]: memref<64x32xf32>, %[[OUT:.*]]: memref<40x64xf32>)
func.func @panels(%x: memref<3x32x16xf32>, %table: memref<64x32xf32>, %out: memref<40x64xf32>) {
  // CHECK-NEXT: ck.lm_head ins(%[[X]], %[[TABLE]] : memref<3x32x16xf32>, memref<64x32xf32>) outs(%[[OUT]] : memref<40x64xf32>) depth 32
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<64x32xf32>) outs(%out : memref<40x64xf32>) depth 32
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[TABLE:.*]]: memref<64x32xf32>, %[[OUT:.*]]: memref<40x64xf32>)
func.func @tile(%x: memref<3x32x16xf32>, %table: memref<64x32xf32>, %out: memref<40x64xf32>) {
  // CHECK-NEXT: ck.lm_head ins(%[[X]], %[[TABLE]] : memref<3x32x16xf32>, memref<64x32xf32>) outs(%[[OUT]] : memref<40x64xf32>) depth 32 tile <rows = 8, vectors = 3, panels = 12, unroll = 2> {note}
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<64x32xf32>) outs(%out : memref<40x64xf32>) depth 32 tile <rows = 8, vectors = 3, panels = 12, unroll = 2> {note}
  return
}
