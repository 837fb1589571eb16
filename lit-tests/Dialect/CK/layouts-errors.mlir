// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @rows_a_stride_apart(%x: memref<40x32xf32, strided<[64, 1]>>, %w: memref<32x32xf32>, %b: memref<32xf32>, %y: memref<40x32xf32>) {
  // expected-error @below {{'ck.linear' op operand #0 is 'memref<40x32xf32, strided<[64, 1]>>', expected a memref without a layout}}
  ck.linear ins(%x, %w, %b : memref<40x32xf32, strided<[64, 1]>>, memref<32x32xf32>, memref<32xf32>) outs(%y : memref<40x32xf32>) rows 32 depth 32
  return
}

// -----

func.func @weight_behind_an_offset(%x: memref<40x32xf32>, %w: memref<32x32xf32, strided<[32, 1], offset: 8>>, %y: memref<40x32xf32>) {
  // expected-error @below {{'ck.lm_head' op operand #1 is 'memref<32x32xf32, strided<[32, 1], offset: 8>>', expected a memref without a layout}}
  ck.lm_head ins(%x, %w : memref<40x32xf32>, memref<32x32xf32, strided<[32, 1], offset: 8>>) outs(%y : memref<40x32xf32>) depth 32
  return
}

// -----

func.func @result_turned(%x: memref<3x32x16xf32>, %y: memref<3x32x16xf32, affine_map<(d0, d1, d2) -> (d2, d1, d0)>>) {
  // expected-error @below {{'ck.unpack' op operand #1 is 'memref<3x32x16xf32, affine_map<(d0, d1, d2) -> (d2, d1, d0)>>', expected a memref without a layout}}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%y : memref<3x32x16xf32, affine_map<(d0, d1, d2) -> (d2, d1, d0)>>) segments 3
  return
}

// -----

func.func @more_bytes_than_can_be_counted(%x: memref<4294967296x4294967296xf32>) {
  // expected-error @below {{'ck.add' op operand #0 is 'memref<4294967296x4294967296xf32>', expected less than 2^60 bytes}}
  ck.add ins(%x, %x : memref<4294967296x4294967296xf32>, memref<4294967296x4294967296xf32>) outs(%x : memref<4294967296x4294967296xf32>)
  return
}
