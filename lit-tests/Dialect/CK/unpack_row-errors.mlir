// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @two_outputs(%w: memref<68xi8>, %c: memref<64xi8>, %s: memref<2xf32>, %o: index) {
  // expected-error @below {{'ck.unpack_row' op has 2 outputs, expected fp32 alone, or bytes and two of fp32}}
  ck.unpack_row %w[%o] to %c, %s row %o format q8_0 depth 64 : memref<68xi8> to memref<64xi8>, memref<2xf32>
  return
}

// -----

func.func @bytes_alone(%w: memref<68xi8>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.unpack_row' op has 1 outputs, expected fp32 alone, or bytes and two of fp32}}
  ck.unpack_row %w[%o] to %c row %o format q8_0 depth 64 : memref<68xi8> to memref<64xi8>
  return
}

// -----

func.func @part_of_a_block(%w: memref<144xi8>, %y: memref<256xf32>, %o: index) {
  // expected-error @below {{'ck.unpack_row' op depth is 288, expected whole blocks of 256}}
  ck.unpack_row %w[%o] to %y row %o format q6_k depth 288 : memref<144xi8> to memref<256xf32>
  return
}

// -----

func.func @no_block(%w: memref<144xi8>, %y: memref<256xf32>, %o: index) {
  // expected-error @below {{'ck.unpack_row' op depth is 0, expected whole blocks of 32}}
  ck.unpack_row %w[%o] to %y row %o format q4_0 depth 0 : memref<144xi8> to memref<256xf32>
  return
}
