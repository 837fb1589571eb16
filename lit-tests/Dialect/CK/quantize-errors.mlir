// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @panels_differ(%x: memref<3x64x8xf32>, %y: memref<2x2x!ck.panel_block<32 x 8>>) {
  // expected-error @below {{'ck.quantize' op x is 'memref<3x64x8xf32>' but out is 'memref<2x2x!ck.panel_block<32 x 8>>', expected the same panels}}
  ck.quantize ins(%x : memref<3x64x8xf32>) outs(%y : memref<2x2x!ck.panel_block<32 x 8>>) segments 1
  return
}

// -----

func.func @tokens_differ(%x: memref<3x64x8xf32>, %y: memref<3x2x!ck.panel_block<32 x 16>>) {
  // expected-error @below {{'ck.quantize' op x is 'memref<3x64x8xf32>' but out is 'memref<3x2x!ck.panel_block<32 x 16>>', expected the same panels}}
  ck.quantize ins(%x : memref<3x64x8xf32>) outs(%y : memref<3x2x!ck.panel_block<32 x 16>>) segments 1
  return
}

// -----

func.func @segments_of_no_equal_parts(%x: memref<3x64x8xf32>, %y: memref<3x3x!ck.panel_block<32 x 8>>) {
  // expected-error @below {{'ck.quantize' op has 3 segments of 64 features in blocks of 96, expected a divisor of both}}
  ck.quantize ins(%x : memref<3x64x8xf32>) outs(%y : memref<3x3x!ck.panel_block<32 x 8>>) segments 3
  return
}

// -----

func.func @no_segments(%x: memref<3x64x8xf32>, %y: memref<3x2x!ck.panel_block<32 x 8>>) {
  // expected-error @below {{'ck.quantize' op has 0 segments of 64 features in blocks of 64, expected a divisor of both}}
  ck.quantize ins(%x : memref<3x64x8xf32>) outs(%y : memref<3x2x!ck.panel_block<32 x 8>>) segments 0
  return
}

// -----

func.func @too_few_blocks(%x: memref<3x64x8xf32>, %y: memref<3x1x!ck.panel_block<32 x 8>>) {
  // expected-error @below {{'ck.quantize' op out's number of features is 32, expected at least 64}}
  ck.quantize ins(%x : memref<3x64x8xf32>) outs(%y : memref<3x1x!ck.panel_block<32 x 8>>) segments 1
  return
}

// -----

func.func @codes_for_floats(%x: memref<3x2x!ck.panel_block<32 x 8>>, %t: memref<6x64xbf16>, %y: memref<20x6xf32>) {
  // expected-error @below {{'ck.lm_head' op x is 'memref<3x2x!ck.panel_block<32 x 8>>', expected floats for a weight of 'bf16'}}
  ck.lm_head ins(%x, %t : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x64xbf16>) outs(%y : memref<20x6xf32>) depth 64
  return
}

// -----

func.func @fewer_codes_than_a_row(%x: memref<3x2x!ck.panel_block<32 x 8>>, %t: memref<6x3x!ck.block<q8_0>>, %y: memref<20x6xf32>) {
  // expected-error @below {{'ck.lm_head' op x is 'memref<3x2x!ck.panel_block<32 x 8>>', expected 96 features in blocks of 32 for 'memref<6x3x!ck.block<q8_0>>'}}
  ck.lm_head ins(%x, %t : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x3x!ck.block<q8_0>>) outs(%y : memref<20x6xf32>) depth 64
  return
}

// -----

func.func @depth_beyond_the_blocks(%x: memref<3x64x8xf32>, %t: memref<6x2x!ck.block<q8_0>>, %y: memref<20x6xf32>) {
  // expected-error @below {{'ck.lm_head' op depth is 65, the weight has 64}}
  ck.lm_head ins(%x, %t : memref<3x64x8xf32>, memref<6x2x!ck.block<q8_0>>) outs(%y : memref<20x6xf32>) depth 65
  return
}

// -----

func.func @linear_of_other_tokens(%x: memref<3x2x!ck.panel_block<32 x 8>>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x16xf32>) {
  // expected-error @below {{'ck.linear' op x is 'memref<3x2x!ck.panel_block<32 x 8>>' but out is 'memref<3x6x16xf32>', expected the same panels}}
  ck.linear ins(%x, %w, %b : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x16xf32>) rows 6 depth 64
  return
}

// -----

func.func @gated_linear_of_other_panels(%x: memref<3x2x!ck.panel_block<32 x 8>>, %w: memref<2x6x2x!ck.block<q8_0>>, %b: memref<2x6xf32>, %y: memref<2x6x8xf32>) {
  // expected-error @below {{'ck.gated_linear' op x is 'memref<3x2x!ck.panel_block<32 x 8>>' but out is 'memref<2x6x8xf32>', expected the same panels}}
  ck.gated_linear ins(%x, %w, %b : memref<3x2x!ck.panel_block<32 x 8>>, memref<2x6x2x!ck.block<q8_0>>, memref<2x6xf32>) outs(%y : memref<2x6x8xf32>) rows 6 depth 64
  return
}

// -----

func.func @attn_project_of_other_tokens(%x: memref<3x2x!ck.panel_block<32 x 8>>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x4xf32>) {
  // expected-error @below {{'ck.attn_project' op x is 'memref<3x2x!ck.panel_block<32 x 8>>' but out is 'memref<3x6x4xf32>', expected the same panels}}
  ck.attn_project ins(%x, %w, %b : memref<3x2x!ck.panel_block<32 x 8>>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x4xf32>) rows 6 depth 32
  return
}

// -----

func.func @heads_apart_in_blocks(%x: memref<3x64x8xf32>, %w: memref<2x6x1x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) {
  // expected-error @below {{'ck.attn_project' op weight is 'memref<2x6x1x!ck.block<q8_0>>', expected [rows][heads * depth] in blocks}}
  ck.attn_project ins(%x, %w, %b : memref<3x64x8xf32>, memref<2x6x1x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 32
  return
}

// -----

func.func @heads_together_in_floats(%x: memref<3x64x8xf32>, %w: memref<6x64xf16>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) {
  // expected-error @below {{'ck.attn_project' op weight is 'memref<6x64xf16>', expected [heads][rows][depth]}}
  ck.attn_project ins(%x, %w, %b : memref<3x64x8xf32>, memref<6x64xf16>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 32
  return
}

// -----

func.func @heads_that_share_no_row(%x: memref<3x60x8xf32>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) {
  // expected-error @below {{'ck.attn_project' op x holds 60 features, expected heads of 20 for the weight's rows of 64}}
  ck.attn_project ins(%x, %w, %b : memref<3x60x8xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 20
  return
}

// -----

// Once a division by zero.
func.func @no_heads(%x: memref<3x0x8xf32>, %w: memref<6x2x!ck.block<q8_0>>, %b: memref<6xf32>, %y: memref<3x6x8xf32>) {
  // expected-error @below {{'ck.attn_project' op x holds 0 features, expected heads of 20 for the weight's rows of 64}}
  ck.attn_project ins(%x, %w, %b : memref<3x0x8xf32>, memref<6x2x!ck.block<q8_0>>, memref<6xf32>) outs(%y : memref<3x6x8xf32>) rows 6 depth 20
  return
}
