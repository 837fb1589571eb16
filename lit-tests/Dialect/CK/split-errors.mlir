// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @halves_differ(%x: memref<3x96x16xf32>, %first: memref<3x48x16xf32>, %second: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.split' op first is 'memref<3x48x16xf32>' but second is 'memref<3x32x16xf32>'}}
  ck.split ins(%x : memref<3x96x16xf32>) outs(%first, %second : memref<3x48x16xf32>, memref<3x32x16xf32>)
  return
}

// -----

func.func @panels_to_rows(%x: memref<3x96x16xf32>, %first: memref<40x48xf32>, %second: memref<40x48xf32>) {
  // expected-error @below {{'ck.split' op x is 'memref<3x96x16xf32>' but first is 'memref<40x48xf32>', expected the same rows or panels}}
  ck.split ins(%x : memref<3x96x16xf32>) outs(%first, %second : memref<40x48xf32>, memref<40x48xf32>)
  return
}

// -----

func.func @x_not_two_halves(%x: memref<3x97x16xf32>, %first: memref<3x48x16xf32>, %second: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.split' op x holds 97 features, expected 96}}
  ck.split ins(%x : memref<3x97x16xf32>) outs(%first, %second : memref<3x48x16xf32>, memref<3x48x16xf32>)
  return
}

// -----

func.func @x_rows_too_narrow(%x: memref<40x95xf32>, %first: memref<40x48xf32>, %second: memref<40x48xf32>) {
  // expected-error @below {{'ck.split' op x holds 95 features, expected at least 96}}
  ck.split ins(%x : memref<40x95xf32>) outs(%first, %second : memref<40x48xf32>, memref<40x48xf32>)
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<?x96x16xf32>, %first: memref<3x48x16xf32>, %second: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.split' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x96x16xf32>'}}
  ck.split ins(%x : memref<?x96x16xf32>) outs(%first, %second : memref<3x48x16xf32>, memref<3x48x16xf32>)
  return
}

// -----

func.func @first_of_unknown_size(%x: memref<3x96x16xf32>, %first: memref<3x?x16xf32>, %second: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.split' op operand #1 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.split ins(%x : memref<3x96x16xf32>) outs(%first, %second : memref<3x?x16xf32>, memref<3x48x16xf32>)
  return
}

// -----

func.func @second_of_unknown_size(%x: memref<3x96x16xf32>, %first: memref<3x48x16xf32>, %second: memref<3x48x?xf32>) {
  // expected-error @below {{'ck.split' op operand #2 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x48x?xf32>'}}
  ck.split ins(%x : memref<3x96x16xf32>) outs(%first, %second : memref<3x48x16xf32>, memref<3x48x?xf32>)
  return
}
