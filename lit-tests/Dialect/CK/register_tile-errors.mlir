// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @no_rows(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op has 0 rows and 1 vectors, expected at least one of each}}
  "ck.register_tile"(%w, %w, %o, %o) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>, segments = 1 : i64, weightSegment = 0 : i64, weightStep = 1 : i64, unroll = 1 : i64}>
    : (memref<64xf32>, memref<64xf32>, index, index) -> ()
  return
}

// -----

func.func @no_vectors(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op has 2 rows and 0 vectors, expected at least one of each}}
  "ck.register_tile"(%w, %o, %o, %w, %o) <{operandSegmentSizes = array<i32: 1, 2, 1, 0, 1>, segments = 1 : i64, weightSegment = 0 : i64, weightStep = 1 : i64, unroll = 1 : i64}>
    : (memref<64xf32>, index, index, memref<64xf32>, index) -> ()
  return
}

// -----

func.func @results_missing(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op gives 1 vectors, expected rows x vectors = 2 x 1}}
  %0 = ck.register_tile %w[%o, %o], %w[%o] depth %o segments 1 by 0 step 1 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<4xf32>
  return
}

// -----

func.func @no_segments(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op has 0 segments, expected at least 1}}
  %0 = ck.register_tile %w[%o], %w[%o] depth %o segments 0 by 0 step 1 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<4xf32>
  return
}

// -----

func.func @unroll_negative(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op unrolls by -1, expected at least 1}}
  %0 = ck.register_tile %w[%o], %w[%o] depth %o segments 1 by 0 step 1 unroll -1 : memref<64xf32>, memref<64xf32> -> vector<4xf32>
  return
}

// -----

func.func @results_of_two_types(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op results differ in type, expected one vector type}}
  %0:2 = ck.register_tile %w[%o, %o], %w[%o] depth %o segments 1 by 0 step 1 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<4xf32>, vector<8xf32>
  return
}

// -----

func.func @weight_not_flat(%w: memref<8x8xf32>, %x: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op operand #0 must be 1D memref of 32-bit float or bfloat16 type or 16-bit float values, but got 'memref<8x8xf32>'}}
  %0 = ck.register_tile %w[%o], %x[%o] depth %o segments 1 by 0 step 1 unroll 1 : memref<8x8xf32>, memref<64xf32> -> vector<4xf32>
  return
}

// -----

func.func @rows_not_divisible_by_parts(%w: memref<64xf32>, %o: index) {
  // expected-error @below {{'ck.register_tile' op prefetches for 2 parts, expected a divisor of its 3 rows}}
  %0:3 = ck.register_tile %w[%o, %o, %o], %w[%o] depth %o segments 1 by 0 step 1 unroll 1 prefetch 16 parts 2 : memref<64xf32>, memref<64xf32> -> vector<4xf32>, vector<4xf32>, vector<4xf32>
  return
}
