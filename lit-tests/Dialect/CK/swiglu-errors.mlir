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
