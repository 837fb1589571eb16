// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[W:.*]]: memref<2x48x32xf32>, %[[BIAS:.*]]: memref<2x48xf32>, %[[OUT:.*]]: memref<40x48xf32>)
func.func @rows(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<40x48xf32>) {
  // CHECK-NEXT: ck.gated_linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%[[OUT]] : memref<40x48xf32>) rows 48 depth 32
  ck.gated_linear ins(%x, %w, %bias : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<40x48xf32>) rows 48 depth 32
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<2x48x32xf32>, %[[BIAS:.*]]: memref<2x48xf32>, %[[OUT:.*]]: memref<3x48x16xf32>)
func.func @panels(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x48x16xf32>) {
  // CHECK-NEXT: ck.gated_linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%[[OUT]] : memref<3x48x16xf32>) rows 48 depth 32
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<2x48x32xf32>, %[[BIAS:.*]]: memref<2x48xf32>, %[[OUT:.*]]: memref<3x48x16xf32>)
func.func @tile(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x48x16xf32>) {
  // CHECK-NEXT: ck.gated_linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%[[OUT]] : memref<3x48x16xf32>) rows 48 depth 32 tile <rows = 8, vectors = 3, panels = 12, unroll = 1> {note}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32 tile <rows = 8, vectors = 3, panels = 12, unroll = 1> {note}
  return
}

// CHECK-LABEL: func.func @padded(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<2x48x64xf32>, %[[BIAS:.*]]: memref<2x48xf32>, %[[OUT:.*]]: memref<3x44x16xf32>)
func.func @padded(%x: memref<3x32x16xf32>, %w: memref<2x48x64xf32>, %bias: memref<2x48xf32>, %out: memref<3x44x16xf32>) {
  // CHECK-NEXT: ck.gated_linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<2x48x64xf32>, memref<2x48xf32>) outs(%[[OUT]] : memref<3x44x16xf32>) rows 44 depth 32
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x64xf32>, memref<2x48xf32>) outs(%out : memref<3x44x16xf32>) rows 44 depth 32
  return
}
