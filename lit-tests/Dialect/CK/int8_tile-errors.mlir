// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @no_rows(%c: memref<512xi8>, %s: memref<16xf32>, %o: index) {
  // expected-error @below {{'ck.int8_tile' op has 0 rows and 1 vectors, expected at least one of each}}
  "ck.int8_tile"(%c, %s, %s, %c, %o) <{depth = 32 : i64, format = 9 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1>}> : (memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<512xi8>, index) -> ()
  return
}

// -----

func.func @fewer_results(%c: memref<512xi8>, %s: memref<16xf32>, %o: index) {
  // expected-error @below {{'ck.int8_tile' op gives 1 vectors, expected rows x vectors = 2 x 1}}
  %0 = ck.int8_tile %c, %s, %s[%o, %o], %c[%o] format q8_0 depth 32 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<512xi8> -> vector<4xf32>
  return
}

// -----

func.func @results_differ(%c: memref<512xi8>, %s: memref<16xf32>, %o: index) {
  // expected-error @below {{'ck.int8_tile' op results differ in type, expected one vector type}}
  %0:2 = ck.int8_tile %c, %s, %s[%o, %o], %c[%o] format q8_0 depth 32 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<512xi8> -> vector<4xf32>, vector<8xf32>
  return
}

// -----

func.func @tokens_of_no_vector(%c: memref<512xi8>, %s: memref<16xf32>, %o: index) {
  // expected-error @below {{'ck.int8_tile' op gives vectors of 5 tokens, expected 4, 8 or 16 as in ck.panel_block}}
  %0 = ck.int8_tile %c, %s, %s[%o], %c[%o] format q8_0 depth 32 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<512xi8> -> vector<5xf32>
  return
}

// -----

func.func @part_of_a_block(%c: memref<512xi8>, %s: memref<16xf32>, %o: index) {
  // expected-error @below {{'ck.int8_tile' op depth is 32, expected whole blocks of 256}}
  %0 = ck.int8_tile %c, %s, %s[%o], %c[%o] format q4_k depth 32 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<512xi8> -> vector<4xf32>
  return
}
