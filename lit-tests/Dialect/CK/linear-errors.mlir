// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @no_rows(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op rows is 0, the weight has 32}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rows 0 depth 32
  return
}

// -----

func.func @too_many_rows(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op rows is 33, the weight has 32}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rows 33 depth 32
  return
}

// -----

func.func @too_many_rows_of_a_head(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op rows is 17, the weight has 16}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%out : memref<40x32xf32>) rows 17 depth 32
  return
}

// -----

func.func @no_depth(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op depth is 0, the weight has 32}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rows 32 depth 0
  return
}

// -----

func.func @too_deep(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op depth is 33, the weight has 32}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rows 32 depth 33
  return
}

// -----

func.func @x_narrower_than_depth(%x: memref<40x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op x holds 16 features, expected at least 32}}
  ck.linear ins(%x, %w, %bias : memref<40x16xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rows 32 depth 32
  return
}

// -----

func.func @x_panels_wider_than_depth(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op x holds 32 features, expected 31}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 31
  return
}

// -----

func.func @bias_short(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %bias: memref<31xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op bias is 'memref<31xf32>', expected one value a row of 'memref<32x32xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<32x32xf32>, memref<31xf32>) outs(%out : memref<40x32xf32>) rows 32 depth 32
  return
}

// -----

func.func @bias_of_one_head(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %bias: memref<1x16xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op bias is 'memref<1x16xf32>', expected one value a row of 'memref<4x16x32xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<4x16x32xf32>, memref<1x16xf32>) outs(%out : memref<40x32xf32>) rows 8 depth 32
  return
}

// -----

func.func @rope_of_odd_heads(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<3x36x16xf32>) {
  // expected-error @below {{'ck.linear' op rotates heads of 9 rows, expected an even number}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<3x36x16xf32>) rows 9 depth 32
  return
}

// -----

func.func @rope_tables_differ(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x5x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op cos is 'memref<3x4x16xf32>' but sin is 'memref<3x5x16xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x5x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @rope_tables_of_a_whole_head(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x8x16xf32>, %sin: memref<3x8x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op tables hold 8 angles a row, expected rows/2 = 4}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x8x16xf32>, memref<3x8x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @rope_and_residual(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %res: memref<3x32x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op has both rope and residual, expected one of them}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) residual(%res : memref<3x32x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @head_major_and_residual(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>, %bias: memref<2x16xf32>, %res: memref<2x40x16xf32>, %out: memref<2x40x16xf32>) {
  // expected-error @below {{'ck.linear' op has both head_major and residual, expected one of them}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) residual(%res : memref<2x40x16xf32>) outs(%out : memref<2x40x16xf32>) head_major rows 8 depth 32
  return
}

// -----

func.func @out_too_narrow(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<40x31xf32>) {
  // expected-error @below {{'ck.linear' op out holds 31 features, expected at least 32}}
  ck.linear ins(%x, %w, %bias : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<40x31xf32>) rows 32 depth 32
  return
}

// -----

func.func @out_panels_too_wide(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<3x33x16xf32>) {
  // expected-error @below {{'ck.linear' op out holds 33 features, expected 32}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<3x33x16xf32>) rows 32 depth 32
  return
}

// -----

func.func @out_without_all_heads(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %out: memref<3x24x16xf32>) {
  // expected-error @below {{'ck.linear' op out holds 24 features, expected 32}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%out : memref<3x24x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @heads_missing_in_out(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>, %bias: memref<2x16xf32>, %out: memref<1x40x16xf32>) {
  // expected-error @below {{'ck.linear' op out is 'memref<1x40x16xf32>', expected 2 heads of at least 8 lanes}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%out : memref<1x40x16xf32>) head_major rows 8 depth 32
  return
}

// -----

func.func @heads_narrow_in_out(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>, %bias: memref<2x16xf32>, %out: memref<2x40x7xf32>) {
  // expected-error @below {{'ck.linear' op out is 'memref<2x40x7xf32>', expected 2 heads of at least 8 lanes}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%out : memref<2x40x7xf32>) head_major rows 8 depth 32
  return
}

// -----

func.func @heads_of_a_plain_weight(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %out: memref<1x40x32xf32>) {
  // expected-error @below {{'ck.linear' op out is 'memref<1x40x32xf32>', expected 1 heads of at least 32 lanes}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) outs(%out : memref<1x40x32xf32>) head_major rows 32 depth 32
  return
}

// -----

func.func @heads_to_rows(%x: memref<3x32x16xf32>, %w: memref<2x16x32xf32>, %bias: memref<2x16xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op out is 'memref<40x32xf32>', expected 2 heads of at least 8 lanes}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%out : memref<40x32xf32>) head_major rows 8 depth 32
  return
}

// -----

func.func @residual_in_rows(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %res: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op residual is 'memref<40x32xf32>' but out is 'memref<3x32x16xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%res : memref<40x32xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 32
  return
}

// -----

func.func @cos_without_sin(%x: memref<3x32x16xf32>, %out: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>) {
  // expected-error @below {{'ck.linear' op has one of cos and sin, expected both or none}}
  "ck.linear"(%x, %w, %bias, %cos, %out) <{depth = 32 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 1>, rows = 8 : i64}>
    : (memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>, memref<3x4x16xf32>, memref<3x32x16xf32>) -> ()
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<3x?x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, or 2D of panel blocks, but got 'memref<3x?x16xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x?x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @w_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x16x?xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op operand #1 must be statically shaped 2D/3D memref of 32-bit float or bfloat16 type or 16-bit float or block of quantized weights values, but got 'memref<4x16x?xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x?xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @bias_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x?xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op operand #2 must be statically shaped 1D/2D memref of 32-bit float values, but got 'memref<4x?xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x?xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @cos_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x?x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op operand #3 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x?x16xf32>, memref<3x4x16xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @sin_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x?xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op operand #4 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x4x?xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x?xf32>) outs(%out : memref<3x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @out_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %bias: memref<4x16xf32>, %cos: memref<3x4x16xf32>, %sin: memref<3x4x16xf32>, %out: memref<?x32x16xf32>) {
  // expected-error @below {{'ck.linear' op operand #5 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32x16xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%out : memref<?x32x16xf32>) rows 8 depth 32
  return
}

// -----

func.func @res_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %bias: memref<32xf32>, %res: memref<3x?x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op operand #3 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%res : memref<3x?x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 32
  return
}
