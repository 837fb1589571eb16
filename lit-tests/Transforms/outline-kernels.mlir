// RUN: ck-opt %s -split-input-file -ck-outline-kernels | FileCheck %s

// Two layers, one kernel: it gets (tid, threads, T, first row, buffers...).
// CHECK-LABEL: func.func @equal_ops_share_a_kernel
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[G:.*]]: memref<32xf32>, %[[H:.*]]: memref<32xf32>, %[[Y:.*]]: memref<3x32x16xf32>)
func.func @equal_ops_share_a_kernel(%x: memref<3x32x16xf32>, %g: memref<32xf32>, %h: memref<32xf32>, %y: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.launch @rmsnorm.32(%[[X]], %[[G]], %[[Y]]) : memref<3x32x16xf32>, memref<32xf32>, memref<3x32x16xf32>
  // CHECK-NEXT: ck.barrier
  // CHECK-NEXT: ck.launch @rmsnorm.32(%[[Y]], %[[H]], %[[X]]) : memref<3x32x16xf32>, memref<32xf32>, memref<3x32x16xf32>
  // CHECK-NEXT: return
  ck.rmsnorm ins(%x, %g : memref<3x32x16xf32>, memref<32xf32>) outs(%y : memref<3x32x16xf32>) eps 0.5 features 32
  ck.barrier
  ck.rmsnorm ins(%y, %h : memref<3x32x16xf32>, memref<32xf32>) outs(%x : memref<3x32x16xf32>) eps 0.5 features 32
  return
}
// CHECK: func.func private @rmsnorm.32(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<3x32x16xf32>, %[[G:.*]]: memref<32xf32>, %[[Y:.*]]: memref<3x32x16xf32>) attributes {ck.kernel} {
// CHECK-NEXT: ck.rmsnorm ins(%[[X]], %[[G]] : memref<3x32x16xf32>, memref<32xf32>) outs(%[[Y]] : memref<3x32x16xf32>) eps 5.000000e-01 features 32
// CHECK-NEXT: return
// CHECK-NOT: func.func

// -----

// CHECK-LABEL: func.func @other_attribute_other_kernel
func.func @other_attribute_other_kernel(%x: memref<3x32x16xf32>, %g: memref<32xf32>, %y: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.launch @[[FIRST:rmsnorm.32]](
  // CHECK-NEXT: ck.launch @[[SECOND:rmsnorm.32_.*]](
  // CHECK-NEXT: ck.launch @[[FIRST]](
  ck.rmsnorm ins(%x, %g : memref<3x32x16xf32>, memref<32xf32>) outs(%y : memref<3x32x16xf32>) eps 0.5 features 32
  ck.rmsnorm ins(%x, %g : memref<3x32x16xf32>, memref<32xf32>) outs(%y : memref<3x32x16xf32>) eps 0.25 features 32
  ck.rmsnorm ins(%x, %g : memref<3x32x16xf32>, memref<32xf32>) outs(%y : memref<3x32x16xf32>) eps 0.5 features 32
  return
}
// CHECK: func.func private @[[FIRST]](
// CHECK: eps 5.000000e-01
// CHECK: func.func private @[[SECOND]](
// CHECK: eps 2.500000e-01

// -----

// CHECK-LABEL: func.func @other_discardable_attribute_other_kernel
func.func @other_discardable_attribute_other_kernel(%x: memref<3x32x16xf32>, %y: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.launch @add.32(
  // CHECK-NEXT: ck.launch @add.32_{{.*}}(
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%y : memref<3x32x16xf32>)
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%y : memref<3x32x16xf32>) {note}
  return
}

// -----

// CHECK-LABEL: func.func @other_type_other_kernel
func.func @other_type_other_kernel(%x: memref<3x32x16xf32>, %y: memref<4x32x16xf32>) {
  // CHECK-NEXT: ck.launch @add.32(
  // CHECK-NEXT: ck.launch @add.32_{{.*}}(
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  ck.add ins(%y, %y : memref<4x32x16xf32>, memref<4x32x16xf32>) outs(%y : memref<4x32x16xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @other_op_other_kernel
func.func @other_op_other_kernel(%x: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.launch @add.32(
  // CHECK-NEXT: ck.launch @swiglu.32(
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  ck.swiglu ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  return
}

// -----

// Regression: a kernel made of an op that reads one buffer twice ignored its second input.
// CHECK-LABEL: func.func @same_buffer_twice_is_two_arguments
// CHECK-SAME: %[[A:.*]]: memref<3x32x16xf32>, %[[B:.*]]: memref<3x32x16xf32>, %[[C:.*]]: memref<3x32x16xf32>)
func.func @same_buffer_twice_is_two_arguments(%a: memref<3x32x16xf32>, %b: memref<3x32x16xf32>, %c: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.launch @add.32(%[[A]], %[[A]], %[[B]])
  // CHECK-NEXT: ck.launch @add.32(%[[A]], %[[B]], %[[C]])
  ck.add ins(%a, %a : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%b : memref<3x32x16xf32>)
  ck.add ins(%a, %b : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%c : memref<3x32x16xf32>)
  return
}
// CHECK: func.func private @add.32({{.*}}: index, %[[A:.*]]: memref<3x32x16xf32>, %[[B:.*]]: memref<3x32x16xf32>, %[[C:.*]]: memref<3x32x16xf32>)
// CHECK-NEXT: ck.add ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :

// -----

// Names say the op, the shape that matters, and what is fused.
// CHECK-LABEL: func.func @names
func.func @names(%x: memref<3x32x16xf32>, %y: memref<3x32x16xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>,
                 %t: memref<3x4x16xf32>, %w2: memref<32x32xf32>, %b2: memref<32xf32>, %wo: memref<4x32x16xf32>, %emb: memref<64x32xf32>,
                 %logits: memref<40x64xf32>, %ids: memref<40xi32>, %loss: memref<40xf32>) {
  // CHECK-NEXT: ck.launch @linear.4x16x32(
  // CHECK-NEXT: ck.launch @linear.4x16x32.rope(
  // CHECK-NEXT: ck.launch @linear.32x32.residual(
  // CHECK-NEXT: ck.launch @attn_project.4x32x16(
  // CHECK-NEXT: ck.launch @attn_project.4x32x16.residual(
  // CHECK-NEXT: ck.launch @lm_head.64x32(
  // CHECK-NEXT: ck.launch @embed.64x32(
  // CHECK-NEXT: ck.launch @cross_entropy.40x64(
  ck.linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%y : memref<3x32x16xf32>) rows 8 depth 32
  ck.linear ins(%x, %w, %b : memref<3x32x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%t, %t : memref<3x4x16xf32>, memref<3x4x16xf32>) outs(%y : memref<3x32x16xf32>) rows 8 depth 32
  ck.linear ins(%x, %w2, %b2 : memref<3x32x16xf32>, memref<32x32xf32>, memref<32xf32>) residual(%x : memref<3x32x16xf32>) outs(%y : memref<3x32x16xf32>) rows 32 depth 32
  ck.attn_project ins(%x, %wo, %b2 : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%y : memref<3x32x16xf32>) rows 32 depth 8
  ck.attn_project ins(%x, %wo, %b2 : memref<3x32x16xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%x : memref<3x32x16xf32>) outs(%y : memref<3x32x16xf32>) rows 32 depth 8
  ck.lm_head ins(%x, %emb : memref<3x32x16xf32>, memref<64x32xf32>) outs(%logits : memref<40x64xf32>) depth 32
  ck.embed ins(%ids, %emb : memref<40xi32>, memref<64x32xf32>) outs(%y : memref<3x32x16xf32>)
  ck.cross_entropy ins(%logits, %ids : memref<40x64xf32>, memref<40xi32>) outs(%loss : memref<40xf32>)
  return
}

// -----

// CHECK-LABEL: func.func private @kernels_and_declarations_stay
// CHECK-NEXT: ck.add
// CHECK: func.func private @declaration()
// CHECK-NOT: func.func
func.func private @kernels_and_declarations_stay(%i: index, %x: memref<3x32x16xf32>) attributes {ck.kernel} {
  ck.add ins(%x, %x : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%x : memref<3x32x16xf32>)
  return
}
func.func private @declaration()
