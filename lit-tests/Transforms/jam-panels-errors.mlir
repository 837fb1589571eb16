// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-jam-panels

func.func @carries_a_sum(%hi: index) {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{ck.jam on a loop with iter_args, expected none}}
  %sum = affine.for %p = 0 to %hi iter_args(%s = %zero) -> f32 {
    affine.yield %s : f32
  } {ck.jam = 2 : i64}
  return
}

// -----

func.func @step_of_two(%hi: index) {
  // expected-error @below {{ck.jam on a loop by 2, expected 1}}
  affine.for %p = 0 to %hi step 2 {
  } {ck.jam = 2 : i64}
  return
}

// -----

func.func @factor_zero(%hi: index) {
  // expected-error @below {{ck.jam is 0 : i64, expected a positive factor}}
  affine.for %p = 0 to %hi {
  } {ck.jam = 0 : i64}
  return
}

// -----

func.func @factor_not_a_number(%hi: index) {
  // expected-error @below {{ck.jam is unit, expected a positive factor}}
  affine.for %p = 0 to %hi {
  } {ck.jam}
  return
}

// -----

func.func @affine_load_of_the_panel(%x: memref<64xf32>, %y: memref<64xf32>, %hi: index) {
  affine.for %p = 0 to %hi {
    // expected-error @below {{'affine.load' op uses the panel of a ck.jam loop, expected memref or vector ops there}}
    %v = affine.load %x[%p] : memref<64xf32>
    memref.store %v, %y[%p] : memref<64xf32>
  } {ck.jam = 2 : i64}
  return
}

// -----

func.func @affine_store_at_what_the_panel_gives(%y: memref<64xf32>, %v: f32, %hi: index) {
  affine.for %p = 0 to %hi {
    %twice = affine.apply affine_map<(d0) -> (d0 * 2)>(%p)
    // expected-error @below {{'affine.store' op uses the panel of a ck.jam loop, expected memref or vector ops there}}
    affine.store %v, %y[%twice] : memref<64xf32>
  } {ck.jam = 2 : i64}
  return
}

// -----

func.func @affine_loop_bounded_by_the_panel(%y: memref<64xf32>, %v: f32, %hi: index) {
  affine.for %p = 0 to %hi {
    // expected-error @below {{'affine.for' op uses the panel of a ck.jam loop, expected memref or vector ops there}}
    affine.for %i = 0 to affine_map<(d0) -> (d0)>(%p) {
      affine.store %v, %y[%i] : memref<64xf32>
    }
  } {ck.jam = 2 : i64}
  return
}
