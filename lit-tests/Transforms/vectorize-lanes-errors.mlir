// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-vectorize-lanes

func.func @lower_bound_not_zero() {
  // expected-error @below {{ck.lanes needs a loop from 0 to a positive constant by 1 without iter_args}}
  affine.for %l = 1 to 8 {
  } {ck.lanes}
  return
}

// -----

func.func @upper_bound_not_constant(%n: index) {
  // expected-error @below {{ck.lanes needs a loop from 0 to a positive constant by 1 without iter_args}}
  affine.for %l = 0 to %n {
  } {ck.lanes}
  return
}

// -----

func.func @no_lanes() {
  // expected-error @below {{ck.lanes needs a loop from 0 to a positive constant by 1 without iter_args}}
  affine.for %l = 0 to 0 {
  } {ck.lanes}
  return
}

// -----

func.func @step_of_two() {
  // expected-error @below {{ck.lanes needs a loop from 0 to a positive constant by 1 without iter_args}}
  affine.for %l = 0 to 8 step 2 {
  } {ck.lanes}
  return
}

// -----

func.func @carries_a_sum() {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{ck.lanes needs a loop from 0 to a positive constant by 1 without iter_args}}
  %s = affine.for %l = 0 to 8 iter_args(%t = %zero) -> f32 {
    affine.yield %t : f32
  } {ck.lanes}
  return
}

// -----

func.func @lane_in_the_first_index(%a: memref<8x8xf32>) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    %x = affine.load %a[%l, 0] : memref<8x8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @lane_by_two(%a: memref<16xf32>) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    %x = affine.load %a[%l * 2] : memref<16xf32>
  } {ck.lanes}
  return
}

// -----

func.func @lane_in_two_indices(%a: memref<8x8xf32>) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    %x = affine.load %a[%l, %l] : memref<8x8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @lane_modulo(%a: memref<8xf32>) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    %x = affine.load %a[%l mod 4] : memref<8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @lane_backwards(%a: memref<8xf32>) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    %x = affine.load %a[7 - %l] : memref<8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @affine_store_to_a_column(%a: memref<8x8xf32>, %v: f32) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    affine.store %v, %a[%l, 0] : memref<8x8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @memref_load_of_a_column(%a: memref<8x8xf32>, %i: index) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    %x = memref.load %a[%l, %i] : memref<8x8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @memref_load_of_the_diagonal(%a: memref<8x8xf32>) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    %x = memref.load %a[%l, %l] : memref<8x8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @memref_store_to_a_column(%a: memref<8x8xf32>, %i: index, %v: f32) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{the lane isn't the last index with step 1}}
    memref.store %v, %a[%l, %i] : memref<8x8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @affine_store_without_the_lane(%a: memref<8xf32>, %v: f32) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{stores the same element from every lane}}
    affine.store %v, %a[3] : memref<8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @memref_store_without_the_lane(%a: memref<8xf32>, %i: index, %v: f32) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{stores the same element from every lane}}
    memref.store %v, %a[%i] : memref<8xf32>
  } {ck.lanes}
  return
}

// -----

func.func @arithmetic_on_the_lane() {
  affine.for %l = 0 to 8 {
    // expected-error @below {{can't be vectorized over ck.lanes}}
    %x = arith.addi %l, %l : index
  } {ck.lanes}
  return
}

// -----

func.func @lane_to_a_number(%y: memref<8xf32>) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{can't be vectorized over ck.lanes}}
    %i = arith.index_cast %l : index to i32
  } {ck.lanes}
  return
}

// -----

func.func @branch_that_is_the_same_for_all_lanes(%some: i1, %y: memref<8xf32>, %v: f32) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{can't be vectorized over ck.lanes}}
    scf.if %some {
      affine.store %v, %y[%l] : memref<8xf32>
    }
  } {ck.lanes}
  return
}

// -----

func.func @branch_that_differs_from_lane_to_lane(%a: memref<8xi1>, %y: memref<8xf32>, %v: f32) {
  affine.for %l = 0 to 8 {
    %some = affine.load %a[%l] : memref<8xi1>
    // expected-error @below {{can't be vectorized over ck.lanes}}
    scf.if %some {
      affine.store %v, %y[%l] : memref<8xf32>
    }
  } {ck.lanes}
  return
}

// -----

func.func private @sink(f32)

func.func @call_with_a_varying_value(%a: memref<8xf32>) {
  affine.for %l = 0 to 8 {
    %x = affine.load %a[%l] : memref<8xf32>
    // expected-error @below {{can't be vectorized over ck.lanes}}
    func.call @sink(%x) : (f32) -> ()
  } {ck.lanes}
  return
}

// -----

func.func @gather(%ids: memref<8xindex>, %a: memref<64xf32>) {
  affine.for %l = 0 to 8 {
    %i = affine.load %ids[%l] : memref<8xindex>
    // expected-error @below {{an index varies over ck.lanes, expected the same value for all lanes}}
    %x = memref.load %a[%i] : memref<64xf32>
  } {ck.lanes}
  return
}

// -----

func.func @scatter(%ids: memref<8xindex>, %a: memref<64xf32>, %v: f32) {
  affine.for %l = 0 to 8 {
    %i = affine.load %ids[%l] : memref<8xindex>
    // expected-error @below {{an index varies over ck.lanes, expected the same value for all lanes}}
    memref.store %v, %a[%i] : memref<64xf32>
  } {ck.lanes}
  return
}

// -----

func.func @inner_bound_varies(%n: memref<8xindex>, %c: index) {
  affine.for %l = 0 to 8 {
    %i = affine.load %n[%l] : memref<8xindex>
    // expected-error @below {{a bound varies over ck.lanes, expected the same value for all lanes}}
    scf.for %f = %c to %i step %c {
    }
  } {ck.lanes}
  return
}

// -----

func.func @inner_affine_bound_is_the_lane() {
  affine.for %l = 0 to 8 {
    // expected-error @below {{a bound is the lane of ck.lanes, expected the same value for all lanes}}
    affine.for %f = 0 to affine_map<(d0) -> (d0)>(%l) {
    }
  } {ck.lanes}
  return
}

// -----

func.func @inner_scf_bound_is_the_lane(%c: index) {
  affine.for %l = 0 to 8 {
    // expected-error @below {{a bound is the lane of ck.lanes, expected the same value for all lanes}}
    scf.for %f = %c to %l step %c {
    }
  } {ck.lanes}
  return
}
