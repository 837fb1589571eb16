// RUN: split-file %s %t
// RUN: ck-opt %t/target.mlir -verify-diagnostics -ck-select-strategy
// RUN: ck-opt %t/rows.mlir -verify-diagnostics -ck-select-strategy=rows=17
// RUN: ck-opt %t/vectors.mlir -verify-diagnostics -ck-select-strategy=vectors=-1
// RUN: ck-opt %t/panels.mlir -verify-diagnostics -ck-select-strategy=panels=-1
// RUN: ck-opt %t/unroll.mlir -verify-diagnostics -ck-select-strategy=unroll=17

//--- target.mlir
// expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
module {
}

//--- rows.mlir
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func @rows_beyond_a_tile(%x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op tile rows is 17, expected 1 to 16}}
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}

//--- vectors.mlir
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func @vectors_negative(%q: memref<5x24x8xf32>, %o: memref<5x24x8xf32>, %k: memref<1x40x16xf32>) {
  // expected-error @below {{'ck.attention' op tile vectors is -1, expected 1 to 8}}
  ck.attention ins(%q, %k, %k : memref<5x24x8xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%o : memref<5x24x8xf32>) heads 3 head_dim 8
  return
}
}

//--- panels.mlir
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func @panels_negative(%x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op tile panels is -1, expected at least vectors = 3}}
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}

//--- unroll.mlir
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func @unroll_beyond_a_tile(%x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op tile unroll is 17, expected 1 to 16}}
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}
