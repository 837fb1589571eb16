// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @out_in_panels(%parts: memref<4x4x3x32xf32>, %out: memref<1x32x16xf32>) {
  // expected-error @below {{'ck.attention_merge' op out is 'memref<1x32x16xf32>', expected rows}}
  ck.attention_merge ins(%parts : memref<4x4x3x32xf32>) outs(%out : memref<1x32x16xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @keys_negative(%parts: memref<4x4x3x32xf32>, %out: memref<4x32xf32>) {
  // expected-error @below {{'ck.attention_merge' op keys is -1, expected at least 1}}
  ck.attention_merge ins(%parts : memref<4x4x3x32xf32>) outs(%out : memref<4x32xf32>) heads 4 head_dim 8 keys -1
  return
}

// -----

func.func @parts_of_other_heads(%parts: memref<4x4x3x32xf32>, %out: memref<4x32xf32>) {
  // expected-error @below {{'ck.attention_merge' op parts has 4 heads, expected 5}}
  ck.attention_merge ins(%parts : memref<4x4x3x32xf32>) outs(%out : memref<4x32xf32>) heads 5 head_dim 8 keys 128
  return
}

// -----

func.func @parts_narrow(%parts: memref<4x4x3x23xf32>, %out: memref<4x32xf32>) {
  // expected-error @below {{'ck.attention_merge' op the width of a part is 23, expected at least 24}}
  ck.attention_merge ins(%parts : memref<4x4x3x23xf32>) outs(%out : memref<4x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @out_without_all_heads(%parts: memref<4x4x3x32xf32>, %out: memref<4x31xf32>) {
  // expected-error @below {{'ck.attention_merge' op out holds 31 features, expected at least 32}}
  ck.attention_merge ins(%parts : memref<4x4x3x32xf32>) outs(%out : memref<4x31xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @parts_of_too_few_tokens(%parts: memref<3x4x3x32xf32>, %out: memref<4x32xf32>) {
  // expected-error @below {{'ck.attention_merge' op the number of tokens in parts is 3, expected at least 4}}
  ck.attention_merge ins(%parts : memref<3x4x3x32xf32>) outs(%out : memref<4x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @parts_of_unknown_size(%parts: memref<4x4x?x32xf32>, %out: memref<4x32xf32>) {
  // expected-error @below {{'ck.attention_merge' op operand #0 must be statically shaped 4D memref of 32-bit float values, but got 'memref<4x4x?x32xf32>'}}
  ck.attention_merge ins(%parts : memref<4x4x?x32xf32>) outs(%out : memref<4x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// -----

func.func @out_of_unknown_size(%parts: memref<4x4x3x32xf32>, %out: memref<?x32xf32>) {
  // expected-error @below {{'ck.attention_merge' op operand #1 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32xf32>'}}
  ck.attention_merge ins(%parts : memref<4x4x3x32xf32>) outs(%out : memref<?x32xf32>) heads 4 head_dim 8 keys 128
  return
}
