// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @no_rows(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op has 0 rows and 1 tokens, expected a power of two of rows and at least one token}}
  "ck.dot_tile"(%w, %w, %o) <{operandSegmentSizes = array<i32: 1, 0, 1, 1>, depth = 4 : i64, segments = 1 : i64, weightSegment = 0 : i64, lanes = 4 : i64, unroll = 1 : i64}>
    : (memref<64xf32>, memref<64xf32>, index) -> ()
  return
}

// -----

func.func @no_tokens(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op has 2 rows and 0 tokens, expected a power of two of rows and at least one token}}
  "ck.dot_tile"(%w, %o, %o, %w) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>, depth = 4 : i64, segments = 1 : i64, weightSegment = 0 : i64, lanes = 4 : i64, unroll = 1 : i64}>
    : (memref<64xf32>, index, index, memref<64xf32>) -> ()
  return
}

// -----

func.func @three_rows(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op has 3 rows and 1 tokens, expected a power of two of rows and at least one token}}
  %0 = ck.dot_tile %w[%o, %o, %o], %w[%o] depth 4 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<3xf32>
  return
}

// -----

func.func @results_missing(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op gives 1 vectors, expected one a token, 2}}
  %0 = ck.dot_tile %w[%o, %o], %w[%o, %o] depth 4 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  return
}

// -----

func.func @result_not_as_wide_as_the_rows(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op gives 'vector<4xf32>', expected a vector of its 2 rows}}
  %0:2 = ck.dot_tile %w[%o, %o], %w[%o, %o] depth 4 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<2xf32>, vector<4xf32>
  return
}

// -----

func.func @no_segments(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op has 0 segments of depth 4, expected at least 1 of at least 1}}
  %0 = ck.dot_tile %w[%o], %w[%o] depth 4 segments 0 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}

// -----

func.func @depth_negative(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op has 1 segments of depth -1, expected at least 1 of at least 1}}
  %0 = ck.dot_tile %w[%o], %w[%o] depth -1 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}

// -----

func.func @lanes_not_a_power_of_two(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op has steps of 1 vectors of 6 lanes, expected powers of two}}
  %0 = ck.dot_tile %w[%o], %w[%o] depth 4 segments 1 by 0 lanes 6 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}

// -----

func.func @unroll_zero(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op has steps of 0 vectors of 4 lanes, expected powers of two}}
  %0 = ck.dot_tile %w[%o], %w[%o] depth 4 segments 1 by 0 lanes 4 unroll 0 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}

// -----

func.func @weight_not_flat(%w: memref<8x8xf32>, %x: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op operand #0 must be 1D memref of 32-bit float or bfloat16 type or 16-bit float values, but got 'memref<8x8xf32>'}}
  %0 = ck.dot_tile %w[%o], %x[%o] depth 4 segments 1 by 0 lanes 4 unroll 1 : memref<8x8xf32>, memref<64xf32> -> vector<1xf32>
  return
}

// -----

func.func @x_in_double(%w: memref<64xf32>, %x: memref<64xf64>, %o: index) {
  // expected-error @below {{'ck.dot_tile' op operand #2 must be 1D memref of 32-bit float values, but got 'memref<64xf64>'}}
  %0 = ck.dot_tile %w[%o], %x[%o] depth 4 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf64> -> vector<1xf32>
  return
}
