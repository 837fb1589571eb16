// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-lower-program

// expected-error @below {{the module has no ck.arena_bytes; run ck-plan-memory first}}
func.func @not_planned() {
  return
}

// -----

module attributes {ck.arena_bytes = 64 : i64} {
func.func private @kernel(index, index, index, index, index, memref<4x8xf32>) attributes {ck.kernel}
func.func @buffer_without_offset() {
  // expected-error @below {{'ck.buffer' op "ln1_out" has no offset; run ck-plan-memory first}}
  %x = ck.buffer scratch "ln1_out" layer 0 : memref<4x8xf32>
  ck.launch @kernel(%x) : memref<4x8xf32>
  return
}
}
