// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-lower-to-llvm

func.func @op_left_over(%x: memref<3x32x16xf32>) {
  // expected-error @below {{failed to legalize operation 'ck.add'}}
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  return
}

// -----

func.func @barrier_left_over() {
  // expected-error @below {{failed to legalize operation 'ck.barrier'}}
  ck.barrier
  return
}

// -----

// A thread's stack may be small.
// expected-error @below {{kernel @long_row: needs 1048640 bytes of stack, expected at most 1048576; rows of its weight are too long to be unpacked, give that weight in fp32}}
func.func private @long_row() attributes {ck.kernel} {
  %0 = memref.alloca() : memref<262144xf32>
  %1 = memref.alloca() : memref<8xindex>
  return
}

// -----

// expected-error @below {{kernel @no_end: needs any number of bytes of stack, expected at most 1048576}}
func.func private @no_end(%n: index) attributes {ck.kernel} {
  %0 = memref.alloca(%n) : memref<?xf32>
  return
}
