// RUN: ck-opt %s -split-input-file -ck-select-strategy | FileCheck %s
// RUN: ck-opt %s -split-input-file -ck-select-strategy=strict | FileCheck %s --check-prefix=STRICT
// RUN: ck-opt %s -split-input-file "-ck-select-strategy=rows=6 vectors=3 panels=5 unroll=8" | FileCheck %s

// Of activations in rows a tile takes four rows of each part, and the tokens that the registers hold beside them. A
// block is a tile; overrides are those of tiles in panels.
// CHECK: module
module attributes {ck.target = #ck.target<cpu = "znver4", features = "", vectorBits = 512, fma = true, registers = 32, l1 = 32768, l2 = 1048576>} {
// CHECK-LABEL: func.func @linear
// STRICT-LABEL: func.func @linear
func.func @linear(%x: memref<4x1024xf32>, %w: memref<36x1024xf32>, %b: memref<36xf32>, %y: memref<4x36xf32>) {
  // CHECK: ck.linear {{.*}} tile <rows = 4, vectors = 4, panels = 4, unroll = 2>
  // STRICT: ck.linear {{.*}} tile <rows = 4, vectors = 2, panels = 2, unroll = 2, strict = true>
  ck.linear ins(%x, %w, %b : memref<4x1024xf32>, memref<36x1024xf32>, memref<36xf32>) outs(%y : memref<4x36xf32>) rows 36 depth 1024
  return
}

// CHECK-LABEL: func.func @both_halves_of_a_head
func.func @both_halves_of_a_head(%x: memref<4x32xf32>, %w: memref<2x16x32xf32>, %b: memref<2x16xf32>, %c: memref<40x4xf32>, %k: memref<2x40x16xf32>) {
  // CHECK: ck.linear {{.*}} tile <rows = 8, vectors = 4, panels = 4, unroll = 2>
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%c, %c : memref<40x4xf32>, memref<40x4xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  return
}

// CHECK-LABEL: func.func @gate_and_up
func.func @gate_and_up(%x: memref<4x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<4x48xf32>) {
  // CHECK: ck.gated_linear {{.*}} tile <rows = 8, vectors = 4, panels = 4, unroll = 2>
  ck.gated_linear ins(%x, %w, %b : memref<4x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<4x48xf32>) rows 48 depth 32
  return
}

// CHECK-LABEL: func.func @attn_project_and_lm_head
func.func @attn_project_and_lm_head(%x: memref<4x32xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>, %y: memref<4x32xf32>, %t: memref<64x32xf32>, %l: memref<40x64xf32>) {
  // CHECK: ck.attn_project {{.*}} tile <rows = 4, vectors = 4, panels = 4, unroll = 2>
  // CHECK: ck.lm_head {{.*}} tile <rows = 4, vectors = 4, panels = 4, unroll = 2>
  ck.attn_project ins(%x, %w, %b : memref<4x32xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%y : memref<4x32xf32>) rows 32 depth 8
  ck.lm_head ins(%y, %t : memref<4x32xf32>, memref<64x32xf32>) outs(%l : memref<40x64xf32>) depth 32
  return
}

// CHECK-LABEL: func.func @halves_of_attention_have_no_tile
func.func @halves_of_attention_have_no_tile(%q: memref<4x32xf32>, %k: memref<2x40x16xf32>, %parts: memref<4x4x1x32xf32>) {
  // CHECK-NEXT: ck.attention_part {{.*}} keys 128{{$}}
  // CHECK-NEXT: ck.attention_merge {{.*}} keys 128{{$}}
  ck.attention_part ins(%q, %k, %k : memref<4x32xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%parts : memref<4x4x1x32xf32>) heads 4 head_dim 8 keys 128
  ck.attention_merge ins(%parts : memref<4x4x1x32xf32>) outs(%q : memref<4x32xf32>) heads 4 head_dim 8 keys 128
  return
}
}

// -----

// CHECK: module
module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @two_tokens_for_16_registers
// STRICT-LABEL: func.func @two_tokens_for_16_registers
func.func @two_tokens_for_16_registers(%x: memref<4x32xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // CHECK: tile <rows = 4, vectors = 2, panels = 2, unroll = 2>
  // STRICT: tile <rows = 4, vectors = 2, panels = 2, unroll = 2, strict = true>
  ck.lm_head ins(%x, %t : memref<4x32xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}
