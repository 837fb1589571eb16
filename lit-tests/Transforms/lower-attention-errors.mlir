// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-lower-attention

func.func private @without_tile(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attention' op has no tile; run ck-select-strategy first}}
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8
  return
}

// -----

func.func private @outside_a_kernel(%q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) {
  // expected-error @below {{'ck.attention' op stands outside a kernel; run ck-outline-kernels first}}
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8
  return
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func private @in_rows(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<40x32xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<40x32xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attention' op is in rows; run ck-split-attention, or ck-pack-activations, first}}
  ck.attention ins(%q, %k, %v : memref<40x32xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<40x32xf32>) heads 4 head_dim 8
  return
}
}

// -----

func.func private @tile_wider_than_the_group(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attention' op tile has 3 vectors, expected a divisor of the 2 query heads of a kv head}}
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8 tile <rows = 4, vectors = 3, panels = 3, unroll = 1>
  return
}

// -----

func.func private @key_block_not_whole_tiles(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attention' op key-block is 64, expected a multiple of the tile's 5 rows}}
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8 tile <rows = 5, vectors = 2, panels = 2, unroll = 1>
  return
}

// -----

func.func private @part_outside_a_kernel(%q: memref<4x8xf32>, %k: memref<1x40x16xf32>, %parts: memref<4x1x1x32xf32>) {
  // expected-error @below {{'ck.attention_part' op stands outside a kernel; run ck-outline-kernels first}}
  ck.attention_part ins(%q, %k, %k : memref<4x8xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%parts : memref<4x1x1x32xf32>) heads 1 head_dim 8 keys 128
  return
}

// -----

func.func private @merge_outside_a_kernel(%parts: memref<4x1x1x32xf32>, %y: memref<4x8xf32>) {
  // expected-error @below {{'ck.attention_merge' op stands outside a kernel; run ck-outline-kernels first}}
  ck.attention_merge ins(%parts : memref<4x1x1x32xf32>) outs(%y : memref<4x8xf32>) heads 1 head_dim 8 keys 128
  return
}

// -----

func.func private @part_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<4x8xf32>, %k: memref<1x40x16xf32>, %parts: memref<4x1x1x32xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.attention_part ins(%q, %k, %k : memref<4x8xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%parts : memref<4x1x1x32xf32>) heads 1 head_dim 8 keys 128
  return
}

// -----

// Regression: a cache below a vector wide gave a division by zero, other rests were read beyond their row.
module attributes {ck.target = #ck.target<cpu = "znver4", features = "", vectorBits = 512, fma = true, registers = 32, l1 = 32768, l2 = 1048576>} {
func.func private @cache_narrower_than_a_vector(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<4x8xf32>, %k: memref<1x40x8xf32>, %parts: memref<4x1x1x24xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attention_part' op the cache's head width is 8, expected whole vectors of 16 lanes}}
  ck.attention_part ins(%q, %k, %k : memref<4x8xf32>, memref<1x40x8xf32>, memref<1x40x8xf32>) outs(%parts : memref<4x1x1x24xf32>) heads 1 head_dim 8 keys 128
  return
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func private @cache_with_part_of_a_vector(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<4x8xf32>, %k: memref<1x40x20xf32>, %parts: memref<4x1x1x36xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attention_part' op the cache's head width is 20, expected whole vectors of 8 lanes}}
  ck.attention_part ins(%q, %k, %k : memref<4x8xf32>, memref<1x40x20xf32>, memref<1x40x20xf32>) outs(%parts : memref<4x1x1x36xf32>) heads 1 head_dim 8 keys 128
  return
}
}
