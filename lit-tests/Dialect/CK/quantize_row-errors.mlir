// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @part_of_a_block(%x: memref<64xf32>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.quantize_row' op has depth 48, blocks of 32 and groups of 16, expected whole groups in whole blocks}}
  ck.quantize_row %x[%o] to %c, %x, %x[%o] depth 48 block 32 group 16 : memref<64xf32> to memref<64xi8>, memref<64xf32>, memref<64xf32>
  return
}

// -----

func.func @part_of_a_group(%x: memref<64xf32>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.quantize_row' op has depth 64, blocks of 32 and groups of 64, expected whole groups in whole blocks}}
  ck.quantize_row %x[%o] to %c, %x, %x[%o] depth 64 block 32 group 64 : memref<64xf32> to memref<64xi8>, memref<64xf32>, memref<64xf32>
  return
}

// -----

func.func @no_depth(%x: memref<64xf32>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.quantize_row' op has depth 0, blocks of 32 and groups of 32, expected whole groups in whole blocks}}
  ck.quantize_row %x[%o] to %c, %x, %x[%o] depth 0 block 32 group 32 : memref<64xf32> to memref<64xi8>, memref<64xf32>, memref<64xf32>
  return
}

// -----

// Vectors of 16 would write over the next group.
func.func @part_of_a_vector(%x: memref<64xf32>, %c: memref<64xi8>, %o: index) {
  // expected-error @below {{'ck.quantize_row' op has groups of 8, expected a multiple of 16: whole vectors}}
  ck.quantize_row %x[%o] to %c, %x, %x[%o] depth 64 block 32 group 8 : memref<64xf32> to memref<64xi8>, memref<64xf32>, memref<64xf32>
  return
}
