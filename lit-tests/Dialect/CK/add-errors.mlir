// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @inputs_differ(%a: memref<3x32x16xf32>, %b: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.add' op a is 'memref<3x32x16xf32>' but b is 'memref<40x32xf32>'}}
  ck.add ins(%a, %b : memref<3x32x16xf32>, memref<40x32xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @out_differs(%a: memref<3x32x16xf32>, %b: memref<3x32x16xf32>, %out: memref<3x33x16xf32>) {
  // expected-error @below {{'ck.add' op a is 'memref<3x32x16xf32>' but out is 'memref<3x33x16xf32>'}}
  ck.add ins(%a, %b : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x33x16xf32>)
  return
}

// -----

func.func @a_of_unknown_size(%a: memref<?x32x16xf32>, %b: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.add' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32x16xf32>'}}
  ck.add ins(%a, %b : memref<?x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @b_of_unknown_size(%a: memref<3x32x16xf32>, %b: memref<3x?x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.add' op operand #1 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.add ins(%a, %b : memref<3x32x16xf32>, memref<3x?x16xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @out_of_unknown_size(%a: memref<3x32x16xf32>, %b: memref<3x32x16xf32>, %out: memref<3x32x?xf32>) {
  // expected-error @below {{'ck.add' op operand #2 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x32x?xf32>'}}
  ck.add ins(%a, %b : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x32x?xf32>)
  return
}
