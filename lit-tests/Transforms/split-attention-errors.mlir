// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-split-attention
// RUN: not ck-opt %s -split-input-file -ck-split-attention=keys=0 2>&1 | FileCheck %s
// RUN: not ck-opt %s -split-input-file -ck-split-attention=keys=-128 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// Nobody asks for keys where there is no program in rows.
func.func @panels() {
  return
}

// -----

// CHECK: error: keys is 0, expected at least 1
// NEGATIVE: error: keys is -128, expected at least 1
func.func @rows() attributes {ck.rows} {
  return
}

// -----

// What isn't in rows isn't split.
func.func @panels_in_a_program_of_rows(%q: memref<1x8x16xf32>, %k: memref<1x5x16xf32>, %y: memref<1x8x16xf32>) attributes {ck.rows} {
  // expected-error @below {{'ck.attention_part' op q is 'memref<1x8x16xf32>', expected rows}}
  ck.attention ins(%q, %k, %k : memref<1x8x16xf32>, memref<1x5x16xf32>, memref<1x5x16xf32>) outs(%y : memref<1x8x16xf32>) heads 1 head_dim 8
  return
}
