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
