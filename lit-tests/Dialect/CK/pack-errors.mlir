// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @x_narrower_than_out(%x: memref<40x32xf32>, %out: memref<3x33x16xf32>) {
  // expected-error @below {{'ck.pack' op x holds 32 features, out 33}}
  ck.pack ins(%x : memref<40x32xf32>) outs(%out : memref<3x33x16xf32>)
  return
}

// -----

func.func @too_few_panels(%x: memref<40x32xf32>, %out: memref<2x32x16xf32>) {
  // expected-error @below {{'ck.pack' op out's number of tokens is 32, expected at least 40}}
  ck.pack ins(%x : memref<40x32xf32>) outs(%out : memref<2x32x16xf32>)
  return
}

// -----

func.func @to_rows(%x: memref<40x32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.pack' op operand #1 must be statically shaped 3D memref of 32-bit float values, but got 'memref<40x32xf32>'}}
  ck.pack ins(%x : memref<40x32xf32>) outs(%out : memref<40x32xf32>)
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<40x?xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.pack' op operand #0 must be statically shaped 2D memref of 32-bit float values, but got 'memref<40x?xf32>'}}
  ck.pack ins(%x : memref<40x?xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @out_of_unknown_size(%x: memref<40x32xf32>, %out: memref<3x?x16xf32>) {
  // expected-error @below {{'ck.pack' op operand #1 must be statically shaped 3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.pack ins(%x : memref<40x32xf32>) outs(%out : memref<3x?x16xf32>)
  return
}
