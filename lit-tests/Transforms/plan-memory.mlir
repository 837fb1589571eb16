// RUN: ck-opt %s -split-input-file -ck-plan-memory | FileCheck %s

// The seed's offsets, measured for this shape (SPEC 3): 632704 bytes in all.
// CHECK: module attributes
// CHECK-SAME: ck.arena_bytes = 632704 : i64
module attributes {ck.model = #ck.model<layers = 2, hidden = 60, intermediate = 100, heads = 3, kvHeads = 3, vocab = 257, window = 17, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
// CHECK-LABEL: func.func @offsets_of_the_seed
func.func @offsets_of_the_seed() {
  // CHECK-NEXT: "token_emb" at 0 :
  // CHECK-NEXT: "pos_emb" at 65792 :
  // CHECK-NEXT: "rope_cos_cache" at 74496 :
  // CHECK-NEXT: "rope_sin_cache" at 75200 :
  // CHECK-NEXT: "final_ln_weight" at 75904 :
  // CHECK-NEXT: "logits" at 81024 :
  // CHECK-NEXT: "ln1_gamma" layer 0 at 98560 :
  // CHECK-NEXT: "wq" layer 0 at 103296 :
  // CHECK-NEXT: "wo" layer 0 at 204288 :
  // CHECK-NEXT: "w1" layer 0 at 246912 :
  // CHECK-NEXT: "w2" layer 0 at 328000 :
  // CHECK-NEXT: "wq" layer 1 at 370368 :
  %0 = ck.buffer weight "token_emb" : memref<257x64xf32>
  %1 = ck.buffer weight "pos_emb" : memref<17x64xf32>
  %2 = ck.buffer slot "rope_cos_cache" : memref<17x10xf32>
  %3 = ck.buffer slot "rope_sin_cache" : memref<17x10xf32>
  %4 = ck.buffer weight "final_ln_weight" : memref<64xf32>
  %5 = ck.buffer slot "logits" : memref<17x257xf32>
  %6 = ck.buffer weight "ln1_gamma" layer 0 : memref<64xf32>
  %7 = ck.buffer weight "wq" layer 0 : memref<3x32x64xf32>
  %8 = ck.buffer weight "wo" layer 0 : memref<3x64x32xf32>
  %9 = ck.buffer weight "w1" layer 0 : memref<2x112x64xf32>
  %10 = ck.buffer weight "w2" layer 0 : memref<64x112xf32>
  %11 = ck.buffer weight "wq" layer 1 : memref<3x32x64xf32>
  return
}
}

// -----

// Extra buffers stand behind the seed's, each on a line of 64 bytes; scratch behind all of them.
// CHECK: module attributes
// CHECK-SAME: ck.arena_bytes = 633024 : i64
module attributes {ck.model = #ck.model<layers = 2, hidden = 60, intermediate = 100, heads = 3, kvHeads = 3, vocab = 257, window = 17, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
// CHECK-LABEL: func.func @extra_and_scratch_behind_the_seed
func.func @extra_and_scratch_behind_the_seed() {
  // CHECK-NEXT: "scratch" at 632960 :
  // CHECK-NEXT: "tokens" at 632704 :
  // CHECK-NEXT: "loss" at 632832 :
  %2 = ck.buffer scratch "scratch" : memref<1x4x4xf32>
  %0 = ck.buffer extra "tokens" : memref<17xi32>
  %1 = ck.buffer extra "loss" : memref<17xf32>
  ck.add ins(%2, %2 : memref<1x4x4xf32>, memref<1x4x4xf32>) outs(%2 : memref<1x4x4xf32>)
  return
}
}

// -----

// CHECK: module attributes {ck.arena_bytes = 4096 : i64}
module {
// a lives from op 1 to op 2, b from 1 to 3, c from 2 to 4: c takes a's place, then d takes b's.
// CHECK-LABEL: func.func @disjoint_lifetimes_share
func.func @disjoint_lifetimes_share(%x: memref<1x32x16xf32>) {
  // CHECK-NEXT: "a" at 0 :
  // CHECK-NEXT: "b" at 2048 :
  // CHECK-NEXT: "c" at 0 :
  // CHECK-NEXT: "d" at 2048 :
  %a = ck.buffer scratch "a" : memref<1x32x16xf32>
  %b = ck.buffer scratch "b" : memref<1x32x16xf32>
  %c = ck.buffer scratch "c" : memref<1x32x16xf32>
  %d = ck.buffer scratch "d" : memref<1x32x16xf32>
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%b, %b : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  ck.add ins(%c, %c : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%d : memref<1x32x16xf32>)
  return
}
}

// -----

// An op's input and output live at the same time, also at the ends of their lives.
// CHECK: module attributes {ck.arena_bytes = 6144 : i64}
module {
// CHECK-LABEL: func.func @input_and_output_never_share
func.func @input_and_output_never_share() {
  // CHECK-NEXT: "a" at 0 :
  // CHECK-NEXT: "b" at 2048 :
  // CHECK-NEXT: "c" at 4096 :
  %a = ck.buffer scratch "a" : memref<1x32x16xf32>
  %b = ck.buffer scratch "b" : memref<1x32x16xf32>
  %c = ck.buffer scratch "c" : memref<1x32x16xf32>
  ck.add ins(%a, %b : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  return
}
}

// -----

// 4 x 16 floats fit the hole that a left, 64 x 16 don't and go behind b.
// CHECK: module attributes {ck.arena_bytes = 8192 : i64}
module {
// CHECK-LABEL: func.func @takes_the_lowest_hole_that_fits
func.func @takes_the_lowest_hole_that_fits(%up: memref<1x32x16xf32>) {
  // CHECK-NEXT: "a" at 0 : memref<1x32x16xf32>
  // CHECK-NEXT: "b" at 2048 : memref<1x32x16xf32>
  // CHECK-NEXT: "large" at 4096 : memref<1x64x16xf32>
  // CHECK-NEXT: "small" at 0 : memref<1x4x16xf32>
  %a = ck.buffer scratch "a" : memref<1x32x16xf32>
  %b = ck.buffer scratch "b" : memref<1x32x16xf32>
  %large = ck.buffer scratch "large" : memref<1x64x16xf32>
  %small = ck.buffer scratch "small" : memref<1x4x16xf32>
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.split ins(%large : memref<1x64x16xf32>) outs(%b, %up : memref<1x32x16xf32>, memref<1x32x16xf32>)
  ck.add ins(%small, %small : memref<1x4x16xf32>, memref<1x4x16xf32>) outs(%small : memref<1x4x16xf32>)
  ck.add ins(%b, %b : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  return
}
}

// -----

// CHECK: module attributes {ck.arena_bytes = 0 : i64}
module {
// CHECK-LABEL: func.func @unused_scratch_has_no_place
func.func @unused_scratch_has_no_place() {
  // CHECK-NEXT: ck.buffer scratch "a" : memref<1x32x16xf32>
  %a = ck.buffer scratch "a" : memref<1x32x16xf32>
  return
}
func.func private @declaration()
}

// -----

// Two programs of a module run one after the other: their scratch shares.
// CHECK: module attributes {ck.arena_bytes = 4096 : i64}
module {
// CHECK-LABEL: func.func @small_program
func.func @small_program() {
  // CHECK-NEXT: "a" at 0 :
  %a = ck.buffer scratch "a" : memref<1x32x16xf32>
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%a : memref<1x32x16xf32>)
  return
}
// CHECK-LABEL: func.func @large_program
func.func @large_program() {
  // CHECK-NEXT: "b" at 0 :
  %b = ck.buffer scratch "b" : memref<1x64x16xf32>
  ck.add ins(%b, %b : memref<1x64x16xf32>, memref<1x64x16xf32>) outs(%b : memref<1x64x16xf32>)
  return
}
}

// -----

// Two programs of a module have one "tokens" and one "loss", whichever asks first; the scratch of both is behind them.
// CHECK: module attributes {ck.arena_bytes = 2304 : i64}
module {
// CHECK-LABEL: func.func @first_program
func.func @first_program() {
  // CHECK-NEXT: "tokens" at 0 : memref<17xi32>
  // CHECK-NEXT: "a" at 256 :
  %tokens = ck.buffer extra "tokens" : memref<17xi32>
  %a = ck.buffer scratch "a" : memref<1x16x16xf32>
  ck.add ins(%a, %a : memref<1x16x16xf32>, memref<1x16x16xf32>) outs(%a : memref<1x16x16xf32>)
  return
}
// CHECK-LABEL: func.func @second_program
func.func @second_program() {
  // CHECK-NEXT: "loss" at 128 : memref<17xf32>
  // CHECK-NEXT: "tokens" at 0 : memref<17xi32>
  // CHECK-NEXT: "b" at 256 :
  %loss = ck.buffer extra "loss" : memref<17xf32>
  %tokens = ck.buffer extra "tokens" : memref<17xi32>
  %b = ck.buffer scratch "b" : memref<1x32x16xf32>
  ck.add ins(%b, %b : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  return
}
}
