// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK: module attributes
// CHECK-SAME: ck.arena_bytes = 4096 : i64
// CHECK-SAME: ck.model = #ck.model<layers = 2, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 9.99999974E-6 : f32, theta = 1.000000e+04 : f32>
// CHECK-SAME: ck.target = #ck.target<cpu = "haswell", features = "+avx2,+fma", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>
module attributes {
  ck.model = #ck.model<layers = 2, hidden = 32, intermediate = 48, heads = 4, kvHeads = 2, vocab = 64, window = 40,
                       eps = 1.0e-5 : f32, theta = 1.0e4 : f32>,
  ck.target = #ck.target<cpu = "haswell", features = "+avx2,+fma", vectorBits = 256, fma = true, registers = 16,
                         l1 = 32768, l2 = 262144>,
  ck.arena_bytes = 4096 : i64} {

// CHECK-LABEL: func.func private @tile_at_its_lower_limits
// CHECK-SAME: #ck.tile<rows = 1, vectors = 1, panels = 1, unroll = 1>
func.func private @tile_at_its_lower_limits() attributes {tile = #ck.tile<rows = 1, vectors = 1, panels = 1, unroll = 1>}

// CHECK-LABEL: func.func private @tile_at_its_upper_limits
// CHECK-SAME: #ck.tile<rows = 16, vectors = 8, panels = 1000, unroll = 16, strict = true>
func.func private @tile_at_its_upper_limits() attributes {
  tile = #ck.tile<rows = 16, vectors = 8, panels = 1000, unroll = 16, strict = true>}

// The default isn't printed.
// CHECK-LABEL: func.func private @tile_not_strict
// CHECK-SAME: #ck.tile<rows = 4, vectors = 3, panels = 12, unroll = 2>
func.func private @tile_not_strict() attributes {
  tile = #ck.tile<rows = 4, vectors = 3, panels = 12, unroll = 2, strict = false>}

// CHECK-LABEL: func.func private @target_without_fma
// CHECK-SAME: #ck.target<cpu = "x86-64-v2", features = "+sse4.2", vectorBits = 128, fma = false, registers = 16, l1 = 32768, l2 = 262144>
func.func private @target_without_fma() attributes {
  target = #ck.target<cpu = "x86-64-v2", features = "+sse4.2", vectorBits = 128, fma = false, registers = 16,
                      l1 = 32768, l2 = 262144>}

// CHECK-LABEL: func.func private @target_of_512_bits
// CHECK-SAME: vectorBits = 512, fma = true, registers = 32
func.func private @target_of_512_bits() attributes {
  target = #ck.target<cpu = "znver4", features = "", vectorBits = 512, fma = true, registers = 32, l1 = 1, l2 = 1>}
}
