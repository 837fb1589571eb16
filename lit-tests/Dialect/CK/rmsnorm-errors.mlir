// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @no_features(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.rmsnorm' op features is 0, expected at least 1}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) eps 1.000000e-05 features 0
  return
}

// -----

func.func @x_too_narrow(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %out: memref<40x48xf32>) {
  // expected-error @below {{'ck.rmsnorm' op x holds 32 features, expected at least 33}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<40x48xf32>) eps 1.000000e-05 features 33
  return
}

// -----

func.func @out_too_narrow(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %out: memref<40x16xf32>) {
  // expected-error @below {{'ck.rmsnorm' op out holds 16 features, expected at least 32}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<40x16xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @panels_of_other_features(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.rmsnorm' op x holds 32 features, expected 31}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) eps 1.000000e-05 features 31
  return
}

// -----

func.func @gamma_too_short(%x: memref<40x32xf32>, %gamma: memref<31xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.rmsnorm' op gamma's length is 31, expected at least 32}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<31xf32>) outs(%out : memref<40x32xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @rows_to_panels(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.rmsnorm' op x is 'memref<40x32xf32>' but out is 'memref<3x32x16xf32>', expected the same rows or panels}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @other_number_of_rows(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %out: memref<41x32xf32>) {
  // expected-error @below {{'ck.rmsnorm' op x is 'memref<40x32xf32>' but out is 'memref<41x32xf32>', expected the same rows or panels}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<41x32xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @other_number_of_lanes(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %out: memref<3x32x8xf32>) {
  // expected-error @below {{'ck.rmsnorm' op x is 'memref<3x32x16xf32>' but out is 'memref<3x32x8xf32>', expected the same rows or panels}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x8xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @rstd_shorter_than_rows(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %rstd: memref<39xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.rmsnorm' op rstd's length is 39, expected 40: one value for each token of x, 'memref<40x32xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rstd(%rstd : memref<39xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @rstd_longer_than_rows(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %rstd: memref<41xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.rmsnorm' op rstd's length is 41, expected 40: one value for each token of x, 'memref<40x32xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rstd(%rstd : memref<41xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @rstd_ends_before_the_last_panel(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %rstd: memref<32xf32>) {
  // expected-error @below {{'ck.rmsnorm' op rstd's length is 32, expected 33 to 48: one value for each token of x, 'memref<3x32x16xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%x : memref<3x32x16xf32>) rstd(%rstd : memref<32xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @rstd_longer_than_panels(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %rstd: memref<49xf32>) {
  // expected-error @below {{'ck.rmsnorm' op rstd's length is 49, expected 33 to 48: one value for each token of x, 'memref<3x32x16xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%x : memref<3x32x16xf32>) rstd(%rstd : memref<49xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @rstd_of_rank_2(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %rstd: memref<40x1xf32>) {
  // expected-error @below {{'ck.rmsnorm' op operand #3 must be statically shaped 1D memref of 32-bit float values, but got 'memref<40x1xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%x : memref<3x32x16xf32>) rstd(%rstd : memref<40x1xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<3x32x?xf32>, %gamma: memref<32xf32>, %out: memref<3x32x16xf32>, %rstd: memref<40xf32>) {
  // expected-error @below {{'ck.rmsnorm' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x32x?xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x?xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rstd(%rstd : memref<40xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @gamma_of_unknown_size(%x: memref<3x32x16xf32>, %gamma: memref<?xf32>, %out: memref<3x32x16xf32>, %rstd: memref<40xf32>) {
  // expected-error @below {{'ck.rmsnorm' op operand #1 must be statically shaped 1D memref of 32-bit float values, but got 'memref<?xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<?xf32>) outs(%out : memref<3x32x16xf32>) rstd(%rstd : memref<40xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @out_of_unknown_size(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %out: memref<3x?x16xf32>, %rstd: memref<40xf32>) {
  // expected-error @below {{'ck.rmsnorm' op operand #2 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%out : memref<3x?x16xf32>) rstd(%rstd : memref<40xf32>) eps 1.000000e-05 features 32
  return
}

// -----

func.func @rstd_of_unknown_size(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %out: memref<3x32x16xf32>, %rstd: memref<?xf32>) {
  // expected-error @below {{'ck.rmsnorm' op operand #3 must be statically shaped 1D memref of 32-bit float values, but got 'memref<?xf32>'}}
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) rstd(%rstd : memref<?xf32>) eps 1.000000e-05 features 32
  return
}
