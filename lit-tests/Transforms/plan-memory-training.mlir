// RUN: ck-opt %s -ck-plan-memory=training | FileCheck %s

// The seed's offsets with gradients, measured for this shape (SPEC 3).
// CHECK: module attributes
// CHECK-SAME: ck.arena_bytes = 1312128 : i64
module attributes {ck.model = #ck.model<layers = 2, hidden = 60, intermediate = 100, heads = 3, kvHeads = 3, vocab = 257, window = 17, eps = 1.0e-5 : f32, theta = 1.0e4 : f32>} {
// CHECK-LABEL: func.func @offsets_of_the_seed_in_training
func.func @offsets_of_the_seed_in_training() {
  // CHECK-NEXT: "ln1_gamma" layer 0 at 195200 :
  // CHECK-NEXT: "ln1_gamma" layer 1 at 753664 :
  // CHECK-NEXT: "scores" layer 0 at 294400 :
  %0 = ck.buffer weight "ln1_gamma" layer 0 : memref<64xf32>
  %1 = ck.buffer weight "ln1_gamma" layer 1 : memref<64xf32>
  %2 = ck.buffer slot "scores" layer 0 : memref<3x32x32xf32>
  return
}
}
