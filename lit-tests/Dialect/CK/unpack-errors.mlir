// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @no_segments(%x: memref<3x32x16xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.unpack' op has 0 segments of 32 features, expected a divisor}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<40x32xf32>) segments 0
  return
}

// -----

func.func @segments_not_a_divisor(%x: memref<3x32x16xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.unpack' op has 3 segments of 32 features, expected a divisor}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<40x32xf32>) segments 3
  return
}

// -----

func.func @other_number_of_heads(%x: memref<3x32x16xf32>, %out: memref<4x40x16xf32>) {
  // expected-error @below {{'ck.unpack' op has 2 segments, out has 4 heads}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<4x40x16xf32>) segments 2
  return
}

// -----

func.func @heads_narrow(%x: memref<3x32x16xf32>, %out: memref<4x40x7xf32>) {
  // expected-error @below {{'ck.unpack' op out's segment width is 7, expected at least 8}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<4x40x7xf32>) segments 4
  return
}

// -----

func.func @rows_narrow(%x: memref<3x32x16xf32>, %out: memref<40x31xf32>) {
  // expected-error @below {{'ck.unpack' op out's segment width is 31, expected at least 32}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<40x31xf32>) segments 1
  return
}

// -----

func.func @halves_narrow(%x: memref<3x32x16xf32>, %out: memref<40x30xf32>) {
  // expected-error @below {{'ck.unpack' op out's segment width is 15, expected at least 16}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<40x30xf32>) segments 2
  return
}

// -----

func.func @x_of_unknown_size(%x: memref<3x32x?xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.unpack' op operand #0 must be statically shaped 3D memref of 32-bit float values, but got 'memref<3x32x?xf32>'}}
  ck.unpack ins(%x : memref<3x32x?xf32>) outs(%out : memref<40x32xf32>) segments 1
  return
}

// -----

func.func @out_of_unknown_size(%x: memref<3x32x16xf32>, %out: memref<?x32xf32>) {
  // expected-error @below {{'ck.unpack' op operand #1 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32xf32>'}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<?x32xf32>) segments 1
  return
}
