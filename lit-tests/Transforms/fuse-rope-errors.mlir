// RUN: ck-opt %s -ck-fuse-rope | FileCheck %s

// The pass cannot fail; what it must leave alone although it looks like a projection and its rotation.

// The projection stores heads, the rotation takes panels.
// CHECK-LABEL: func.func @keeps_rope_of_another_order
func.func @keeps_rope_of_another_order(%x: memref<40x32xf32>, %w: memref<2x16x32xf32>, %b: memref<2x16xf32>,
                                       %cos: memref<40x4xf32>, %sin: memref<40x4xf32>, %k: memref<2x40x16xf32>) {
  // CHECK-NEXT: ck.linear ins({{.*}}) outs(
  // CHECK-NEXT: ck.rope
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32
  ck.rope inout(%k : memref<2x40x16xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @keeps_rope_before_the_projection
func.func @keeps_rope_before_the_projection(%x: memref<40x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>,
                                            %cos: memref<40x4xf32>, %sin: memref<40x4xf32>, %q: memref<40x32xf32>) {
  // CHECK-NEXT: ck.rope
  // CHECK-NEXT: ck.linear ins({{.*}}) outs(
  ck.rope inout(%q : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<40x32xf32>) rows 8 depth 32
  return
}

// CHECK: func.func private @declaration
func.func private @declaration(memref<40x32xf32>)
