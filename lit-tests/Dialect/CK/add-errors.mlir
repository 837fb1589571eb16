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
