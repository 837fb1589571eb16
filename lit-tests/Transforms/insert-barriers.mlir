// RUN: ck-opt %s -ck-insert-barriers | FileCheck %s

// CHECK-LABEL: func.func @read_after_write
func.func @read_after_write(%a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>, %c: memref<1x32x16xf32>) {
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: return
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%b, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @write_after_read
func.func @write_after_read(%a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>, %c: memref<1x32x16xf32>) {
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: return
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%c, %c : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%a : memref<1x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @write_after_write
func.func @write_after_write(%a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>) {
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: return
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @rstd_is_written
func.func @rstd_is_written(%x: memref<1x32x16xf32>, %g: memref<32xf32>, %a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>, %r: memref<16xf32>) {
  // CHECK-NEXT: ck.rmsnorm
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.rmsnorm
  // CHECK-NEXT: return
  ck.rmsnorm ins(%x, %g : memref<1x32x16xf32>, memref<32xf32>) outs(%a : memref<1x32x16xf32>) rstd(%r : memref<16xf32>) eps 0.5 features 32
  ck.rmsnorm ins(%x, %g : memref<1x32x16xf32>, memref<32xf32>) outs(%b : memref<1x32x16xf32>) rstd(%r : memref<16xf32>) eps 0.5 features 32
  return
}

// Query, key and value read the same row.
// CHECK-LABEL: func.func @none_between_reads
func.func @none_between_reads(%a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>, %c: memref<1x32x16xf32>, %d: memref<1x32x16xf32>) {
  // CHECK-NOT: ck.barrier
  // CHECK: return
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%d : memref<1x32x16xf32>)
  return
}

// What stands before a barrier is over.
// CHECK-LABEL: func.func @one_barrier_for_several_conflicts
func.func @one_barrier_for_several_conflicts(%a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>, %c: memref<1x32x16xf32>,
                                             %d: memref<1x32x16xf32>, %e: memref<1x32x16xf32>) {
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: return
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  ck.add ins(%b, %b : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%d : memref<1x32x16xf32>)
  ck.add ins(%c, %c : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%e : memref<1x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @barrier_already_there
func.func @barrier_already_there(%a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>, %c: memref<1x32x16xf32>) {
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: return
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.barrier
  ck.add ins(%b, %b : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @rope_in_place
func.func @rope_in_place(%a: memref<1x32x16xf32>, %b: memref<1x32x16xf32>, %cos: memref<16x4xf32>, %sin: memref<16x4xf32>) {
  // CHECK-NEXT: ck.rope
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.rope
  ck.rope inout(%a : memref<1x32x16xf32>) table(%cos, %sin : memref<16x4xf32>, memref<16x4xf32>) head_dim 8
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.rope inout(%a : memref<1x32x16xf32>) table(%cos, %sin : memref<16x4xf32>, memref<16x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @second_result_of_split
func.func @second_result_of_split(%a: memref<1x32x16xf32>, %b: memref<1x16x16xf32>, %c: memref<1x16x16xf32>, %d: memref<1x16x16xf32>) {
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  ck.split ins(%a : memref<1x32x16xf32>) outs(%b, %c : memref<1x16x16xf32>, memref<1x16x16xf32>)
  ck.add ins(%c, %c : memref<1x16x16xf32>, memref<1x16x16xf32>) outs(%d : memref<1x16x16xf32>)
  return
}

// b is dead when d is written to its place, but other threads may still read it.
// CHECK-LABEL: func.func @scratch_with_the_same_bytes
func.func @scratch_with_the_same_bytes() {
  // CHECK: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: return
  %a = ck.buffer scratch "a" at 0 : memref<1x32x16xf32>
  %b = ck.buffer scratch "b" at 2048 : memref<1x32x16xf32>
  %c = ck.buffer scratch "c" at 4096 : memref<1x32x16xf32>
  %d = ck.buffer scratch "d" at 2048 : memref<1x32x16xf32>
  ck.add ins(%b, %b : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%d : memref<1x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @scratch_that_overlaps_by_a_line
func.func @scratch_that_overlaps_by_a_line() {
  // CHECK: ck.add
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.add
  %a = ck.buffer scratch "a" at 4096 : memref<1x32x16xf32>
  %b = ck.buffer scratch "b" at 0 : memref<1x32x16xf32>
  %c = ck.buffer scratch "c" at 1984 : memref<1x32x16xf32>
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @none_between_neighbours
func.func @none_between_neighbours() {
  // CHECK-NOT: ck.barrier
  // CHECK: return
  %a = ck.buffer scratch "a" at 4096 : memref<1x32x16xf32>
  %b = ck.buffer scratch "b" at 0 : memref<1x32x16xf32>
  %c = ck.buffer scratch "c" at 2048 : memref<1x32x16xf32>
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%b : memref<1x32x16xf32>)
  ck.add ins(%a, %a : memref<1x32x16xf32>, memref<1x32x16xf32>) outs(%c : memref<1x32x16xf32>)
  return
}
