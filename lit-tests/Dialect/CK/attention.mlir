// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[Q:.*]]: memref<40x32xf32>, %[[K:.*]]: memref<2x40x16xf32>, %[[V:.*]]: memref<2x40x16xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%q: memref<40x32xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.attention ins(%[[Q]], %[[K]], %[[V]] : memref<40x32xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%[[OUT]] : memref<40x32xf32>) heads 4 head_dim 8
  ck.attention ins(%q, %k, %v : memref<40x32xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<40x32xf32>) heads 4 head_dim 8
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[Q:.*]]: memref<3x32x16xf32>, %[[K:.*]]: memref<2x40x16xf32>, %[[V:.*]]: memref<2x40x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @panels(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.attention ins(%[[Q]], %[[K]], %[[V]] : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) heads 4 head_dim 8
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// CHECK-LABEL: func.func @one_kv_head(
// CHECK-SAME: %[[Q:.*]]: memref<3x32x16xf32>, %[[K:.*]]: memref<1x40x16xf32>, %[[V:.*]]: memref<1x40x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @one_kv_head(%q: memref<3x32x16xf32>, %k: memref<1x40x16xf32>, %v: memref<1x40x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.attention ins(%[[Q]], %[[K]], %[[V]] : memref<3x32x16xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) heads 4 head_dim 8
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// CHECK-LABEL: func.func @tile(
// CHECK-SAME: %[[Q:.*]]: memref<3x32x16xf32>, %[[K:.*]]: memref<2x40x16xf32>, %[[V:.*]]: memref<2x40x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @tile(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.attention ins(%[[Q]], %[[K]], %[[V]] : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) heads 4 head_dim 8 tile <rows = 8, vectors = 2, panels = 12, unroll = 1> {note}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8 tile <rows = 8, vectors = 2, panels = 12, unroll = 1> {note}
  return
}
