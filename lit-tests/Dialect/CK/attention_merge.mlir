// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[PARTS:.*]]: memref<4x4x3x32xf32>, %[[OUT:.*]]: memref<4x32xf32>)
func.func @rows(%parts: memref<4x4x3x32xf32>, %out: memref<4x32xf32>) {
  // CHECK-NEXT: ck.attention_merge ins(%[[PARTS]] : memref<4x4x3x32xf32>) outs(%[[OUT]] : memref<4x32xf32>) heads 4 head_dim 8 keys 128{{$}}
  ck.attention_merge ins(%parts : memref<4x4x3x32xf32>) outs(%out : memref<4x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// CHECK-LABEL: func.func @one_block(
// CHECK-SAME: %[[PARTS:.*]]: memref<1x3x1x32xf32>, %[[OUT:.*]]: memref<1x48xf32>)
func.func @one_block(%parts: memref<1x3x1x32xf32>, %out: memref<1x48xf32>) {
  // CHECK-NEXT: ck.attention_merge ins(%[[PARTS]] : memref<1x3x1x32xf32>) outs(%[[OUT]] : memref<1x48xf32>) heads 3 head_dim 16 keys 40 {note}{{$}}
  ck.attention_merge ins(%parts : memref<1x3x1x32xf32>) outs(%out : memref<1x48xf32>) heads 3 head_dim 16 keys 40 {note}
  return
}

// CHECK-LABEL: func.func @padded_rows(
// CHECK-SAME: %[[PARTS:.*]]: memref<3x4x9x32xf32>, %[[OUT:.*]]: memref<2x40xf32>)
func.func @padded_rows(%parts: memref<3x4x9x32xf32>, %out: memref<2x40xf32>) {
  // CHECK-NEXT: ck.attention_merge ins(%[[PARTS]] : memref<3x4x9x32xf32>) outs(%[[OUT]] : memref<2x40xf32>) heads 4 head_dim 8 keys 7{{$}}
  ck.attention_merge ins(%parts : memref<3x4x9x32xf32>) outs(%out : memref<2x40xf32>) heads 4 head_dim 8 keys 7
  return
}
