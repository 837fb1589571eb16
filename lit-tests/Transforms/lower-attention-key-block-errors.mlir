// RUN: ck-opt %s -verify-diagnostics -ck-lower-attention=key-block=0

func.func private @key_block_zero(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attention' op key-block is 0, expected a multiple of the tile's 4 rows}}
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8 tile <rows = 4, vectors = 2, panels = 2, unroll = 1>
  return
}
