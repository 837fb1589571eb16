// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @offset_between_lines() {
  // expected-error @below {{'ck.buffer' op offset 32 is not a multiple of 64 bytes}}
  %0 = ck.buffer weight "wq" layer 0 at 32 : memref<4xf32>
  return
}

// -----

func.func @offset_negative() {
  // expected-error @below {{'ck.buffer' op offset -64 is negative}}
  %0 = ck.buffer weight "wq" layer 0 at -64 : memref<4xf32>
  return
}

// -----

func.func @offset_negative_between_lines() {
  // expected-error @below {{'ck.buffer' op offset -1 is negative}}
  %0 = ck.buffer weight "wq" layer 0 at -1 : memref<4xf32>
  return
}

// -----

func.func @layer_negative() {
  // expected-error @below {{'ck.buffer' op layer -1 is negative}}
  %0 = ck.buffer weight "wq" layer -1 : memref<4xf32>
  return
}

// -----

func.func @name_empty() {
  // expected-error @below {{'ck.buffer' op name is empty, expected a buffer of the arena plan}}
  %0 = ck.buffer scratch "" : memref<4xf32>
  return
}

// -----

func.func @element_without_a_size() {
  // expected-error @below {{'ck.buffer' op element type is 'index', expected blocks, or an integer or float of whole bytes}}
  %0 = ck.buffer scratch "x" : memref<4xindex>
  return
}

// -----

func.func @element_of_bits() {
  // expected-error @below {{'ck.buffer' op element type is 'i1', expected blocks, or an integer or float of whole bytes}}
  %0 = ck.buffer scratch "x" : memref<4xi1>
  return
}

// -----

func.func @space_unknown() {
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'space' [weight, slot, scratch, extra]}}
  %0 = ck.buffer stack "x" : memref<4xf32>
  return
}

// -----

func.func @shape_dynamic() {
  // expected-error @below {{'ck.buffer' op result #0 must be statically shaped memref of any type values, but got 'memref<?xf32>'}}
  %0 = ck.buffer scratch "x" : memref<?xf32>
  return
}

// -----

// 2^66 bytes, which is 0 in 64 bits.
func.func @more_bytes_than_can_be_counted() {
  // expected-error @below {{'ck.buffer' op "x" is 'memref<4294967296x4294967296xf32>', expected less than 2^60 bytes}}
  %0 = ck.buffer scratch "x" : memref<4294967296x4294967296xf32>
  return
}

// -----

func.func @ends_where_no_byte_is() {
  // expected-error @below {{'ck.buffer' op "x" ends at byte 9223372036854775744 + 128, expected below 2^63}}
  %0 = ck.buffer scratch "x" at 9223372036854775744 : memref<32xf32>
  return
}

// -----

// In 32 bits this is layer 0.
func.func @layer_of_more_than_32_bits() {
  // expected-error @below {{'ck.buffer' op layer is 4294967296, expected at most 65535}}
  %0 = ck.buffer weight "wq" layer 4294967296 : memref<4x16x32xf32>
  return
}

// -----

func.func @has_a_layout() {
  // expected-error @below {{'ck.buffer' op "x" is 'memref<4x4xf32, strided<[8, 1]>>', expected a memref without a layout}}
  %0 = ck.buffer scratch "x" : memref<4x4xf32, strided<[8, 1]>>
  return
}
