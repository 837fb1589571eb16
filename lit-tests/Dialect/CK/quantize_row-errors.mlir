// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @part_of_a_block(%x: memref<64xf32>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.quantize_row' op depth is 48, expected whole blocks of 32}}
  ck.quantize_row %x[%o] to %c, %x, %x[%o] format q4_0 depth 48 : memref<64xf32> to memref<64xi8>, memref<64xf32>, memref<64xf32>
  return
}

// -----

func.func @part_of_a_large_block(%x: memref<64xf32>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.quantize_row' op depth is 64, expected whole blocks of 256}}
  ck.quantize_row %x[%o] to %c, %x, %x[%o] format q6_k depth 64 : memref<64xf32> to memref<64xi8>, memref<64xf32>, memref<64xf32>
  return
}

// -----

func.func @no_depth(%x: memref<64xf32>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.quantize_row' op depth is 0, expected whole blocks of 32}}
  ck.quantize_row %x[%o] to %c, %x, %x[%o] format q8_0 depth 0 : memref<64xf32> to memref<64xi8>, memref<64xf32>, memref<64xf32>
  return
}
