// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @bytes_of_floats(%x: memref<4x8xf32>) {
  // expected-error @below {{'ck.bytes' op buffer is 'memref<4x8xf32>', expected blocks of weights or of activations}}
  %0 = ck.bytes %x : memref<4x8xf32> to memref<128xi8>
  return
}

// -----

func.func @fewer_bytes(%x: memref<3x2x!ck.block<q4_k>>) {
  // expected-error @below {{'ck.bytes' op gives 'memref<863xi8>', expected the buffer's 864 bytes}}
  %0 = ck.bytes %x : memref<3x2x!ck.block<q4_k>> to memref<863xi8>
  return
}

// -----

func.func @weights_as_bytes(%x: memref<4x!ck.block<q8_0>>) {
  // expected-error @below {{'ck.bytes' op gives 'memref<128xi8>', expected the buffer's 136 bytes}}
  %0 = ck.bytes %x : memref<4x!ck.block<q8_0>> to memref<128xi8>
  return
}
