// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[W:.*]]: memref<4x32x16xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%x: memref<40x32xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.attn_project ins(%[[X]], %[[W]], %[[BIAS]] : memref<40x32xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%[[OUT]] : memref<40x32xf32>) rows 32 depth 8
  ck.attn_project ins(%x, %w, %bias : memref<40x32xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rows 32 depth 8
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<4x32x16xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @panels(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.attn_project ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 32 depth 8
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// CHECK-LABEL: func.func @residual(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<4x32x16xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[RES:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @residual(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.attn_project ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%[[RES]] : memref<3x32x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 32 depth 8
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// CHECK-LABEL: func.func @residual_tile(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<4x32x16xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[RES:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @residual_tile(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.attn_project ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%[[RES]] : memref<3x32x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 32 depth 8 tile <rows = 8, vectors = 3, panels = 12, unroll = 1> {note}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8 tile <rows = 8, vectors = 3, panels = 12, unroll = 1> {note}
  return
}
