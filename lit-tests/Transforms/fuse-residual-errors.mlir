// RUN: ck-opt %s -ck-fuse-residual | FileCheck %s

// The pass cannot fail; what it must leave alone although it looks like a projection and its residual.

// The sum goes where the projection still reads: fused, it would read its own results.
// CHECK-LABEL: func.func @keeps_add_onto_what_the_projection_reads
func.func @keeps_add_onto_what_the_projection_reads(%r: memref<40x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>) {
  // CHECK: ck.linear {{.*}}) outs(
  // CHECK-NEXT: ck.add
  %x = ck.buffer scratch "x" : memref<40x32xf32>
  %p = ck.buffer scratch "p" : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%r, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%x : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_add_of_what_no_projection_wrote
func.func @keeps_add_of_what_no_projection_wrote(%a: memref<40x32xf32>, %g: memref<32xf32>) {
  // CHECK: ck.rmsnorm
  // CHECK-NEXT: ck.add
  %p = ck.buffer scratch "p" : memref<40x32xf32>
  %y = ck.buffer scratch "y" : memref<40x32xf32>
  ck.rmsnorm ins(%a, %g : memref<40x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) eps 1.0 features 32
  ck.add ins(%a, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%y : memref<40x32xf32>)
  return
}
