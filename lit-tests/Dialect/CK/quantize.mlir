// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @whole_blocks
func.func @whole_blocks(%x: memref<3x64x8xf32>, %y: memref<3x2x!ck.panel_block<32 x 8>>) {
  // CHECK: ck.quantize ins(%{{.*}} : memref<3x64x8xf32>) outs(%{{.*}} : memref<3x2x!ck.panel_block<32 x 8>>) segments 1
  ck.quantize ins(%x : memref<3x64x8xf32>) outs(%y : memref<3x2x!ck.panel_block<32 x 8>>) segments 1
  return
}

// Three heads of 20 features, each padded to 32.
// CHECK-LABEL: func.func @padded_segments
func.func @padded_segments(%x: memref<3x60x16xf32>, %y: memref<3x3x!ck.panel_block<32 x 16>>) {
  // CHECK: ck.quantize {{.*}} segments 3 {note}
  ck.quantize ins(%x : memref<3x60x16xf32>) outs(%y : memref<3x3x!ck.panel_block<32 x 16>>) segments 3 {note}
  return
}

// What reads the blocks: weights of rows as long.
// CHECK-LABEL: func.func @matrix_ops
func.func @matrix_ops(%x: memref<3x2x!ck.panel_block<32 x 8>>, %w: memref<6x2x!ck.block<q8_0>>, %w2: memref<2x6x2x!ck.block<q5_1>>,
                      %b: memref<6xf32>, %b2: memref<2x6xf32>, %y: memref<3x6x8xf32>, %k: memref<2x20x16xf32>, %l: memref<20x6xf32>) {
  // CHECK: ck.linear ins({{.*}} : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>)
  ck.linear ins(%x, %w, %b : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 60
  // CHECK: ck.linear {{.*}} head_major rows 6 depth 60
  ck.linear ins(%x, %w2, %b2 : memref<3x2x!ck.panel_block<32 x 8>>, memref<2x6x2x!ck.block<q5_1>>, memref<2x6xf32>) outs(%k : memref<2x20x16xf32>) head_major rows 6 depth 60
  // CHECK: ck.gated_linear ins({{.*}} : memref<3x2x!ck.panel_block<32 x 8>>, memref<2x6x2x!ck.block<q5_1>>, memref<2x6xf32>)
  ck.gated_linear ins(%x, %w2, %b2 : memref<3x2x!ck.panel_block<32 x 8>>, memref<2x6x2x!ck.block<q5_1>>, memref<2x6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 60
  // CHECK: ck.attn_project ins({{.*}} : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>)
  ck.attn_project ins(%x, %w, %b : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 20
  // CHECK: ck.lm_head ins({{.*}} : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>)
  ck.lm_head ins(%x, %w : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>) outs(%l : memref<20x6xf32>) depth 60
  return
}
