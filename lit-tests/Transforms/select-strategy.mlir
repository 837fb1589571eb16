// RUN: ck-opt %s -split-input-file -ck-select-strategy | FileCheck %s
// RUN: ck-opt %s -split-input-file "-ck-select-strategy=rows=6 vectors=2 panels=5 unroll=4 strict" | FileCheck %s --check-prefix=ASKED

// L2 of 1 MiB: half of it holds 8 panels of 1024 x 16 floats. Tiles of 12 rows would compute 36 rows for 32, more
// than a sixteenth too many; 6 panels are whole triples.
// CHECK: module
module attributes {ck.target = #ck.target<cpu = "znver4", features = "", vectorBits = 512, fma = true, registers = 32, l1 = 32768, l2 = 1048576>} {
// CHECK-LABEL: func.func @linear_for_32_registers
// ASKED-LABEL: func.func @linear_for_32_registers
func.func @linear_for_32_registers(%x: memref<3x1024x16xf32>, %w: memref<32x1024xf32>, %b: memref<32xf32>, %y: memref<3x32x16xf32>) {
  // CHECK: ck.linear {{.*}} tile <rows = 8, vectors = 3, panels = 6, unroll = 1>
  // ASKED: ck.linear {{.*}} tile <rows = 6, vectors = 2, panels = 5, unroll = 4, strict = true>
  ck.linear ins(%x, %w, %b : memref<3x1024x16xf32>, memref<32x1024xf32>, memref<32xf32>) outs(%y : memref<3x32x16xf32>) rows 32 depth 1024
  return
}

// 36 rows are three tiles of 12, so 8 panels are whole pairs.
// CHECK-LABEL: func.func @rows_that_fill_tiles_of_12
func.func @rows_that_fill_tiles_of_12(%x: memref<3x1024x16xf32>, %w: memref<36x1024xf32>, %b: memref<36xf32>, %y: memref<3x36x16xf32>) {
  // CHECK: ck.linear {{.*}} tile <rows = 12, vectors = 2, panels = 8, unroll = 1>
  ck.linear ins(%x, %w, %b : memref<3x1024x16xf32>, memref<36x1024xf32>, memref<36xf32>) outs(%y : memref<3x36x16xf32>) rows 36 depth 1024
  return
}

// A tile takes 6 rows of gate and of up each.
// CHECK-LABEL: func.func @gated_linear
func.func @gated_linear(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<3x48x16xf32>) {
  // CHECK: ck.gated_linear {{.*}} tile <rows = 12, vectors = 2, panels = 256, unroll = 1>
  ck.gated_linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// The depth is that of all heads.
// CHECK-LABEL: func.func @attn_project
func.func @attn_project(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>, %y: memref<3x32x16xf32>) {
  // CHECK: ck.attn_project {{.*}} tile <rows = 8, vectors = 3, panels = 255, unroll = 1>
  ck.attn_project ins(%x, %w, %b : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%y : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// Rows that are transposed come in powers of two.
// CHECK-LABEL: func.func @lm_head
func.func @lm_head(%x: memref<3x32x16xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // CHECK: ck.lm_head {{.*}} tile <rows = 8, vectors = 3, panels = 255, unroll = 1>
  ck.lm_head ins(%x, %t : memref<3x32x16xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}

// A tile of attention holds query heads of one kv head: 2 of the group of 2, 3 of the group of 9.
// CHECK-LABEL: func.func @attention_takes_a_divisor_of_the_group
// ASKED-LABEL: func.func @attention_takes_a_divisor_of_the_group
func.func @attention_takes_a_divisor_of_the_group(%q: memref<3x32x16xf32>, %o: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %q9: memref<3x72x16xf32>, %o9: memref<3x72x16xf32>, %k1: memref<1x40x16xf32>) {
  // CHECK: ck.attention {{.*}} heads 4 head_dim 8 tile <rows = 8, vectors = 2,
  // CHECK: ck.attention {{.*}} heads 9 head_dim 8 tile <rows = 8, vectors = 3,
  // ASKED: ck.attention {{.*}} heads 4 head_dim 8 tile <rows = 6, vectors = 2, panels = 5, unroll = 4, strict = true>
  // ASKED: ck.attention {{.*}} heads 9 head_dim 8 tile <rows = 6, vectors = 1, panels = 5, unroll = 4, strict = true>
  ck.attention ins(%q, %k, %k : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%o : memref<3x32x16xf32>) heads 4 head_dim 8
  ck.attention ins(%q9, %k1, %k1 : memref<3x72x16xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%o9 : memref<3x72x16xf32>) heads 9 head_dim 8
  return
}

// CHECK-LABEL: func.func @keeps_a_tile
// ASKED-LABEL: func.func @keeps_a_tile
func.func @keeps_a_tile(%x: memref<3x32x16xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // CHECK: tile <rows = 2, vectors = 1, panels = 9, unroll = 3>
  // ASKED: tile <rows = 2, vectors = 1, panels = 9, unroll = 3>
  ck.lm_head ins(%x, %t : memref<3x32x16xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32 tile <rows = 2, vectors = 1, panels = 9, unroll = 3>
  return
}

// CHECK-LABEL: func.func @leaves_ops_without_a_matrix
func.func @leaves_ops_without_a_matrix(%x: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.add ins({{.*}}) outs({{.*}}){{$}}
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  return
}
}

// -----

// CHECK: module
module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @rows_that_fill_tiles_of_6
func.func @rows_that_fill_tiles_of_6(%x: memref<5x32x8xf32>, %w: memref<36x32xf32>, %b: memref<36xf32>, %y: memref<5x36x8xf32>) {
  // CHECK: ck.linear {{.*}} tile <rows = 6, vectors = 2, panels = 128, unroll = 1>
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<36x32xf32>, memref<36xf32>) outs(%y : memref<5x36x8xf32>) rows 36 depth 32
  return
}

// CHECK-LABEL: func.func @linear_for_16_registers
func.func @linear_for_16_registers(%x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // CHECK: tile <rows = 4, vectors = 3, panels = 126, unroll = 1>
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}

// -----

// Without FMA a product takes a register of its own.
// CHECK: module
module attributes {ck.target = #ck.target<cpu = "x86-64-v2", features = "", vectorBits = 128, fma = false, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @linear_without_fma
func.func @linear_without_fma(%x: memref<10x32x4xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // CHECK: tile <rows = 4, vectors = 2, panels = 256, unroll = 1>
  ck.lm_head ins(%x, %t : memref<10x32x4xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}

// -----

// A block has at least the panels of a tile, however small the cache.
// CHECK: module
module attributes {ck.target = #ck.target<cpu = "tiny", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 64, l2 = 64>} {
// CHECK-LABEL: func.func @cache_smaller_than_a_panel
func.func @cache_smaller_than_a_panel(%x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // CHECK: tile <rows = 4, vectors = 3, panels = 3, unroll = 1>
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}
