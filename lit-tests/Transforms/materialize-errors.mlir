// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-materialize

// expected-error @below {{the module has no ck.model; import a graph or write #ck.model<...> on the module}}
func.func @no_model() {
  return
}

// -----

module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @activation_in_rows(%x: memref<40x32xf32>) {
  // expected-error @below {{'ck.buffer' op "residual1" is in rows; run ck-pack-activations before ck-materialize}}
  %y = ck.buffer scratch "residual1" layer 0 : memref<40x32xf32>
  ck.add ins(%x, %x : memref<40x32xf32>, memref<40x32xf32>) outs(%y : memref<40x32xf32>)
  return
}
}
