// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// A block of every format; blocks of activations for every vector.
// CHECK-LABEL: func.func private @formats
// CHECK-SAME: memref<4x!ck.block<q4_0>>, memref<4x!ck.block<q4_1>>, memref<4x!ck.block<q5_0>>, memref<4x!ck.block<q5_1>>
// CHECK-SAME: memref<4x!ck.block<q8_0>>, memref<4x2x!ck.block<q4_k>>, memref<3x4x2x!ck.block<q6_k>>
func.func private @formats(memref<4x!ck.block<q4_0>>, memref<4x!ck.block<q4_1>>, memref<4x!ck.block<q5_0>>,
                           memref<4x!ck.block<q5_1>>, memref<4x!ck.block<q8_0>>, memref<4x2x!ck.block<q4_k>>,
                           memref<3x4x2x!ck.block<q6_k>>)

// CHECK-LABEL: func.func private @activations
// CHECK-SAME: memref<2x3x!ck.panel_block<32 x 4>>, memref<2x3x!ck.panel_block<32 x 8>>, memref<2x3x!ck.panel_block<32 x 16>>
func.func private @activations(memref<2x3x!ck.panel_block<32 x 4>>, memref<2x3x!ck.panel_block<32 x 8>>,
                               memref<2x3x!ck.panel_block<32 x 16>>)

// A tile that quantizes says so.
// CHECK-LABEL: func.func private @tile_that_quantizes
// CHECK-SAME: #ck.tile<rows = 4, vectors = 2, panels = 2, unroll = 1, quantize = true>
func.func private @tile_that_quantizes() attributes {tile = #ck.tile<rows = 4, vectors = 2, panels = 2, unroll = 1, quantize = true>}

// CHECK-LABEL: func.func @buffers
func.func @buffers() {
  // CHECK: ck.buffer weight "w2" layer 3 at 64 : memref<256x2x!ck.block<q4_k>>
  %0 = ck.buffer weight "w2" layer 3 at 64 : memref<256x2x!ck.block<q4_k>>
  // CHECK: ck.buffer scratch "x.int8" : memref<5x8x!ck.panel_block<32 x 8>>
  %1 = ck.buffer scratch "x.int8" : memref<5x8x!ck.panel_block<32 x 8>>
  return
}
