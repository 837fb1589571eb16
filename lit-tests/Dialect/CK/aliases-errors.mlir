// RUN: ck-opt %s -split-input-file -verify-diagnostics

// An op that writes what it also reads would read its own results.
func.func @linear_onto_its_input(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // expected-error @below {{'ck.linear' op writes operand #3, which is operand #0 too, expected another buffer}}
  ck.linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) outs(%x : memref<3x32x16xf32>) rows 32 depth 32
  return
}

// -----

// The last tile of rows is moved back over the one before, and would add the residual twice.
func.func @linear_onto_its_residual(%x: memref<3x32x16xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>, %y: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.linear' op writes operand #4, which is operand #3 too, expected another buffer}}
  ck.linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%y : memref<3x32x16xf32>) outs(%y : memref<3x32x16xf32>) rows 32 depth 32
  return
}

// -----

func.func @gated_linear_onto_its_input(%x: memref<3x32x16xf32>, %w: memref<2x32x32xf32>, %b: memref<2x32xf32>) {
  // expected-error @below {{'ck.gated_linear' op writes operand #3, which is operand #0 too, expected another buffer}}
  ck.gated_linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<2x32x32xf32>, memref<2x32xf32>) outs(%x : memref<3x32x16xf32>) rows 32 depth 32
  return
}

// -----

func.func @attn_project_onto_its_residual(%x: memref<3x32x16xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>, %y: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.attn_project' op writes operand #4, which is operand #3 too, expected another buffer}}
  ck.attn_project ins(%x, %w, %b : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%y : memref<3x32x16xf32>) outs(%y : memref<3x32x16xf32>) rows 32 depth 8
  return
}

// -----

// The sums start as zeros in the output, before the queries are read.
func.func @attention_onto_its_queries(%x: memref<2x32x16xf32>, %k: memref<2x32x16xf32>) {
  // expected-error @below {{'ck.attention' op writes operand #3, which is operand #0 too, expected another buffer}}
  ck.attention ins(%x, %k, %k : memref<2x32x16xf32>, memref<2x32x16xf32>, memref<2x32x16xf32>) outs(%x : memref<2x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @attention_onto_its_keys(%x: memref<2x32x16xf32>, %k: memref<2x32x16xf32>) {
  // expected-error @below {{'ck.attention' op writes operand #3, which is operand #1 too, expected another buffer}}
  ck.attention ins(%x, %k, %x : memref<2x32x16xf32>, memref<2x32x16xf32>, memref<2x32x16xf32>) outs(%k : memref<2x32x16xf32>) heads 4 head_dim 8
  return
}

// -----

func.func @split_into_one_buffer(%x: memref<3x32x16xf32>, %y: memref<3x16x16xf32>) {
  // expected-error @below {{'ck.split' op writes operand #1, which is operand #2 too, expected another buffer}}
  ck.split ins(%x : memref<3x32x16xf32>) outs(%y, %y : memref<3x16x16xf32>, memref<3x16x16xf32>)
  return
}

// -----

func.func @embed_onto_its_table(%i: memref<40xi32>, %x: memref<40x32xf32>) {
  // expected-error @below {{'ck.embed' op writes operand #2, which is operand #1 too, expected another buffer}}
  ck.embed ins(%i, %x : memref<40xi32>, memref<40x32xf32>) outs(%x : memref<40x32xf32>)
  return
}

// -----

func.func @lm_head_onto_its_input(%x: memref<40x32xf32>, %w: memref<32x32xf32>) {
  // expected-error @below {{'ck.lm_head' op writes operand #2, which is operand #0 too, expected another buffer}}
  ck.lm_head ins(%x, %w : memref<40x32xf32>, memref<32x32xf32>) outs(%x : memref<40x32xf32>) depth 32
  return
}

// -----

func.func @rope_by_itself(%x: memref<40x4xf32>, %s: memref<40x4xf32>) {
  // expected-error @below {{'ck.rope' op writes operand #0, which is operand #1 too, expected another buffer}}
  ck.rope inout(%x : memref<40x4xf32>) table(%x, %s : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// -----

// Rows are done in vectors, of which the last may overlap the one before.
func.func @add_in_rows_in_place(%a: memref<40x32xf32>, %b: memref<40x32xf32>) {
  // expected-error @below {{'ck.add' op writes operand #2, which is operand #0 too, expected another buffer}}
  ck.add ins(%a, %b : memref<40x32xf32>, memref<40x32xf32>) outs(%a : memref<40x32xf32>)
  return
}

// -----

func.func @swiglu_in_rows_in_place(%a: memref<40x32xf32>, %b: memref<40x32xf32>) {
  // expected-error @below {{'ck.swiglu' op writes operand #2, which is operand #1 too, expected another buffer}}
  ck.swiglu ins(%a, %b : memref<40x32xf32>, memref<40x32xf32>) outs(%b : memref<40x32xf32>)
  return
}

// -----

// Threads share the features of a row, and each reads the whole row.
func.func @rmsnorm_in_rows_in_place(%a: memref<40x32xf32>, %g: memref<32xf32>) {
  // expected-error @below {{'ck.rmsnorm' op writes operand #2, which is operand #0 too, expected another buffer}}
  ck.rmsnorm ins(%a, %g : memref<40x32xf32>, memref<32xf32>) outs(%a : memref<40x32xf32>) eps 1.0 features 32
  return
}

// -----

func.func @rmsnorm_whose_rstd_is_its_gamma(%a: memref<2x32x16xf32>, %g: memref<32xf32>) {
  // expected-error @below {{expected another buffer}}
  ck.rmsnorm ins(%a, %g : memref<2x32x16xf32>, memref<32xf32>) outs(%a : memref<2x32x16xf32>) rstd(%g : memref<32xf32>) eps 1.0 features 32
  return
}

// -----

// In panels these give each value from its own place.
func.func @panels_in_place(%a: memref<3x32x16xf32>, %b: memref<3x32x16xf32>, %g: memref<32xf32>) {
  ck.add ins(%a, %b : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%a : memref<3x32x16xf32>)
  ck.swiglu ins(%a, %b : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%a : memref<3x32x16xf32>)
  ck.rmsnorm ins(%a, %g : memref<3x32x16xf32>, memref<32xf32>) outs(%a : memref<3x32x16xf32>) eps 1.0 features 32
  return
}
