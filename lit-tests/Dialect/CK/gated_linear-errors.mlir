// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @too_many_rows(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op rows is 49, the weight has 48}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<3x48x16xf32>) rows 49 depth 32
  return
}

// -----

func.func @too_deep(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op depth is 33, the weight has 32}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 33
  return
}

// -----

func.func @x_narrower_than_depth(%x: memref<3x16x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op x holds 16 features, expected 32}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x16x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// -----

func.func @out_of_both_halves(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x96x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op out holds 96 features, expected 48}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<3x96x16xf32>) rows 48 depth 32
  return
}

// -----

func.func @three_groups(%x: memref<3x32x16xf32>, %w: memref<3x48x32xf32>, %bias: memref<3x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op weight has 3 groups of rows, expected 2: gate and up}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<3x48x32xf32>, memref<3x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// -----

func.func @bias_of_one_half(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<1x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op bias is 'memref<1x48xf32>', expected one value a row of 'memref<2x48x32xf32>'}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<1x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// -----

func.func @panels_to_rows(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<40x48xf32>) {
  // expected-error @below {{'ck.gated_linear' op x is 'memref<3x32x16xf32>' but out is 'memref<40x48xf32>', expected the same rows or panels}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<40x48xf32>) rows 48 depth 32
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<?x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, or 2D of panel blocks, but got 'memref<?x32x16xf32>'}}
  ck.gated_linear ins(%x, %w, %bias : memref<?x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// -----

func.func @w_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<2x?x32xf32>, %bias: memref<2x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op operand #1 must be statically shaped 3D memref of 32-bit float or bfloat16 type or 16-bit float or block of quantized weights values, but got 'memref<2x?x32xf32>'}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x?x32xf32>, memref<2x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// -----

func.func @bias_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<?x48xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op operand #2 must be statically shaped 2D memref of 32-bit float values, but got 'memref<?x48xf32>'}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<?x48xf32>) outs(%out : memref<3x48x16xf32>) rows 48 depth 32
  return
}

// -----

func.func @out_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<2x48x32xf32>, %bias: memref<2x48xf32>, %out: memref<?x48x16xf32>) {
  // expected-error @below {{'ck.gated_linear' op operand #3 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x48x16xf32>'}}
  ck.gated_linear ins(%x, %w, %bias : memref<3x32x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%out : memref<?x48x16xf32>) rows 48 depth 32
  return
}
