// RUN: ck-opt %s -ck-select-strategy | FileCheck %s
// RUN: ck-opt %s -ck-select-strategy=quantize=false | FileCheck %s --check-prefix=FLOATS --implicit-check-not=quantize
// RUN: ck-opt %s -ck-select-strategy=strict | FileCheck %s --check-prefix=STRICT --implicit-check-not=quantize

module attributes {ck.target = #ck.target<cpu = "haswell", features = "+avx2,+fma", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// Rows times blocks: codes, unless floats are asked for.
// CHECK-LABEL: func.func @rows_of_blocks
// FLOATS-LABEL: func.func @rows_of_blocks
// STRICT-LABEL: func.func @rows_of_blocks
func.func @rows_of_blocks(%x: memref<4x64xf32>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<4x6xf32>) {
  // CHECK: ck.linear {{.*}} quantize = true>
  // FLOATS: ck.linear {{.*}} unroll = 2>
  // STRICT: ck.linear {{.*}} strict = true>
  ck.linear ins(%x, %w, %b : memref<4x64xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<4x6xf32>) rows 6 depth 64
  return
}

// Halves are floats.
// CHECK-LABEL: func.func @rows_of_halves
func.func @rows_of_halves(%x: memref<4x64xf32>, %w: memref<6x64xf16>, %b: memref<6xf32>, %y: memref<4x6xf32>) {
  // CHECK-NOT: quantize
  // CHECK: ck.linear {{.*}} tile <rows = 4, vectors = 2, panels = 2, unroll = 2>
  ck.linear ins(%x, %w, %b : memref<4x64xf32>, memref<6x64xf16>, memref<6xf32>) outs(%y : memref<4x6xf32>) rows 6 depth 64
  return
}

// Panels are codes already, or aren't.
// CHECK-LABEL: func.func @panels
func.func @panels(%x: memref<3x2x!ck.panel_block<32 x 8>>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) {
  // CHECK-NOT: quantize
  // CHECK: ck.linear {{.*}} tile <rows = {{[0-9]+}}, vectors = {{[0-9]+}}, panels = {{[0-9]+}}, unroll = 1>
  ck.linear ins(%x, %w, %b : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 64
  return
}

// Rows on the stack, 256 KiB of them: six of 32768 floats don't fit, two do; of codes four rows would.
// CHECK-LABEL: func.func @long_rows
// FLOATS-LABEL: func.func @long_rows
func.func @long_rows(%x: memref<3x32768x8xf32>, %c: memref<3x1024x!ck.panel_block<32 x 8>>, %w: memref<6x1024x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) {
  // FLOATS: ck.linear {{.*}} tile <rows = 2, vectors = 3,
  ck.linear ins(%x, %w, %b : memref<3x32768x8xf32>, memref<6x1024x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 32768
  // CHECK: ck.linear
  // CHECK: ck.linear {{.*}} tile <rows = 2, vectors = 3,
  ck.linear ins(%c, %w, %b : memref<3x1024x!ck.panel_block<32 x 8>>, memref<6x1024x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 32768
  return
}

// A gated product takes a row of each part at least.
// FLOATS-LABEL: func.func @very_long_rows
func.func @very_long_rows(%x: memref<3x262144x8xf32>, %w: memref<2x6x8192x!ck.block<q8_0>>, %b: memref<2x6xf32>, %y: memref<3x6x8xf32>) {
  // FLOATS: ck.gated_linear {{.*}} tile <rows = 2, vectors = 3,
  ck.gated_linear ins(%x, %w, %b : memref<3x262144x8xf32>, memref<2x6x8192x!ck.block<q8_0>>, memref<2x6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 262144
  return
}
}
