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
  // expected-error @below {{'ck.buffer' op element type is 'index', expected an integer or float of whole bytes}}
  %0 = ck.buffer scratch "x" : memref<4xindex>
  return
}

// -----

func.func @element_of_bits() {
  // expected-error @below {{'ck.buffer' op element type is 'i1', expected an integer or float of whole bytes}}
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
