// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @three_rows(%w: memref<840xi8>, %s: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.int8_dot_tile' op has 3 rows and 1 tokens, expected a power of two of rows and at least one token}}
  %0 = ck.int8_dot_tile %w[%o, %o, %o], %w, %s, %s[%o] format q8_0 depth 32 : memref<840xi8>, memref<840xi8>, memref<64xf32>, memref<64xf32> -> vector<3xf32>
  return
}

// -----

func.func @fewer_results(%w: memref<840xi8>, %s: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.int8_dot_tile' op gives 1 vectors, expected one a token, 2}}
  %0 = ck.int8_dot_tile %w[%o], %w, %s, %s[%o, %o] format q8_0 depth 32 : memref<840xi8>, memref<840xi8>, memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}

// -----

func.func @results_of_other_rows(%w: memref<840xi8>, %s: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.int8_dot_tile' op gives 'vector<4xf32>', expected a vector of its 2 rows}}
  %0 = ck.int8_dot_tile %w[%o, %o], %w, %s, %s[%o] format q8_0 depth 32 : memref<840xi8>, memref<840xi8>, memref<64xf32>, memref<64xf32> -> vector<4xf32>
  return
}

// -----

func.func @part_of_a_block(%w: memref<840xi8>, %s: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.int8_dot_tile' op depth is 33, expected whole blocks of 32}}
  %0 = ck.int8_dot_tile %w[%o, %o], %w, %s, %s[%o] format q5_1 depth 33 : memref<840xi8>, memref<840xi8>, memref<64xf32>, memref<64xf32> -> vector<2xf32>
  return
}
