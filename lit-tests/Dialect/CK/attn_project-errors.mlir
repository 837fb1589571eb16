// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @too_many_rows(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op rows is 33, the weight has 32}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rows 33 depth 8
  return
}

// -----

func.func @too_deep(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op depth is 17, the weight has 16}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 17
  return
}

// -----

func.func @x_of_other_heads(%x: memref<3x24x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op x holds 24 features, expected 32}}
  ck.attn_project ins(%x, %w, %bias : memref<3x24x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @out_of_other_rows(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %out: memref<3x33x16xf32>) {
  // expected-error @below {{'ck.attn_project' op out holds 33 features, expected 32}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%out : memref<3x33x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @bias_short(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<31xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op bias's length is 31, expected at least 32}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<31xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @residual_in_rows(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %res: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op residual is 'memref<40x32xf32>' but out is 'memref<3x32x16xf32>'}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%res : memref<40x32xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<3x?x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, or 2D of panel blocks, but got 'memref<3x?x16xf32>'}}
  ck.attn_project ins(%x, %w, %bias : memref<3x?x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @w_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x32x?xf32>, %bias: memref<32xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op operand #1 must be statically shaped 2D/3D memref of 32-bit float or bfloat16 type or 16-bit float or block of quantized weights values, but got 'memref<4x32x?xf32>'}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x?xf32>, memref<32xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @bias_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<?xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op operand #2 must be statically shaped 1D memref of 32-bit float values, but got 'memref<?xf32>'}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<?xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @res_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %res: memref<3x?x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op operand #3 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%res : memref<3x?x16xf32>) outs(%out : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

func.func @out_of_unknown_size(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %bias: memref<32xf32>, %res: memref<3x32x16xf32>, %out: memref<3x32x?xf32>) {
  // expected-error @below {{'ck.attn_project' op operand #4 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x32x?xf32>'}}
  ck.attn_project ins(%x, %w, %bias : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%res : memref<3x32x16xf32>) outs(%out : memref<3x32x?xf32>) rows 32 depth 8
  return
}
