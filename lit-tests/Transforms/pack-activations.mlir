// RUN: ck-opt %s -split-input-file -ck-pack-activations | FileCheck %s

module attributes {ck.target = #ck.target<cpu = "znver4", features = "", vectorBits = 512, fma = true, registers = 32, l1 = 32768, l2 = 1048576>} {
// 40 tokens are two and a half panels of 16.
// CHECK-LABEL: func.func @packs_scratch_of_16_lanes
func.func @packs_scratch_of_16_lanes() {
  // CHECK-NEXT: %[[GAMMA:.*]] = ck.buffer weight "ln1_gamma" layer 0 : memref<32xf32>
  // CHECK-NEXT: %[[X:.*]] = ck.buffer scratch "embedded_input" : memref<3x32x16xf32>
  // CHECK-NEXT: %[[Y:.*]] = ck.buffer scratch "ln1_out" layer 0 : memref<3x32x16xf32>
  // CHECK-NEXT: ck.rmsnorm ins(%[[X]], %[[GAMMA]] : memref<3x32x16xf32>, memref<32xf32>) outs(%[[Y]] : memref<3x32x16xf32>)
  %gamma = ck.buffer weight "ln1_gamma" layer 0 : memref<32xf32>
  %x = ck.buffer scratch "embedded_input" : memref<40x32xf32>
  %y = ck.buffer scratch "ln1_out" layer 0 : memref<40x32xf32>
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%y : memref<40x32xf32>) eps 1.0e-5 features 32
  return
}

// CHECK-LABEL: func.func @keeps_layout_of_weights_slots_and_extras
func.func @keeps_layout_of_weights_slots_and_extras() {
  // CHECK-NEXT: ck.buffer weight "token_emb" : memref<64x32xf32>
  // CHECK-NEXT: ck.buffer slot "logits" : memref<40x64xf32>
  // CHECK-NEXT: ck.buffer slot "k" layer 0 : memref<2x40x16xf32>
  // CHECK-NEXT: ck.buffer extra "table" : memref<40x32xf32>
  // CHECK-NEXT: ck.buffer scratch "vector" : memref<40xf32>
  // CHECK-NEXT: ck.buffer scratch "panels" : memref<5x7x9xf32>
  %0 = ck.buffer weight "token_emb" : memref<64x32xf32>
  %1 = ck.buffer slot "logits" : memref<40x64xf32>
  %2 = ck.buffer slot "k" layer 0 : memref<2x40x16xf32>
  %3 = ck.buffer extra "table" : memref<40x32xf32>
  %4 = ck.buffer scratch "vector" : memref<40xf32>
  %5 = ck.buffer scratch "panels" : memref<5x7x9xf32>
  return
}

// Both projections share the packed tables.
// CHECK-LABEL: func.func @packs_rope_tables_once
func.func @packs_rope_tables_once() {
  // CHECK-DAG: %[[CP:.*]] = ck.buffer scratch "rope_cos_cache.panels" : memref<3x4x16xf32>
  // CHECK-DAG: %[[SP:.*]] = ck.buffer scratch "rope_sin_cache.panels" : memref<3x4x16xf32>
  // CHECK-DAG: %[[C:.*]] = ck.buffer slot "rope_cos_cache" : memref<40x4xf32>
  // CHECK-DAG: %[[S:.*]] = ck.buffer slot "rope_sin_cache" : memref<40x4xf32>
  // CHECK-DAG: ck.pack ins(%[[C]] : memref<40x4xf32>) outs(%[[CP]] : memref<3x4x16xf32>)
  // CHECK-DAG: ck.pack ins(%[[S]] : memref<40x4xf32>) outs(%[[SP]] : memref<3x4x16xf32>)
  // CHECK: ck.linear {{.*}} rope(%[[CP]], %[[SP]] : memref<3x4x16xf32>, memref<3x4x16xf32>)
  // CHECK-NEXT: ck.linear {{.*}} rope(%[[CP]], %[[SP]] : memref<3x4x16xf32>, memref<3x4x16xf32>)
  // CHECK-NEXT: return
  %x = ck.buffer scratch "ln1_out" layer 0 : memref<40x32xf32>
  %w = ck.buffer weight "wk" layer 0 : memref<2x16x32xf32>
  %b = ck.buffer weight "bk" layer 0 : memref<2x16xf32>
  %k = ck.buffer slot "k" layer 0 : memref<2x40x16xf32>
  %v = ck.buffer slot "v" layer 0 : memref<2x40x16xf32>
  %cos = ck.buffer slot "rope_cos_cache" : memref<40x4xf32>
  %sin = ck.buffer slot "rope_sin_cache" : memref<40x4xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) outs(%v : memref<2x40x16xf32>) head_major rows 8 depth 32
  return
}

// Regression: the table was packed behind the last buffer, so after the projection that reads it.
// CHECK-LABEL: func.func @packs_rope_tables_before_a_projection_with_buffers_behind
func.func @packs_rope_tables_before_a_projection_with_buffers_behind(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>,
                                                                     %b: memref<2x16xf32>) {
  // CHECK-COUNT-2: ck.pack
  // CHECK: ck.linear
  // CHECK-NEXT: ck.buffer scratch "later" : memref<3x32x16xf32>
  // CHECK-NEXT: return
  %k = ck.buffer slot "k" layer 0 : memref<2x40x16xf32>
  %cos = ck.buffer slot "rope_cos_cache" : memref<40x4xf32>
  %sin = ck.buffer slot "rope_sin_cache" : memref<40x4xf32>
  ck.linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  %later = ck.buffer scratch "later" : memref<40x32xf32>
  return
}

// CHECK-LABEL: func.func @packs_rope_tables_of_arguments
func.func @packs_rope_tables_of_arguments(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>, %b: memref<2x16xf32>,
                                          %cos: memref<40x4xf32>, %sin: memref<40x4xf32>, %k: memref<2x40x16xf32>) {
  // CHECK-DAG: ck.pack ins(%arg3 :
  // CHECK-DAG: ck.pack ins(%arg4 :
  // CHECK: ck.linear
  ck.linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  return
}

// An op that rotates by itself reads rows.
// CHECK-LABEL: func.func @keeps_tables_of_rope
func.func @keeps_tables_of_rope(%cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK-NEXT: %[[Q:.*]] = ck.buffer scratch "q" : memref<3x32x16xf32>
  // CHECK-NEXT: ck.rope inout(%[[Q]] : memref<3x32x16xf32>) table({{.*}} : memref<40x4xf32>, memref<40x4xf32>)
  %q = ck.buffer scratch "q" : memref<40x32xf32>
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @packs_scratch_of_8_lanes
func.func @packs_scratch_of_8_lanes() {
  // CHECK-NEXT: ck.buffer scratch "x" : memref<5x32x8xf32>
  %0 = ck.buffer scratch "x" : memref<40x32xf32>
  return
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "x86-64-v2", features = "", vectorBits = 128, fma = false, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @packs_one_token_in_a_panel_of_4_lanes
func.func @packs_one_token_in_a_panel_of_4_lanes() {
  // CHECK-NEXT: ck.buffer scratch "x" : memref<1x32x4xf32>
  %0 = ck.buffer scratch "x" : memref<1x32xf32>
  return
}
}

// -----

// Nor does a program in rows need to know the CPU.
module {
// CHECK-LABEL: func.func @leaves_a_program_in_rows
func.func @leaves_a_program_in_rows() attributes {ck.rows} {
  // CHECK-NEXT: ck.buffer scratch "ln1_out" layer 0 : memref<4x32xf32>
  // CHECK-NEXT: ck.buffer weight "wk"
  // CHECK-NEXT: ck.buffer weight "bk"
  // CHECK-NEXT: ck.buffer slot "k"
  // CHECK-NEXT: %[[C:.*]] = ck.buffer slot "rope_cos_cache" : memref<40x4xf32>
  // CHECK-NEXT: %[[S:.*]] = ck.buffer slot "rope_sin_cache" : memref<40x4xf32>
  // CHECK-NEXT: ck.linear {{.*}} rope(%[[C]], %[[S]] : memref<40x4xf32>, memref<40x4xf32>)
  // CHECK-NEXT: return
  %x = ck.buffer scratch "ln1_out" layer 0 : memref<4x32xf32>
  %w = ck.buffer weight "wk" layer 0 : memref<2x16x32xf32>
  %b = ck.buffer weight "bk" layer 0 : memref<2x16xf32>
  %k = ck.buffer slot "k" layer 0 : memref<2x40x16xf32>
  %cos = ck.buffer slot "rope_cos_cache" : memref<40x4xf32>
  %sin = ck.buffer slot "rope_sin_cache" : memref<40x4xf32>
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) rope(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  return
}
}
