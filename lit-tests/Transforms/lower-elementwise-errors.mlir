// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-lower-elementwise

func.func private @embed_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<40xi32>, %b: memref<64x32xf32>, %c: memref<40x32xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.embed ins(%a, %b : memref<40xi32>, memref<64x32xf32>) outs(%c : memref<40x32xf32>)
  return
}

// -----

func.func private @rmsnorm_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<40x32xf32>, %b: memref<32xf32>, %c: memref<40x32xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.rmsnorm ins(%a, %b : memref<40x32xf32>, memref<32xf32>) outs(%c : memref<40x32xf32>) eps 1.0 features 32
  return
}

// -----

func.func private @add_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<40x32xf32>, %c: memref<40x32xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.add ins(%a, %a : memref<40x32xf32>, memref<40x32xf32>) outs(%c : memref<40x32xf32>)
  return
}

// -----

func.func private @swiglu_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<40x32xf32>, %c: memref<40x32xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.swiglu ins(%a, %a : memref<40x32xf32>, memref<40x32xf32>) outs(%c : memref<40x32xf32>)
  return
}

// -----

func.func private @split_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<40x32xf32>, %b: memref<40x16xf32>, %c: memref<40x16xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.split ins(%a : memref<40x32xf32>) outs(%b, %c : memref<40x16xf32>, memref<40x16xf32>)
  return
}

// -----

func.func private @rope_in_rows_without_a_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<40x32xf32>, %b: memref<40x4xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.rope inout(%a : memref<40x32xf32>) table(%b, %b : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// -----

func.func @pack_outside_a_kernel(%a: memref<40x32xf32>, %b: memref<5x32x8xf32>) {
  // expected-error @below {{'ck.pack' op stands outside a kernel; run ck-outline-kernels first}}
  ck.pack ins(%a : memref<40x32xf32>) outs(%b : memref<5x32x8xf32>)
  return
}

// -----

func.func @unpack_outside_a_kernel(%a: memref<5x32x8xf32>, %b: memref<40x32xf32>) {
  // expected-error @below {{'ck.unpack' op stands outside a kernel; run ck-outline-kernels first}}
  ck.unpack ins(%a : memref<5x32x8xf32>) outs(%b : memref<40x32xf32>) segments 1
  return
}

// -----

func.func @add_outside_a_kernel(%a: memref<5x32x8xf32>) {
  // expected-error @below {{'ck.add' op stands outside a kernel; run ck-outline-kernels first}}
  ck.add ins(%a, %a : memref<5x32x8xf32>, memref<5x32x8xf32>) outs(%a : memref<5x32x8xf32>)
  return
}

// -----

func.func private @add_in_a_loop(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<5x32x8xf32>) attributes {ck.kernel} {
  affine.for %i = 0 to 2 {
    // expected-error @below {{'ck.add' op stands outside a kernel; run ck-outline-kernels first}}
    ck.add ins(%a, %a : memref<5x32x8xf32>, memref<5x32x8xf32>) outs(%a : memref<5x32x8xf32>)
  }
  return
}

// -----

func.func private @cross_entropy_without_target(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<40x64xf32>, %b: memref<40xi32>, %c: memref<40xf32>) attributes {ck.kernel} {
  // expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
  ck.cross_entropy ins(%a, %b : memref<40x64xf32>, memref<40xi32>) outs(%c : memref<40xf32>)
  return
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
func.func @cross_entropy_outside_a_kernel(%a: memref<40x64xf32>, %b: memref<40xi32>, %c: memref<40xf32>) {
  // expected-error @below {{'ck.cross_entropy' op stands outside a kernel; run ck-outline-kernels first}}
  ck.cross_entropy ins(%a, %b : memref<40x64xf32>, memref<40xi32>) outs(%c : memref<40xf32>)
  return
}
}

// -----

func.func private @kernel_without_indices(%a: memref<5x32x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{'ck.add' op stands in kernel @kernel_without_indices of type '(memref<5x32x8xf32>) -> ()', expected 5 index arguments first}}
  ck.add ins(%a, %a : memref<5x32x8xf32>, memref<5x32x8xf32>) outs(%a : memref<5x32x8xf32>)
  return
}

// -----

func.func private @kernel_whose_token_count_is_no_index(%tid: index, %threads: index, %T: i64, %first: index, %position: index, %a: memref<5x32x8xf32>) attributes {ck.kernel} {
  // expected-error @below {{expected 5 index arguments first}}
  ck.add ins(%a, %a : memref<5x32x8xf32>, memref<5x32x8xf32>) outs(%a : memref<5x32x8xf32>)
  return
}
