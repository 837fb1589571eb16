// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @heads_not_a_multiple(%q: memref<4x32xf32>, %k: memref<3x300x16xf32>, %v: memref<3x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op has 4 heads, expected a multiple of the cache's 3}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<3x300x16xf32>, memref<3x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @no_heads(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op has 0 heads, expected a multiple of the cache's 2}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 0 head_dim 8 keys 128
  return
}

// -----

func.func @no_kv_heads(%q: memref<4x32xf32>, %k: memref<0x300x16xf32>, %v: memref<0x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op has 4 heads, expected a multiple of the cache's 0}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<0x300x16xf32>, memref<0x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @q_in_panels(%q: memref<1x32x16xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op q is 'memref<1x32x16xf32>', expected rows}}
  ck.attention_part ins(%q, %k, %v : memref<1x32x16xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @k_unlike_v(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x301x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op k is 'memref<2x300x16xf32>' but v is 'memref<2x301x16xf32>'}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x301x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @cache_narrow(%q: memref<4x32xf32>, %k: memref<2x300x7xf32>, %v: memref<2x300x7xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op the cache's head width is 7, expected at least 8}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x7xf32>, memref<2x300x7xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @q_without_all_heads(%q: memref<4x24xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op q holds 24 features, expected at least 32}}
  ck.attention_part ins(%q, %k, %v : memref<4x24xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @no_keys(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op keys is 0, expected at least 1}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 0
  return
}

// -----

func.func @parts_of_other_heads(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x2x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op parts has 2 heads, expected 4}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x2x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @parts_narrow(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x31xf32>) {
  // expected-error @below {{'ck.attention_part' op the width of a part is 31, expected at least 32}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x31xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @parts_wide(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x33xf32>) {
  // expected-error @below {{'ck.attention_part' op the width of a part is 33, expected the cache's 16 + 16}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x33xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @parts_of_too_few_blocks(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x2x32xf32>) {
  // expected-error @below {{'ck.attention_part' op the number of blocks is 2, expected at least 3}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x2x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @parts_of_too_few_tokens(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<3x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op the number of tokens in parts is 3, expected at least 4}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<3x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @q_of_unknown_size(%q: memref<?x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32xf32>'}}
  ck.attention_part ins(%q, %k, %v : memref<?x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @k_of_unknown_size(%q: memref<4x32xf32>, %k: memref<2x?x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op operand #1 must be statically shaped 3D memref of 32-bit float values, but got 'memref<2x?x16xf32>'}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x?x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @v_of_unknown_size(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x?xf32>, %parts: memref<4x4x3x32xf32>) {
  // expected-error @below {{'ck.attention_part' op operand #2 must be statically shaped 3D memref of 32-bit float values, but got 'memref<2x300x?xf32>'}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x?xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @parts_of_unknown_size(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x?x32xf32>) {
  // expected-error @below {{'ck.attention_part' op operand #3 must be statically shaped 4D memref of 32-bit float values, but got 'memref<4x4x?x32xf32>'}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x?x32xf32>) heads 4 head_dim 8 keys 128
  return
}
