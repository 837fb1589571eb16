// RUN: ck-opt %s -ck-lower-register-tile | FileCheck %s

// The pass cannot fail, as ck.register_tile's verifier sees to it; what it must leave alone.

// The other micro-kernel has a pass of its own.
// CHECK-LABEL: func.func @dot_tile_stays
func.func @dot_tile_stays(%w: memref<64xf32>, %x: memref<64xf32>, %r: index, %t: index) -> vector<1xf32> {
  // CHECK-NEXT: ck.dot_tile
  // CHECK-NEXT: return
  %s = ck.dot_tile %w[%r], %x[%t] depth 32 segments 1 by 0 lanes 8 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return %s : vector<1xf32>
}

// CHECK: func.func private @declaration
func.func private @declaration(memref<64xf32>)
