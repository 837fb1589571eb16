// RUN: split-file %s %t
// RUN: ck-opt %t/unpack.mlir -verify-diagnostics -ck-lower-unpack
// RUN: ck-opt %t/tile.mlir -verify-diagnostics -ck-lower-int8-tile
// RUN: ck-opt %t/embed.mlir -verify-diagnostics -ck-lower-elementwise
// RUN: ck-opt %t/linear.mlir -verify-diagnostics -ck-lower-linear
// RUN: ck-opt %t/tiles.mlir -verify-diagnostics -ck-select-strategy=strict
// RUN: ck-opt %t/codes.mlir -verify-diagnostics -ck-plan-memory

//--- unpack.mlir
module {
func.func @needs_a_target(%w: memref<144xi8>, %y: memref<256xf32>, %o: index) {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.unpack_row %w[%o] to %y row %o format q4_k depth 256 : memref<144xi8> to memref<256xf32>
  return
}
}

//--- tile.mlir
module {
func.func @needs_a_target(%c: memref<512xi8>, %s: memref<16xf32>, %o: index) -> vector<4xf32> {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  %0 = ck.int8_tile %c, %s, %s[%o], %c[%o] format q8_0 depth 32 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<512xi8> -> vector<4xf32>
  return %0 : vector<4xf32>
}
}

//--- embed.mlir
module {
func.func @needs_a_target(%tid: index, %threads: index, %tokens: index, %first: index, %position: index, %ids: memref<40xi32>, %t: memref<64x2x!ck.block<q8_0>>, %y: memref<5x64x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.embed ins(%ids, %t : memref<40xi32>, memref<64x2x!ck.block<q8_0>>) outs(%y : memref<5x64x8xf32>)
  return
}
}

//--- linear.mlir
module {
func.func @needs_a_target(%tid: index, %threads: index, %tokens: index, %first: index, %position: index, %x: memref<3x64x8xf32>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.linear ins(%x, %w, %b : memref<3x64x8xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 64 tile <rows = 2, vectors = 1, panels = 1, unroll = 1>
  return
}
}

//--- tiles.mlir
// Strict sums aren't quantized: no error.
module attributes {ck.target = #ck.target<cpu = "c", features = "+avx2", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func @strict(%x: memref<4x64xf32>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<4x6xf32>) {
  ck.linear ins(%x, %w, %b : memref<4x64xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<4x6xf32>) rows 6 depth 64
  return
}
}

//--- codes.mlir
// expected-error @below {{ck.weights is array<i32: 7>, expected an array of i8, a dtype code a weight}}
module attributes {ck.weights = array<i32: 7>, ck.model = #ck.model<layers = 1, hidden = 256, intermediate = 512, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @prefill() {
  return
}
}
