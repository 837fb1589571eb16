// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @waits_for_nothing_in_particular(%x: memref<3x32x16xf32>) {
  // expected-error @below {{expected integer number of results}}
  ck.barrier %x : memref<3x32x16xf32>
  return
}

// -----

func.func @gives_nothing() {
  // expected-error @below {{cannot name an operation with no results}}
  %0 = ck.barrier
  return
}

// -----

func.func @takes_no_operand(%x: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.barrier' op requires zero operands}}
  "ck.barrier"(%x) : (memref<3x32x16xf32>) -> ()
  return
}
