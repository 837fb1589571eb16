// RUN: ck-opt %s -ck-split-attention | FileCheck %s
// RUN: ck-opt %s -ck-split-attention=keys=16 | FileCheck %s --check-prefix=KEYS

module {
// 300 positions are three blocks of 128 keys, or nineteen of 16; a part is as wide as the cache, and 16 more.
// CHECK-LABEL: func.func @decode() attributes {ck.rows}
// KEYS-LABEL: func.func @decode() attributes {ck.rows}
func.func @decode() attributes {ck.rows} {
  // CHECK-NEXT: %[[PARTS:.*]] = ck.buffer scratch "attn_out.parts" layer 3 : memref<4x6x3x48xf32>
  // CHECK-NEXT: %[[Q:.*]] = ck.buffer scratch "q" layer 3
  // CHECK-NEXT: %[[K:.*]] = ck.buffer slot "k" layer 3
  // CHECK-NEXT: %[[V:.*]] = ck.buffer slot "v" layer 3
  // CHECK-NEXT: %[[Y:.*]] = ck.buffer scratch "attn_out" layer 3
  // CHECK-NEXT: ck.attention_part ins(%[[Q]], %[[K]], %[[V]] : memref<4x120xf32>, memref<2x300x32xf32>, memref<2x300x32xf32>) outs(%[[PARTS]] : memref<4x6x3x48xf32>) heads 6 head_dim 20 keys 128
  // CHECK-NEXT: ck.attention_merge ins(%[[PARTS]] : memref<4x6x3x48xf32>) outs(%[[Y]] : memref<4x120xf32>) heads 6 head_dim 20 keys 128
  // CHECK-NEXT: return
  // KEYS: ck.buffer scratch "attn_out.parts" layer 3 : memref<4x6x19x48xf32>
  // KEYS: ck.attention_part {{.*}} keys 16{{$}}
  // KEYS: ck.attention_merge {{.*}} keys 16{{$}}
  %q = ck.buffer scratch "q" layer 3 : memref<4x120xf32>
  %k = ck.buffer slot "k" layer 3 : memref<2x300x32xf32>
  %v = ck.buffer slot "v" layer 3 : memref<2x300x32xf32>
  %y = ck.buffer scratch "attn_out" layer 3 : memref<4x120xf32>
  ck.attention ins(%q, %k, %v : memref<4x120xf32>, memref<2x300x32xf32>, memref<2x300x32xf32>) outs(%y : memref<4x120xf32>) heads 6 head_dim 20
  return
}

// Each op has parts of its own. A context below one block is one block.
// CHECK-LABEL: func.func @two_ops_on_arguments
func.func @two_ops_on_arguments(%q: memref<1x8xf32>, %k: memref<1x5x16xf32>, %y: memref<1x8xf32>) attributes {ck.rows} {
  // CHECK-DAG: %[[A:.*]] = ck.buffer scratch "attention.parts" : memref<1x1x1x32xf32>
  // CHECK-DAG: %[[B:.*]] = ck.buffer scratch "attention.parts" : memref<1x1x1x32xf32>
  // CHECK: ck.attention_part {{.*}} outs(%[[FIRST:.*]] :
  // CHECK-NEXT: ck.attention_merge ins(%[[FIRST]] :
  // CHECK-NEXT: ck.attention_part {{.*}} outs(%[[SECOND:.*]] :
  // CHECK-NOT: ins(%[[FIRST]] :
  // CHECK: ck.attention_merge ins(%[[SECOND]] :
  // CHECK-NEXT: return
  ck.attention ins(%q, %k, %k : memref<1x8xf32>, memref<1x5x16xf32>, memref<1x5x16xf32>) outs(%y : memref<1x8xf32>) heads 1 head_dim 8
  ck.attention ins(%y, %k, %k : memref<1x8xf32>, memref<1x5x16xf32>, memref<1x5x16xf32>) outs(%q : memref<1x8xf32>) heads 1 head_dim 8
  return
}

// CHECK-LABEL: func.func @leaves_a_program_of_panels
func.func @leaves_a_program_of_panels(%q: memref<40x8xf32>, %k: memref<1x40x16xf32>, %y: memref<40x8xf32>) {
  // CHECK-NEXT: ck.attention ins
  // CHECK-NEXT: return
  ck.attention ins(%q, %k, %k : memref<40x8xf32>, memref<1x40x16xf32>, memref<1x40x16xf32>) outs(%y : memref<40x8xf32>) heads 1 head_dim 8
  return
}
}
