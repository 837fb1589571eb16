// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @inputs_differ(%gate: memref<3x32x16xf32>, %up: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.swiglu' op gate is 'memref<3x32x16xf32>' but up is 'memref<40x32xf32>'}}
  ck.swiglu ins(%gate, %up : memref<3x32x16xf32>, memref<40x32xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @out_differs(%gate: memref<3x32x16xf32>, %up: memref<3x32x16xf32>, %out: memref<3x33x16xf32>) {
  // expected-error @below {{'ck.swiglu' op gate is 'memref<3x32x16xf32>' but out is 'memref<3x33x16xf32>'}}
  ck.swiglu ins(%gate, %up : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x33x16xf32>)
  return
}

// -----

func.func @gate_of_unknown_size(%gate: memref<?x32x16xf32>, %up: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.swiglu' op operand #0 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<?x32x16xf32>'}}
  ck.swiglu ins(%gate, %up : memref<?x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @up_of_unknown_size(%gate: memref<3x32x16xf32>, %up: memref<3x?x16xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.swiglu' op operand #1 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.swiglu ins(%gate, %up : memref<3x32x16xf32>, memref<3x?x16xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @out_of_unknown_size(%gate: memref<3x32x16xf32>, %up: memref<3x32x16xf32>, %out: memref<3x32x?xf32>) {
  // expected-error @below {{'ck.swiglu' op operand #2 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x32x?xf32>'}}
  ck.swiglu ins(%gate, %up : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x32x?xf32>)
  return
}
