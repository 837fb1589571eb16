// RUN: ck-opt %s -ck-fuse-residual | FileCheck %s

// CHECK-LABEL: func.func @adds_in_attn_project
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[A:.*]]: memref<40x32xf32>, %[[W:.*]]: memref<4x32x16xf32>, %[[B:.*]]: memref<32xf32>)
func.func @adds_in_attn_project(%x: memref<40x32xf32>, %a: memref<40x32xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>) {
  // CHECK: %[[SUM:.*]] = ck.buffer scratch "residual1"
  // CHECK: ck.attn_project ins(%[[A]], %[[W]], %[[B]] : {{.*}}) residual(%[[X]] : memref<40x32xf32>) outs(%[[SUM]] : memref<40x32xf32>) rows 32 depth 8
  // CHECK-NEXT: return
  %p = ck.buffer scratch "proj_tmp" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "residual1" layer 0 : memref<40x32xf32>
  ck.attn_project ins(%a, %w, %b : memref<40x32xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 8
  ck.add ins(%x, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @adds_in_linear_of_the_first_summand
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[W:.*]]: memref<32x32xf32>, %[[B:.*]]: memref<32xf32>)
func.func @adds_in_linear_of_the_first_summand(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // CHECK: %[[SUM:.*]] = ck.buffer scratch "output"
  // CHECK: ck.linear ins(%[[X]], %[[W]], %[[B]] : {{.*}}) residual(%[[X]] : memref<40x32xf32>) outs(%[[SUM]] : memref<40x32xf32>) rows 32 depth 32
  // CHECK-NEXT: return
  %p = ck.buffer scratch "mlp_out" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%p, %x : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// One of two projections takes the other, which is complete before it.
// CHECK-LABEL: func.func @adds_the_earlier_projection_in_the_later
func.func @adds_the_earlier_projection_in_the_later(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // CHECK: %[[P:.*]] = ck.buffer scratch "p"
  // CHECK: %[[SUM:.*]] = ck.buffer scratch "output"
  // CHECK: ck.linear {{.*}} outs(%[[P]] : memref<40x32xf32>)
  // CHECK-NEXT: ck.linear {{.*}} residual(%[[P]] : memref<40x32xf32>) outs(%[[SUM]] : memref<40x32xf32>)
  // CHECK-NEXT: return
  %p = ck.buffer scratch "p" layer 0 : memref<40x32xf32>
  %q = ck.buffer scratch "q" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%q : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%p, %q : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_add_when_projection_has_another_reader
func.func @keeps_add_when_projection_has_another_reader(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>,
                                                        %gamma: memref<32xf32>, %y: memref<40x32xf32>) {
  // CHECK: ck.linear
  // CHECK-NOT: residual(%
  // CHECK: ck.rmsnorm
  // CHECK-NEXT: ck.add
  %p = ck.buffer scratch "mlp_out" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.rmsnorm ins(%p, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%y : memref<40x32xf32>) eps 1.0e-5 features 32
  ck.add ins(%x, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_add_when_residual_is_written_after_the_projection
func.func @keeps_add_when_residual_is_written_after_the_projection(%x: memref<40x32xf32>, %w: memref<32x32xf32>,
                                                                   %b: memref<32xf32>, %gamma: memref<32xf32>) {
  // CHECK: ck.linear
  // CHECK-NOT: residual(%
  // CHECK: ck.rmsnorm
  // CHECK-NEXT: ck.add
  %p = ck.buffer scratch "mlp_out" layer 0 : memref<40x32xf32>
  %r = ck.buffer scratch "r" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%r : memref<40x32xf32>) eps 1.0e-5 features 32
  ck.add ins(%r, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_add_of_a_projection_to_itself
func.func @keeps_add_of_a_projection_to_itself(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // CHECK: ck.linear
  // CHECK-NOT: residual(%
  // CHECK: ck.add
  %p = ck.buffer scratch "mlp_out" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%p, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_add_when_projection_is_a_slot
func.func @keeps_add_when_projection_is_a_slot(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // CHECK: ck.linear
  // CHECK-NOT: residual(%
  // CHECK: ck.add
  %p = ck.buffer slot "mlp_out" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%x, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// The sum would be written too early for who reads the old value.
// CHECK-LABEL: func.func @keeps_add_when_sum_is_written_twice
func.func @keeps_add_when_sum_is_written_twice(%x: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>,
                                               %gamma: memref<32xf32>) {
  // CHECK: ck.rmsnorm
  // CHECK-NEXT: ck.linear
  // CHECK-NEXT: ck.add
  %p = ck.buffer scratch "mlp_out" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%sum : memref<40x32xf32>) eps 1.0e-5 features 32
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%x, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_second_residual
func.func @keeps_second_residual(%x: memref<40x32xf32>, %y: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // CHECK: ck.linear {{.*}} residual(
  // CHECK-NEXT: ck.add
  %p = ck.buffer scratch "mlp_out" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) residual(%y : memref<40x32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%x, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_add_of_rotated_heads
func.func @keeps_add_of_rotated_heads(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>,
                                      %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK: ck.linear {{.*}} rope(
  // CHECK-NEXT: ck.add
  %q = ck.buffer scratch "q" layer 0 : memref<40x32xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.add ins(%x, %q : memref<40x32xf32>, memref<40x32xf32>) outs(%sum : memref<40x32xf32>)
  return
}

// Head-major stores are rows of one head, the residual is in another layout.
// CHECK-LABEL: func.func @keeps_add_of_head_major_heads
func.func @keeps_add_of_head_major_heads(%x: memref<40x32xf32>, %r: memref<2x40x16xf32>, %w: memref<2x16x32xf32>,
                                         %b: memref<2x16xf32>) {
  // CHECK: ck.linear {{.*}} head_major
  // CHECK-NEXT: ck.add
  %k = ck.buffer scratch "kk" layer 0 : memref<2x40x16xf32>
  %sum = ck.buffer scratch "output" layer 0 : memref<2x40x16xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  ck.add ins(%r, %k : memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%sum : memref<2x40x16xf32>)
  return
}
