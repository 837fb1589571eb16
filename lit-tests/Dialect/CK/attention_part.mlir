// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @grouped_heads(
// CHECK-SAME: %[[Q:.*]]: memref<4x32xf32>, %[[K:.*]]: memref<2x300x16xf32>, %[[V:.*]]: memref<2x300x16xf32>, %[[PARTS:.*]]: memref<4x4x3x32xf32>)
func.func @grouped_heads(%q: memref<4x32xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) {
  // CHECK-NEXT: ck.attention_part ins(%[[Q]], %[[K]], %[[V]] : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%[[PARTS]] : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128{{$}}
  ck.attention_part ins(%q, %k, %v : memref<4x32xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 8 keys 128
  return
}

// CHECK-LABEL: func.func @one_kv_head_one_block(
// CHECK-SAME: %[[Q:.*]]: memref<1x48xf32>, %[[K:.*]]: memref<1x40x16xf32>, %[[V:.*]]: memref<1x40x16xf32>, %[[PARTS:.*]]: memref<1x3x1x32xf32>)
func.func @one_kv_head_one_block(%q: memref<1x48xf32>, %k: memref<1x40x16xf32>, %v: memref<1x40x16xf32>, %parts: memref<1x3x1x32xf32>) {
  // CHECK-NEXT: ck.attention_part ins(%[[Q]], %[[K]], %[[V]] : memref<1x48xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%[[PARTS]] : memref<1x3x1x32xf32>) heads 3 head_dim 16 keys 40 {note}{{$}}
  ck.attention_part ins(%q, %k, %v : memref<1x48xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%parts : memref<1x3x1x32xf32>) heads 3 head_dim 16 keys 40 {note}
  return
}

// CHECK-LABEL: func.func @padded_rows_and_more_blocks_than_keys(
// CHECK-SAME: %[[Q:.*]]: memref<2x40xf32>, %[[K:.*]]: memref<4x40x16xf32>, %[[V:.*]]: memref<4x40x16xf32>, %[[PARTS:.*]]: memref<3x4x9x32xf32>)
func.func @padded_rows_and_more_blocks_than_keys(%q: memref<2x40xf32>, %k: memref<4x40x16xf32>, %v: memref<4x40x16xf32>, %parts: memref<3x4x9x32xf32>) {
  // CHECK-NEXT: ck.attention_part ins(%[[Q]], %[[K]], %[[V]] : memref<2x40xf32>, memref<4x40x16xf32>, memref<4x40x16xf32>) outs(%[[PARTS]] : memref<3x4x9x32xf32>) heads 4 head_dim 8 keys 7{{$}}
  ck.attention_part ins(%q, %k, %v : memref<2x40xf32>, memref<4x40x16xf32>, memref<4x40x16xf32>) outs(%parts : memref<3x4x9x32xf32>) heads 4 head_dim 8 keys 7
  return
}
