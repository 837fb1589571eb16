// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-lower-linear

func.func private @linear_without_tile(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %o: memref<5x32x8xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.linear' op has no tile; run ck-select-strategy first}}
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<32x32xf32>, memref<32xf32>) outs(%o : memref<5x32x8xf32>) rows 32 depth 32
  return
}

// -----

func.func private @linear_outside_a_kernel(%x: memref<5x32x8xf32>, %o: memref<5x32x8xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // expected-error @below {{'ck.linear' op stands outside a kernel; run ck-outline-kernels first}}
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<32x32xf32>, memref<32xf32>) outs(%o : memref<5x32x8xf32>) rows 32 depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @linear_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<40x32xf32>, %o: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%o : memref<40x32xf32>) rows 32 depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @gated_linear_without_tile(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<5x48x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.gated_linear' op has no tile; run ck-select-strategy first}}
  ck.gated_linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<5x48x8xf32>) rows 48 depth 32
  return
}

// -----

func.func private @gated_linear_outside_a_kernel(%x: memref<5x32x8xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<5x48x8xf32>) {
  // expected-error @below {{'ck.gated_linear' op stands outside a kernel; run ck-outline-kernels first}}
  ck.gated_linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<5x48x8xf32>) rows 48 depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @gated_linear_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<40x48xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.gated_linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<40x48xf32>) rows 48 depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @attn_project_without_tile(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %o: memref<5x32x8xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.attn_project' op has no tile; run ck-select-strategy first}}
  ck.attn_project ins(%x, %w, %b : memref<5x32x8xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%o : memref<5x32x8xf32>) rows 32 depth 8
  return
}

// -----

func.func private @attn_project_outside_a_kernel(%x: memref<5x32x8xf32>, %o: memref<5x32x8xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>) {
  // expected-error @below {{'ck.attn_project' op stands outside a kernel; run ck-outline-kernels first}}
  ck.attn_project ins(%x, %w, %b : memref<5x32x8xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%o : memref<5x32x8xf32>) rows 32 depth 8 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @attn_project_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<40x32xf32>, %o: memref<40x32xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.attn_project ins(%x, %w, %b : memref<40x32xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%o : memref<40x32xf32>) rows 32 depth 8 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @lm_head_without_tile(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.lm_head' op has no tile; run ck-select-strategy first}}
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}

// -----

func.func private @lm_head_outside_a_kernel(%x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) {
  // expected-error @below {{'ck.lm_head' op stands outside a kernel; run ck-outline-kernels first}}
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @lm_head_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<40x32xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.lm_head ins(%x, %t : memref<40x32xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @rope_tables_in_rows(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %o: memref<5x32x8xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>, %c: memref<40x4xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.linear' op activation 'memref<40x4xf32>' stands beside 'memref<5x32x8xf32>', expected all in rows or all in panels of ck-pack-activations}}
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%c, %c : memref<40x4xf32>, memref<40x4xf32>) outs(%o : memref<5x32x8xf32>) rows 8 depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// -----

func.func private @one_row_for_a_pair_of_rope(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %o: memref<5x32x8xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>, %c: memref<5x4x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.linear' op tile has 1 rows, expected at least 2: one of each half}}
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%c, %c : memref<5x4x8xf32>, memref<5x4x8xf32>) outs(%o : memref<5x32x8xf32>) rows 8 depth 32 tile <rows = 1, vectors = 1, panels = 1, unroll = 1>
  return
}

// -----

func.func private @one_row_for_gate_and_up(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<5x48x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.gated_linear' op tile has 1 rows, expected at least 2: one of each half}}
  ck.gated_linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<5x48x8xf32>) rows 48 depth 32 tile <rows = 1, vectors = 1, panels = 1, unroll = 1>
  return
}

// -----

func.func private @more_rows_than_lanes_to_rows(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<10x32x4xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.lm_head' op tile stores 8 rows, expected at most the 4 lanes of a vector for a result in rows}}
  ck.lm_head ins(%x, %t : memref<10x32x4xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32 tile <rows = 8, vectors = 1, panels = 1, unroll = 1>
  return
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func private @rows_need_powers_of_two(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>, %y: memref<4x32xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.linear' op tile has 6 rows, expected a power of two of each part: x is in rows}}
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%y : memref<4x32xf32>) rows 32 depth 32 tile <rows = 6, vectors = 2, panels = 2, unroll = 1>
  return
}
}

// -----

func.func private @five_rows_need_eight_lanes(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<10x32x4xf32>, %w: memref<2x16x32xf32>, %b: memref<2x16xf32>, %k: memref<2x40x16xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.linear' op tile stores 5 rows, expected at most the 4 lanes of a vector for a result in rows}}
  ck.linear ins(%x, %w, %b : memref<10x32x4xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32 tile <rows = 5, vectors = 1, panels = 1, unroll = 1>
  return
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func private @rows_need_powers_of_two_of_each_half(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<4x48xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.gated_linear' op tile has 6 rows, expected a power of two of each part: x is in rows}}
  ck.gated_linear ins(%x, %w, %b : memref<4x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<4x48xf32>) rows 48 depth 32 tile <rows = 6, vectors = 1, panels = 1, unroll = 1>
  return
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func private @rows_to_unequal_halves(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<4x48xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.gated_linear' op tile has 5 rows, expected a power of two of each part: x is in rows}}
  ck.gated_linear ins(%x, %w, %b : memref<4x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<4x48xf32>) rows 48 depth 32 tile <rows = 5, vectors = 1, panels = 1, unroll = 1>
  return
}
}
