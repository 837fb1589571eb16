// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-plan-memory=training

// Each matrix fits 63 bits, all of them with their gradients don't.
// expected-error @below {{arena: layer 0 d_w2: offset plus size found above 2^63 bytes, expected below; make the config's dims smaller}}
module attributes {ck.model = #ck.model<layers = 1, hidden = 536870912, intermediate = 536870912, heads = 64, kvHeads = 64, vocab = 64, window = 1, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @arena_beyond_63_bits() {
  return
}
}

// -----

// The scores of a layer are kept only in training.
module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @scores_larger_than_planned() {
  // expected-error @below {{'ck.buffer' op "scores" of layer 0 needs 40000 bytes, the arena plan has 36864}}
  %0 = ck.buffer slot "scores" layer 0 : memref<4x50x50xf32>
  return
}
}
