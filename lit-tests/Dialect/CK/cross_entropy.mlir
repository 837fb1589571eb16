// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @as_many_rows(
// CHECK-SAME: %[[LOGITS:.*]]: memref<40x64xf32>, %[[TARGETS:.*]]: memref<40xi32>, %[[OUT:.*]]: memref<40xf32>)
func.func @as_many_rows(%logits: memref<40x64xf32>, %targets: memref<40xi32>, %out: memref<40xf32>) {
  // CHECK-NEXT: ck.cross_entropy ins(%[[LOGITS]], %[[TARGETS]] : memref<40x64xf32>, memref<40xi32>) outs(%[[OUT]] : memref<40xf32>)
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<40xi32>) outs(%out : memref<40xf32>)
  return
}

// CHECK-LABEL: func.func @longer_targets_and_losses(
// CHECK-SAME: %[[LOGITS:.*]]: memref<40x64xf32>, %[[TARGETS:.*]]: memref<64xi32>, %[[OUT:.*]]: memref<48xf32>)
func.func @longer_targets_and_losses(%logits: memref<40x64xf32>, %targets: memref<64xi32>, %out: memref<48xf32>) {
  // CHECK-NEXT: ck.cross_entropy ins(%[[LOGITS]], %[[TARGETS]] : memref<40x64xf32>, memref<64xi32>) outs(%[[OUT]] : memref<48xf32>) {note}
  ck.cross_entropy ins(%logits, %targets : memref<40x64xf32>, memref<64xi32>) outs(%out : memref<48xf32>) {note}
  return
}
