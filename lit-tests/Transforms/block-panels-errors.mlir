// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-block-panels

func.func @block_of_no_panels(%panels: index) {
  affine.for %row = 0 to 8 {
    // expected-error @below {{ck.block is 0 : i64, expected a positive number of panels}}
    affine.for %p = 0 to %panels {
    } {ck.block = 0 : i64}
  }
  return
}

// -----

func.func @block_not_a_number(%panels: index) {
  affine.for %row = 0 to 8 {
    // expected-error @below {{ck.block is "all", expected a positive number of panels}}
    affine.for %p = 0 to %panels {
    } {ck.block = "all"}
  }
  return
}

// -----

func.func @no_loop_around(%panels: index) {
  // expected-error @below {{ck.block needs an affine loop around it, a step of 1, no iter_args, and bounds that are values made outside both loops}}
  affine.for %p = 0 to %panels {
  } {ck.block = 4 : i64}
  return
}

// -----

func.func @upper_bound_constant() {
  affine.for %row = 0 to 8 {
    // expected-error @below {{ck.block needs an affine loop around it, a step of 1, no iter_args, and bounds that are values made outside both loops}}
    affine.for %p = 0 to 8 {
    } {ck.block = 4 : i64}
  }
  return
}

// -----

func.func @upper_bound_made_inside() {
  affine.for %row = 0 to 8 {
    %panels = arith.constant 8 : index
    // expected-error @below {{ck.block needs an affine loop around it, a step of 1, no iter_args, and bounds that are values made outside both loops}}
    affine.for %p = 0 to %panels {
    } {ck.block = 4 : i64}
  }
  return
}

// -----

// Triangular: the panels differ from row to row.
func.func @lower_bound_is_the_row(%panels: index) {
  affine.for %row = 0 to 8 {
    // expected-error @below {{ck.block needs an affine loop around it, a step of 1, no iter_args, and bounds that are values made outside both loops}}
    affine.for %p = affine_map<(d0) -> (d0)>(%row) to %panels {
    } {ck.block = 4 : i64}
  }
  return
}

// -----

func.func @step_of_two(%panels: index) {
  affine.for %row = 0 to 8 {
    // expected-error @below {{ck.block needs an affine loop around it, a step of 1, no iter_args, and bounds that are values made outside both loops}}
    affine.for %p = 0 to %panels step 2 {
    } {ck.block = 4 : i64}
  }
  return
}

// -----

func.func @panels_carry_a_sum(%panels: index) {
  %zero = arith.constant 0.0 : f32
  affine.for %row = 0 to 8 {
    // expected-error @below {{ck.block needs an affine loop around it, a step of 1, no iter_args, and bounds that are values made outside both loops}}
    %sum = affine.for %p = 0 to %panels iter_args(%s = %zero) -> f32 {
      affine.yield %s : f32
    } {ck.block = 4 : i64}
  }
  return
}

// -----

func.func @rows_carry_a_sum(%panels: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %sum = affine.for %row = 0 to 8 iter_args(%s = %zero) -> f32 {
    // expected-error @below {{ck.block needs an affine loop around it, a step of 1, no iter_args, and bounds that are values made outside both loops}}
    affine.for %p = 0 to %panels {
    } {ck.block = 4 : i64}
    affine.yield %s : f32
  }
  return %sum : f32
}
