// RUN: ck-opt %s -ck-lower-attention | FileCheck %s
// RUN: ck-opt %s "-ck-lower-attention=key-block=16 strict" | FileCheck %s --check-prefix=STRICT

module {
// STRICT-LABEL: func.func private @two_query_heads_of_a_kv_head
// CHECK-LABEL: func.func private @two_query_heads_of_a_kv_head
func.func private @two_query_heads_of_a_kv_head(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK-DAG: %[[Q:.*]] = memref.reinterpret_cast %arg5 to offset: [0], sizes: [1280], strides: [1]
  // CHECK-DAG: %[[K:.*]] = memref.reinterpret_cast %arg6 to offset: [0], sizes: [1280], strides: [1]
  // CHECK-DAG: %[[V:.*]] = memref.reinterpret_cast %arg7 to offset: [0], sizes: [1280], strides: [1]
  // CHECK: %[[SCORES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x64x8xf32>
  // CHECK: %[[MAX:.*]] = memref.alloca() {{.*}} : memref<2x8xf32>
  // CHECK: %[[SUM:.*]] = memref.alloca() {{.*}} : memref<2x8xf32>
  // Items (panel, kv head) are dealt out in turn: tid, tid + threads, ...
  // CHECK: scf.for %{{.*}} = %arg0 to %{{.*}} step %arg1 {
  // Maxima start at a score that exp makes 0, sums and results at 0.
  // CHECK: memref.store %{{.*}}, %[[MAX]]
  // CHECK: memref.store %{{.*}}, %[[SUM]]
  // CHECK: } {ck.lanes}
  // CHECK: } {ck.lanes}
  // CHECK: %[[BLOCK:.*]] = arith.constant 64 : index
  // CHECK: scf.for %{{.*}} to %[[KEYS:.*]] step %[[BLOCK]] {
  // Scores: 4 keys against 2 heads, scaled, keys after the query masked.
  // CHECK: ck.register_tile %[[K]][{{.*}}], %[[Q]][%{{.*}}, %{{.*}}] depth %{{.*}} segments 1 by 0 step 1 unroll 1 :
  // CHECK: arith.constant dense<0.353553385> : vector<8xf32>
  // CHECK: arith.constant dense<-1.000000e+30> : vector<8xf32>
  // CHECK-COUNT-4: arith.cmpi sle, %{{.*}}, %{{.*}} : vector<8xi32>
  // Softmax of each head.
  // CHECK-COUNT-2: math.exp
  // CHECK: } {ck.lanes}
  // CHECK-COUNT-2: math.exp
  // CHECK: } {ck.lanes}
  // Weights times values: a step in k is a row of V.
  // CHECK: scf.for
  // CHECK: ck.register_tile %[[V]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] depth %{{.*}} segments 1 by 0 step 16 unroll 1 :
  // CHECK: math.fma
  // CHECK: vector.store %{{.*}}, %arg8
  // The division by the sum comes last.
  // CHECK: %[[INV:.*]] = arith.divf
  // CHECK: arith.mulf %{{.*}}, %[[INV]]
  // CHECK: } {ck.lanes}
  // CHECK-NOT: ck.attention
  // CHECK: return
  // STRICT: memref.alloca() {alignment = 64 : i64} : memref<2x16x8xf32>
  // STRICT: math.exp %{{.*}} : f64
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8 tile <rows = 4, vectors = 2, panels = 2, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @head_dim_not_a_multiple_of_rows
func.func private @head_dim_not_a_multiple_of_rows(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // 16 keys a tile; the 8 values of a head are one shorter tile without a loop.
  // CHECK: ck.register_tile {{.*}} step 1 unroll 2 : memref<1280xf32>, memref<1280xf32> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>{{$}}
  // CHECK: ck.register_tile {{.*}} step 16 unroll 2 : memref<1280xf32>, memref<512xf32> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  // CHECK: ck.register_tile {{.*}} step 16 unroll 2 : memref<1280xf32>, memref<512xf32> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>{{$}}
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8 tile <rows = 16, vectors = 1, panels = 1, unroll = 2>
  return
}

// CHECK-LABEL: func.func private @tile_says_whether_sums_are_double
func.func private @tile_says_whether_sums_are_double(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<5x32x8xf32>, %k: memref<2x40x16xf32>, %v: memref<2x40x16xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK: ck.register_tile {{.*}} step 1 unroll 1 strict
  // CHECK: ck.register_tile {{.*}} step 16 unroll 1 strict
  ck.attention ins(%q, %k, %v : memref<5x32x8xf32>, memref<2x40x16xf32>, memref<2x40x16xf32>) outs(%y : memref<5x32x8xf32>) heads 4 head_dim 8 tile <rows = 4, vectors = 1, panels = 1, unroll = 1, strict = true>
  return
}
}
