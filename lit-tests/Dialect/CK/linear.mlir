// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[W:.*]]: memref<32x32xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%[[OUT]] : memref<40x32xf32>) rows 32 depth 32
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rows 32 depth 32
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<32x32xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @panels(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 32 depth 32
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 32
  return
}

// CHECK-LABEL: func.func @weight_padded(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<48x64xf32>, %[[BIAS:.*]]: memref<48xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @weight_padded(%x: memref<3x32x16xf32>, %w: memref<48x64xf32>, %bias: memref<48xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<48x64xf32>, memref<48xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 32 depth 32 {note}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<48x64xf32>, memref<48xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 32 {note}
  return
}

// CHECK-LABEL: func.func @residual(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<32x32xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[RES:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @residual(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%[[RES]] : memref<3x32x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 32 depth 32
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 32
  return
}

// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<4x16x32xf32>, %[[BIAS:.*]]: memref<4x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @heads(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 8 depth 32
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// CHECK-LABEL: func.func @rope(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<4x16x32xf32>, %[[BIAS:.*]]: memref<4x16xf32>, %[[COS:.*]]: memref<3x4x16xf32>, %[[SIN:.*]]: memref<3x4x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @rope(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%[[COS]], %[[SIN]] : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 8 depth 32
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// CHECK-LABEL: func.func @rope_tables_in_rows(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<4x16x32xf32>, %[[BIAS:.*]]: memref<4x16xf32>, %[[COS:.*]]: memref<40x4xf32>, %[[SIN:.*]]: memref<40x4xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @rope_tables_in_rows(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%[[COS]], %[[SIN]] : memref<40x4xf32>, memref<40x4xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 8 depth 32
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// CHECK-LABEL: func.func @head_major(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<2x16x32xf32>, %[[BIAS:.*]]: memref<2x16xf32>, %[[OUT:.*]]: memref<2x40x16xf32>)
func.func @head_major(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>, %bias: memref<2x16xf32>, %out: memref<2x40x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%[[OUT]] : memref<2x40x16xf32>) head_major rows 8 depth 32
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%out : memref<2x40x16xf32>) head_major rows 8 depth 32
  return
}

// CHECK-LABEL: func.func @rope_head_major_tile(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<2x16x32xf32>, %[[BIAS:.*]]: memref<2x16xf32>, %[[COS:.*]]: memref<3x4x16xf32>, %[[SIN:.*]]: memref<3x4x16xf32>, %[[OUT:.*]]: memref<2x40x16xf32>)
func.func @rope_head_major_tile(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>, %bias: memref<2x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<2x40x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%[[COS]], %[[SIN]] : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%[[OUT]] : memref<2x40x16xf32>) head_major rows 8 depth 32 tile <rows = 4, vectors = 3, panels = 12, unroll = 1>
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<2x40x16xf32>) head_major rows 8 depth 32 tile <rows = 4, vectors = 3, panels = 12, unroll = 1>
  return
}

// CHECK-LABEL: func.func @residual_tile_strict(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[W:.*]]: memref<32x32xf32>, %[[BIAS:.*]]: memref<32xf32>, %[[RES:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @residual_tile_strict(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[BIAS]] : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%[[RES]] : memref<3x32x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) rows 32 depth 32 tile <rows = 4, vectors = 1, panels = 1, unroll = 1, strict = true>
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 32 tile <rows = 4, vectors = 1, panels = 1, unroll = 1, strict = true>
  return
}
