// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @targets_short(%logits: memref<40x64xf32>, %targets: memref<39xi32>, %out: memref<40xf32>) {
  // expected-error @below {{'ck.cross_entropy' op targets' length is 39, expected at least 40}}
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<39xi32>) outs(%out : memref<40xf32>)
  return
}

// -----

func.func @out_short(%logits: memref<40x64xf32>, %targets: memref<40xi32>, %out: memref<39xf32>) {
  // expected-error @below {{'ck.cross_entropy' op out's length is 39, expected at least 40}}
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<40xi32>) outs(%out : memref<39xf32>)
  return
}

// -----

func.func @targets_of_floats(%logits: memref<40x64xf32>, %targets: memref<40xf32>, %out: memref<40xf32>) {
  // expected-error @below {{'ck.cross_entropy' op operand #1 must be 1D memref of 32-bit signless integer values, but got 'memref<40xf32>'}}
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<40xf32>) outs(%out : memref<40xf32>)
  return
}
