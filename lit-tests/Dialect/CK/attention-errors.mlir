// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @heads_not_a_multiple(%q: memref<3x32x16xf32>, %k: memref<3x40x16xf32>, %v: memref<3x40x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op has 4 heads, expected a multiple of the cache's 3}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<3x40x16xf32>, memref<3x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @no_heads(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op has 0 heads, expected a multiple of the cache's 2}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 0 head_dim 8
  return
}

// -----

func.func @no_kv_heads(%q: memref<3x32x16xf32>, %k: memref<0x40x16xf32>, %v: memref<0x40x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op has 4 heads, expected a multiple of the cache's 0}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<0x40x16xf32>, memref<0x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @k_unlike_v(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x41x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op k is 'memref<2x40x16xf32>' but v is 'memref<2x41x16xf32>'}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x41x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @cache_narrow(%q: memref<3x32x16xf32>, %k: memref<2x40x7xf32>, %v: memref<2x40x7xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op the cache's head width is 7, expected at least 8}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x7xf32>, memref<2x40x7xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @q_without_all_heads(%q: memref<3x24x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<3x24x16xf32>) {
  // expected-error @below {{'ck.attention' op q holds 24 features, expected 32}}
  ck.attention ins(%q, %k, %v : memref<3x24x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<3x24x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @out_without_all_heads(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<3x24x16xf32>) {
  // expected-error @below {{'ck.attention' op out holds 24 features, expected 32}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<3x24x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @panels_to_rows(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.attention' op q is 'memref<3x32x16xf32>' but out is 'memref<40x32xf32>', expected the same rows or panels}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<40x32xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @q_of_unknown_size(%q: memref<?x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32x16xf32>'}}
  ck.attention ins(%q, %k, %v : memref<?x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @k_of_unknown_size(%q: memref<3x32x16xf32>, %k: memref<2x?x16xf32>, %v: memref<2x40x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op operand #1 must be statically shaped 3D memref of 32-bit float values, but got 'memref<2x?x16xf32>'}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x?x16xf32>, memref<2x40x16xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @v_of_unknown_size(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x?xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attention' op operand #2 must be statically shaped 3D memref of 32-bit float values, but got 'memref<2x40x?xf32>'}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x?xf32>) outs(%out : memref<3x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @out_of_unknown_size(%q: memref<3x32x16xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %out: memref<?x32x16xf32>) {
  // expected-error @below {{'ck.attention' op operand #3 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32x16xf32>'}}
  ck.attention ins(%q, %k, %v : memref<3x32x16xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%out : memref<?x32x16xf32>) heads 4 head_dim 8
  return
}
