// RUN: ck-opt %s -ck-fuse-rope | FileCheck %s

// CHECK-LABEL: func.func @rotates_query
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[W:.*]]: memref<4x16x32xf32>, %[[B:.*]]: memref<4x16xf32>, %[[C:.*]]: memref<40x4xf32>, %[[S:.*]]: memref<40x4xf32>)
func.func @rotates_query(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>, %cos: memref<40x4xf32>,
                         %sin: memref<40x4xf32>) {
  // CHECK-NEXT: %[[Q:.*]] = ck.buffer scratch "q" layer 0
  // CHECK-NEXT: ck.linear ins(%[[X]], %[[W]], %[[B]] : {{.*}}) rope(%[[C]], %[[S]] : memref<40x4xf32>, memref<40x4xf32>) outs(%[[Q]] : memref<40x32xf32>) rows 8 depth 32
  // CHECK-NEXT: return
  %q = ck.buffer scratch "q" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @rotates_head_major_key
func.func @rotates_head_major_key(%x: memref<40x32xf32>, %w: memref<2x16x32xf32>, %b: memref<2x16xf32>,
                                  %cos: memref<40x4xf32>, %sin: memref<40x4xf32>, %k: memref<2x40x16xf32>) {
  // CHECK: ck.linear {{.*}} rope({{.*}}) outs({{.*}}) head_major rows 8 depth 32
  // CHECK-NOT: ck.rope
  // CHECK: return
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  ck.rope inout(%k : memref<2x40x16xf32>) head_major table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// The ops of another buffer in between don't matter.
// CHECK-LABEL: func.func @query_and_key_interleaved
func.func @query_and_key_interleaved(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>,
                                     %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK-COUNT-2: ck.linear {{.*}} rope(
  // CHECK-NOT: ck.rope
  // CHECK: return
  %q = ck.buffer scratch "q" layer 0 : memref<40x32xf32>
  %k = ck.buffer scratch "k" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%k : memref<40x32xf32>) rows 8 depth 32
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  ck.rope inout(%k : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @keeps_rope_when_read_in_between
func.func @keeps_rope_when_read_in_between(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>,
                                           %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK: ck.linear
  // CHECK-NOT: rope(%
  // CHECK: ck.add
  // CHECK-NEXT: ck.rope
  %q = ck.buffer scratch "q" layer 0 : memref<40x32xf32>
  %o = ck.buffer scratch "o" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.add ins(%q, %x : memref<40x32xf32>, memref<40x32xf32>) outs(%o : memref<40x32xf32>)
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @keeps_rope_when_written_by_another_op
func.func @keeps_rope_when_written_by_another_op(%x: memref<40x32xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK: ck.add
  // CHECK-NEXT: ck.rope
  %q = ck.buffer scratch "q" layer 0 : memref<40x32xf32>
  ck.add ins(%x, %x : memref<40x32xf32>, memref<40x32xf32>) outs(%q : memref<40x32xf32>)
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @keeps_rope_of_what_the_projection_reads
func.func @keeps_rope_of_what_the_projection_reads(%w: memref<4x16x32xf32>, %b: memref<4x16xf32>, %cos: memref<40x4xf32>,
                                                   %sin: memref<40x4xf32>, %x: memref<40x32xf32>, %q: memref<40x32xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.rope
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.rope inout(%x : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @keeps_rope_of_another_head_size
func.func @keeps_rope_of_another_head_size(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>,
                                           %cos: memref<40x8xf32>, %sin: memref<40x8xf32>, %q: memref<40x32xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.rope {{.*}} head_dim 16
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x8xf32>, memref<40x8xf32>) head_dim 16
  return
}

// Rotating twice is rotating by twice the angle: only the first goes inside.
// CHECK-LABEL: func.func @keeps_second_rope
func.func @keeps_second_rope(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>, %cos: memref<40x4xf32>,
                             %sin: memref<40x4xf32>, %q: memref<40x32xf32>) {
  // CHECK: ck.linear {{.*}} rope(
  // CHECK-NEXT: ck.rope
  // CHECK-NEXT: return
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @keeps_rope_after_residual
func.func @keeps_rope_after_residual(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>,
                                     %cos: memref<40x4xf32>, %sin: memref<40x4xf32>, %q: memref<40x32xf32>) {
  // CHECK: ck.linear {{.*}} residual(
  // CHECK-NEXT: ck.rope
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) residual(%x : memref<40x32xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}
