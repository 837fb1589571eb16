// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @head_dim_odd(%x: memref<3x32x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op head_dim is 7, expected an even number}}
  ck.rope inout(%x : memref<3x32x16xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 7
  return
}

// -----

func.func @head_dim_zero(%x: memref<3x32x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op head_dim is 0, expected an even number}}
  ck.rope inout(%x : memref<3x32x16xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 0
  return
}

// -----

func.func @tables_differ(%x: memref<3x32x16xf32>, %cos: memref<40x4xf32>, %sin: memref<41x4xf32>) {
  // expected-error @below {{'ck.rope' op cos is 'memref<40x4xf32>' but sin is 'memref<41x4xf32>'}}
  ck.rope inout(%x : memref<3x32x16xf32>) table(%cos, %sin : memref<40x4xf32>, memref<41x4xf32>) head_dim 8
  return
}

// -----

func.func @tables_of_a_whole_head(%x: memref<3x32x16xf32>, %cos: memref<40x8xf32>, %sin: memref<40x8xf32>) {
  // expected-error @below {{'ck.rope' op tables hold 8 angles a row, expected head_dim/2 = 4}}
  ck.rope inout(%x : memref<3x32x16xf32>) table(%cos, %sin : memref<40x8xf32>, memref<40x8xf32>) head_dim 8
  return
}

// -----

func.func @x_narrower_than_a_head(%x: memref<3x6x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op x's number of features is 6, expected at least 8}}
  ck.rope inout(%x : memref<3x6x16xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// -----

func.func @heads_of_rank_2(%x: memref<40x32xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op x is 'memref<40x32xf32>', expected heads of rank 3}}
  ck.rope inout(%x : memref<40x32xf32>) head_major table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// -----

func.func @heads_narrower_than_head_dim(%x: memref<2x40x6xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op x's head width is 6, expected at least 8}}
  ck.rope inout(%x : memref<2x40x6xf32>) head_major table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<?x32xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32xf32>'}}
  ck.rope inout(%x : memref<?x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// -----

func.func @cos_of_unknown_size(%x: memref<40x32xf32>, %cos: memref<40x?xf32>, %sin: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op operand #1 must be statically shaped 2D memref of 32-bit float values, but got 'memref<40x?xf32>'}}
  ck.rope inout(%x : memref<40x32xf32>) table(%cos, %sin : memref<40x?xf32>, memref<40x4xf32>) head_dim 8
  return
}

// -----

func.func @sin_of_unknown_size(%x: memref<40x32xf32>, %cos: memref<40x4xf32>, %sin: memref<?x4xf32>) {
  // expected-error @below {{'ck.rope' op operand #2 must be statically shaped 2D memref of 32-bit float values, but got 'memref<?x4xf32>'}}
  ck.rope inout(%x : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<?x4xf32>) head_dim 8
  return
}
