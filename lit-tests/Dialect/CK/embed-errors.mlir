// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @positions_narrower_than_table(%ids: memref<40xi32>, %table: memref<64x32xf32>, %pos: memref<40x16xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.embed' op positions hold 16 features, the table 32}}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) positions(%pos : memref<40x16xf32>) outs(%out : memref<40x32xf32>)
  return
}

// -----

func.func @out_wider_than_table(%ids: memref<40xi32>, %table: memref<64x32xf32>, %out: memref<40x33xf32>) {
  // expected-error @below {{'ck.embed' op out holds 33 features, the table 32}}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) outs(%out : memref<40x33xf32>)
  return
}

// -----

func.func @panels_wider_than_table(%ids: memref<40xi32>, %table: memref<64x32xf32>, %out: memref<3x48x16xf32>) {
  // expected-error @below {{'ck.embed' op out holds 48 features, the table 32}}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) outs(%out : memref<3x48x16xf32>)
  return
}

// -----

func.func @ids_of_floats(%ids: memref<40xf32>, %table: memref<64x32xf32>, %out: memref<40x32xf32>) {
  // expected-error @below {{'ck.embed' op operand #0 must be statically shaped 1D memref of 32-bit signless integer values, but got 'memref<40xf32>'}}
  ck.embed ins(%ids, %table : memref<40xf32>, memref<64x32xf32>) outs(%out : memref<40x32xf32>)
  return
}

// -----

func.func @out_of_rank_1(%ids: memref<40xi32>, %table: memref<64x32xf32>, %out: memref<40xf32>) {
  // expected-error @below {{'ck.embed' op operand #2 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<40xf32>'}}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) outs(%out : memref<40xf32>)
  return
}

// -----

func.func @ids_of_unknown_size(%ids: memref<?xi32>, %table: memref<64x32xf32>, %pos: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.embed' op operand #0 must be statically shaped 1D memref of 32-bit signless integer values, but got 'memref<?xi32>'}}
  ck.embed ins(%ids, %table : memref<?xi32>, memref<64x32xf32>) positions(%pos : memref<40x32xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @table_of_unknown_size(%ids: memref<40xi32>, %table: memref<?x32xf32>, %pos: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.embed' op operand #1 must be statically shaped 2D memref of 32-bit float or bfloat16 type or 16-bit float or block of quantized weights values, but got 'memref<?x32xf32>'}}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<?x32xf32>) positions(%pos : memref<40x32xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @pos_of_unknown_size(%ids: memref<40xi32>, %table: memref<64x32xf32>, %pos: memref<40x?xf32>, %out: memref<3x32x16xf32>) {
  // expected-error @below {{'ck.embed' op operand #2 must be statically shaped 2D memref of 32-bit float values, but got 'memref<40x?xf32>'}}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) positions(%pos : memref<40x?xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// -----

func.func @out_of_unknown_size(%ids: memref<40xi32>, %table: memref<64x32xf32>, %pos: memref<40x32xf32>, %out: memref<3x?x16xf32>) {
  // expected-error @below {{'ck.embed' op operand #3 must be statically shaped 2D/3D memref of 32-bit float values, but got 'memref<3x?x16xf32>'}}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) positions(%pos : memref<40x32xf32>) outs(%out : memref<3x?x16xf32>)
  return
}
