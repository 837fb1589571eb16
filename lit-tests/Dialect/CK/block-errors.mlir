// RUN: ck-opt %s -split-input-file -verify-diagnostics

// expected-error @+2 {{expected ::ckjit::ck::Format to be one of: q4_0, q4_1, q4_k, q6_k, q8_0, q5_0, q5_1}}
// expected-error @+1 {{failed to parse}}
func.func private @format_unknown(memref<4x!ck.block<q9_9>>)

// -----

// expected-error @below {{panel_block has 48 features, expected 32}}
func.func private @features_of_no_format(memref<4x2x!ck.panel_block<48 x 8>>)

// -----

// expected-error @below {{panel_block has 32 tokens, expected the lanes of a vector: 4, 8 or 16}}
func.func private @tokens_of_no_vector(memref<4x2x!ck.panel_block<32 x 32>>)

// -----

// expected-error @below {{tile is strict and quantizes, expected one of both: quantized sums aren't double}}
func.func private @tile_strict_and_quantizing() attributes {tile = #ck.tile<rows = 4, vectors = 2, panels = 2, unroll = 1, strict = true, quantize = true>}

// -----

func.func @bytes_of_a_buffer_too_large() {
  // expected-error @below {{'ck.buffer' op "w" is 'memref<4294967296x4294967296x!ck.block<q8_0>>', expected less than 2^60 bytes}}
  %0 = ck.buffer weight "w" : memref<4294967296x4294967296x!ck.block<q8_0>>
  return
}
