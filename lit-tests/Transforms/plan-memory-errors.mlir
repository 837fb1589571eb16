// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-plan-memory

module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @unknown_name() {
  // expected-error @below {{'ck.buffer' op "w9" of layer 0 is not in the arena plan of the module's ck.model}}
  %0 = ck.buffer weight "w9" layer 0 : memref<32x32xf32>
  return
}
}

// -----

module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @layer_past_the_last() {
  // expected-error @below {{'ck.buffer' op "wq" of layer 1 is not in the arena plan of the module's ck.model}}
  %0 = ck.buffer weight "wq" layer 1 : memref<4x16x32xf32>
  return
}
}

// -----

module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @layer_forgotten() {
  // expected-error @below {{'ck.buffer' op "wq" of no layer is not in the arena plan of the module's ck.model}}
  %0 = ck.buffer weight "wq" : memref<4x16x32xf32>
  return
}
}

// -----

// Without RoPE the seed has no tables of angles.
module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 0.0 : f32>} {
func.func @buffer_whose_condition_is_not_met() {
  // expected-error @below {{'ck.buffer' op "rope_cos_cache" of no layer is not in the arena plan of the module's ck.model}}
  %0 = ck.buffer slot "rope_cos_cache" : memref<40x4xf32>
  return
}
}

// -----

func.func @weight_without_a_model() {
  // expected-error @below {{'ck.buffer' op "wq" of layer 0 is not in the arena plan of a module without ck.model}}
  %0 = ck.buffer weight "wq" layer 0 : memref<4x16x32xf32>
  return
}

// -----

module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @too_large() {
  // expected-error @below {{'ck.buffer' op "wq" of layer 0 needs 16384 bytes, the arena plan has 8192}}
  %0 = ck.buffer weight "wq" layer 0 : memref<4x32x32xf32>
  return
}
}

// -----

// Regression: no heads gave a division by zero.
// expected-error @below {{ck.model: num_attention_heads is 0, expected a positive integer below 2147483648}}
module attributes {ck.model = #ck.model<layers = 1, hidden = 32, intermediate = 48, heads = 0, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
func.func @no_heads() {
  return
}
}

// -----

// expected-error @below {{the module has no ck.model; import a graph or write #ck.model<...> on the module}}
module attributes {ck.model = "smollm"} {
func.func @model_by_name() {
  return
}
}

// -----

// Each fits by itself, nine pass 2^63.
func.func @extras_too_large_together() {
  %0 = ck.buffer extra "a" : memref<2147483647x134217728xf32>
  %1 = ck.buffer extra "b" : memref<2147483647x134217728xf32>
  %2 = ck.buffer extra "c" : memref<2147483647x134217728xf32>
  %3 = ck.buffer extra "d" : memref<2147483647x134217728xf32>
  %4 = ck.buffer extra "e" : memref<2147483647x134217728xf32>
  %5 = ck.buffer extra "f" : memref<2147483647x134217728xf32>
  %6 = ck.buffer extra "g" : memref<2147483647x134217728xf32>
  %7 = ck.buffer extra "h" : memref<2147483647x134217728xf32>
  // expected-error @below {{'ck.buffer' op "i" of 1152921504069976064 bytes at byte 9223372032559808512 ends above 2^63; make the program's buffers smaller}}
  %8 = ck.buffer extra "i" : memref<2147483647x134217728xf32>
  return
}

// -----

func.func @scratch_too_large_together() {
  %0 = ck.buffer extra "a" : memref<2147483647x134217728xf32>
  %1 = ck.buffer extra "b" : memref<2147483647x134217728xf32>
  %2 = ck.buffer extra "c" : memref<2147483647x134217728xf32>
  %3 = ck.buffer extra "d" : memref<2147483647x134217728xf32>
  %4 = ck.buffer extra "e" : memref<2147483647x134217728xf32>
  %5 = ck.buffer extra "f" : memref<2147483647x134217728xf32>
  %6 = ck.buffer extra "g" : memref<2147483647x134217728xf32>
  %7 = ck.buffer scratch "first" : memref<2147483647x134217728xf32>
  // expected-error @below {{'ck.buffer' op "second" of 1152921504069976064 bytes at byte 9223372032559808512 ends above 2^63}}
  %8 = ck.buffer scratch "second" : memref<2147483647x134217728xf32>
  ck.add ins(%7, %8 : memref<2147483647x134217728xf32>, memref<2147483647x134217728xf32>) outs(%0 : memref<2147483647x134217728xf32>)
  return
}

// -----

func.func @first_program() {
  %tokens = ck.buffer extra "tokens" : memref<17xi32>
  return
}
func.func @other_type_of_one_name() {
  // expected-error @below {{'ck.buffer' op "tokens" is 'memref<4xi32>', in another program 'memref<17xi32>'; give one of them another name}}
  %tokens = ck.buffer extra "tokens" : memref<4xi32>
  return
}
