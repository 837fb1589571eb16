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
  // expected-error @below {{'ck.cross_entropy' op operand #1 must be statically shaped 1D memref of 32-bit signless integer values, but got 'memref<40xf32>'}}
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<40xf32>) outs(%out : memref<40xf32>)
  return
}

// -----

func.func @logits_of_unknown_size(%logits: memref<40x?xf32>, %targets: memref<40xi32>, %out: memref<40xf32>) {
  // expected-error @below {{'ck.cross_entropy' op operand #0 must be statically shaped 2D memref of 32-bit float values, but got 'memref<40x?xf32>'}}
  ck.cross_entropy ins(%logits, %targets : memref<40x?xf32>, memref<40xi32>) outs(%out : memref<40xf32>)
  return
}

// -----

func.func @targets_of_unknown_size(%logits: memref<40x64xf32>, %targets: memref<?xi32>, %out: memref<40xf32>) {
  // expected-error @below {{'ck.cross_entropy' op operand #1 must be statically shaped 1D memref of 32-bit signless integer values, but got 'memref<?xi32>'}}
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<?xi32>) outs(%out : memref<40xf32>)
  return
}

// -----

func.func @out_of_unknown_size(%logits: memref<40x64xf32>, %targets: memref<40xi32>, %out: memref<?xf32>) {
  // expected-error @below {{'ck.cross_entropy' op operand #2 must be statically shaped 1D memref of 32-bit float values, but got 'memref<?xf32>'}}
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<40xi32>) outs(%out : memref<?xf32>)
  return
}
