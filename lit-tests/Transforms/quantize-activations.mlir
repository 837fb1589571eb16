// RUN: ck-opt %s -ck-quantize-activations | FileCheck %s

// Two ops that read the same panels share the codes; what is in floats keeps them.
// CHECK-LABEL: func.func @shared
func.func @shared() {
  // CHECK: %[[X:.*]] = ck.buffer scratch "x" layer 1 : memref<3x60x8xf32>
  // CHECK-NEXT: %[[C:.*]] = ck.buffer scratch "x.int8x32" layer 1 : memref<3x2x!ck.panel_block<32 x 8>>
  %x = ck.buffer scratch "x" layer 1 : memref<3x60x8xf32>
  %g = ck.buffer weight "ln1_gamma" layer 1 : memref<64xf32>
  %w = ck.buffer weight "wq" layer 1 : memref<6x2x!ck.block<q8_0>>
  %f = ck.buffer weight "wk" layer 1 : memref<6x64xbf16>
  %b = ck.buffer weight "bq" layer 1 : memref<6xf32>
  %y = ck.buffer scratch "y" layer 1 : memref<3x6x8xf32>
  %z = ck.buffer scratch "z" layer 1 : memref<3x6x8xf32>
  ck.rmsnorm ins(%x, %g : memref<3x60x8xf32>, memref<64xf32>) outs(%x : memref<3x60x8xf32>) eps 1.0e-05 features 60
  // CHECK: ck.quantize ins(%[[X]] : memref<3x60x8xf32>) outs(%[[C]] : memref<3x2x!ck.panel_block<32 x 8>>) segments 1
  // CHECK-NEXT: ck.linear ins(%[[C]],
  ck.linear ins(%x, %w, %b : memref<3x60x8xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 60
  // CHECK-NEXT: ck.linear ins(%[[C]],
  ck.linear ins(%x, %w, %b : memref<3x60x8xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%z : memref<3x6x8xf32>) rows 6 depth 60
  // CHECK-NEXT: ck.linear ins(%[[X]],
  ck.linear ins(%x, %f, %b : memref<3x60x8xf32>, memref<6x64xbf16>, memref<6xf32>) outs(%z : memref<3x6x8xf32>) rows 6 depth 60
  return
}

// Panels that are written twice are quantized twice.
// CHECK-LABEL: func.func @written_in_between
func.func @written_in_between(%w: memref<64x2x!ck.block<q4_0>>, %b: memref<64xf32>) {
  %x = ck.buffer scratch "x" : memref<3x64x8xf32>
  %y = ck.buffer scratch "y" : memref<3x64x8xf32>
  // CHECK: ck.add
  // CHECK-NEXT: ck.quantize
  // CHECK-NEXT: ck.linear
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.quantize
  // CHECK-NEXT: ck.linear
  ck.add ins(%y, %y : memref<3x64x8xf32>, memref<3x64x8xf32>) outs(%x : memref<3x64x8xf32>)
  ck.linear ins(%x, %w, %b : memref<3x64x8xf32>, memref<64x2x!ck.block<q4_0>>, memref<64xf32>) outs(%y : memref<3x64x8xf32>) rows 64 depth 64
  ck.add ins(%y, %y : memref<3x64x8xf32>, memref<3x64x8xf32>) outs(%x : memref<3x64x8xf32>)
  ck.linear ins(%x, %w, %b : memref<3x64x8xf32>, memref<64x2x!ck.block<q4_0>>, memref<64xf32>) outs(%y : memref<3x64x8xf32>) rows 64 depth 64
  return
}

// Three heads of 20 features, padded to 32 each.
// CHECK-LABEL: func.func @heads
func.func @heads(%x: memref<3x60x8xf32>, %w: memref<6x3x!ck.block<q5_0>>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) {
  // CHECK: ck.quantize {{.*}} outs(%{{.*}} : memref<3x3x!ck.panel_block<32 x 8>>) segments 3
  // CHECK-NEXT: ck.attn_project
  ck.attn_project ins(%x, %w, %b : memref<3x60x8xf32>, memref<6x3x!ck.block<q5_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 20
  return
}

// Rows are quantized inside their kernels.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: memref<4x64xf32>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<4x6xf32>) attributes {ck.rows} {
  // CHECK-NOT: ck.quantize
  ck.linear ins(%x, %w, %b : memref<4x64xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<4x6xf32>) rows 6 depth 64
  return
}

