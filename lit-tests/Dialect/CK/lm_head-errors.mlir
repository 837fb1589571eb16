// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @empty_table(%x: memref<3x32x16xf32>, %table: memref<0x32xf32>, %out: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op rows is 1, the weight has 0}}
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<0x32xf32>) outs(%out : memref<40x64xf32>) depth 32
  return
}

// -----

func.func @no_depth(%x: memref<3x32x16xf32>, %table: memref<64x32xf32>, %out: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op depth is 0, the weight has 32}}
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<64x32xf32>) outs(%out : memref<40x64xf32>) depth 0
  return
}

// -----

func.func @too_deep(%x: memref<3x32x16xf32>, %table: memref<64x32xf32>, %out: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op depth is 33, the weight has 32}}
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<64x32xf32>) outs(%out : memref<40x64xf32>) depth 33
  return
}

// -----

func.func @x_narrower_than_depth(%x: memref<3x16x16xf32>, %table: memref<64x32xf32>, %out: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op x holds 16 features, expected 32}}
  ck.lm_head ins(%x, %table : memref<3x16x16xf32>, memref<64x32xf32>) outs(%out : memref<40x64xf32>) depth 32
  return
}

// -----

func.func @out_of_another_vocabulary(%x: memref<3x32x16xf32>, %table: memref<64x32xf32>, %out: memref<40x63xf32>) {
  // expected-error @below {{'ck.lm_head' op out has 63 columns, the table 64 rows}}
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<64x32xf32>) outs(%out : memref<40x63xf32>) depth 32
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<3x?x16xf32>, %table: memref<64x32xf32>, %out: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, or 2D of panel blocks, but got 'memref<3x?x16xf32>'}}
  ck.lm_head ins(%x, %table : memref<3x?x16xf32>, memref<64x32xf32>) outs(%out : memref<40x64xf32>) depth 32
  return
}

// -----

func.func @table_of_unknown_size(%x: memref<3x32x16xf32>, %table: memref<64x?xf32>, %out: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op operand #1 must be statically shaped 2D memref of 32-bit float or bfloat16 type or 16-bit float or block of quantized weights values, but got 'memref<64x?xf32>'}}
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<64x?xf32>) outs(%out : memref<40x64xf32>) depth 32
  return
}

// -----

func.func @out_of_unknown_size(%x: memref<3x32x16xf32>, %table: memref<64x32xf32>, %out: memref<?x64xf32>) {
  // expected-error @below {{'ck.lm_head' op operand #2 must be statically shaped 2D memref of 32-bit float values, but got 'memref<?x64xf32>'}}
  ck.lm_head ins(%x, %table : memref<3x32x16xf32>, memref<64x32xf32>) outs(%out : memref<?x64xf32>) depth 32
  return
}
