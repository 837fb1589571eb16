// RUN: ck-opt %s -ck-lower-linear | FileCheck %s
// RUN: ck-opt %s -ck-lower-linear=strict | FileCheck %s --check-prefix=STRICT

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func private @linear
func.func private @linear(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x64xf32>, %w: memref<32x64xf32>, %b: memref<32xf32>, %y: memref<4x32xf32>) attributes {ck.kernel} {
  // CHECK-DAG: %[[X:.*]] = memref.reinterpret_cast %arg5 {{.*}} to memref<256xf32>
  // CHECK-DAG: %[[W:.*]] = memref.reinterpret_cast %arg6 {{.*}} to memref<2048xf32>
  // CHECK-DAG: %[[Y:.*]] = memref.reinterpret_cast %arg8 {{.*}} to memref<128xf32>
  // Tokens in pairs up to the last whole pair, then one by one.
  // CHECK: %[[COUNT:.*]] = arith.subi %arg2, %[[ZERO:.*]] : index
  // CHECK: %[[REST:.*]] = arith.remui %[[COUNT]], %c2{{.*}} : index
  // CHECK: %[[MIDDLE:.*]] = arith.subi %arg2, %[[REST]] : index
  // Threads share the 8 tiles of rows.
  // CHECK: %[[TILES:.*]] = arith.constant 8 : index
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[TILES]], %arg0
  // CHECK-NEXT: %[[LO:.*]] = arith.divui %[[BEFORE]], %arg1
  // CHECK-NEXT: %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[TILES]]
  // CHECK-NEXT: %[[HI:.*]] = arith.divui %[[AFTER]], %arg1
  // CHECK-NEXT: affine.for %{{.*}} = %[[LO]] to %[[HI]] {
  // CHECK-NOT: arith.minui
  // CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[MIDDLE]] step %c2
  // CHECK: %[[T:.*]]:2 = ck.dot_tile %[[W]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %[[X]][%{{.*}}, %{{.*}}] depth 60 segments 1 by 0 lanes 8 unroll 2 prefetch {{[0-9]+}} : memref<2048xf32>, memref<256xf32> -> vector<4xf32>, vector<4xf32>
  // CHECK: %[[B:.*]] = vector.load %arg7[%{{.*}}] : memref<32xf32>, vector<4xf32>
  // CHECK: %[[SUM:.*]] = arith.addf %[[T]]#0, %[[B]] : vector<4xf32>
  // CHECK: vector.store %[[SUM]], %[[Y]][%{{.*}}] : memref<128xf32>, vector<4xf32>
  // CHECK: %[[OTHER:.*]] = arith.addf %[[T]]#1, %{{.*}} : vector<4xf32>
  // CHECK: vector.store %[[OTHER]], %[[Y]]
  // CHECK-NOT: vector.store
  // CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %arg2 step %c1
  // CHECK: %[[S:.*]] = ck.dot_tile %[[W]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %[[X]][%{{.*}}] depth 60
  // CHECK: arith.addf %[[S]],
  // CHECK: vector.store
  // CHECK-NOT: vector.store
  // CHECK: return
  ck.linear ins(%x, %w, %b : memref<4x64xf32>, memref<32x64xf32>, memref<32xf32>) outs(%y : memref<4x32xf32>) rows 32 depth 60 tile <rows = 4, vectors = 2, panels = 2, unroll = 2>
  return
}

// With tiles of one token there is one loop over them.
// CHECK-LABEL: func.func private @one_token_at_a_time
func.func private @one_token_at_a_time(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>, %y: memref<4x32xf32>) attributes {ck.kernel} {
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %arg2 step %c1
  // CHECK: ck.dot_tile
  // CHECK-NOT: ck.dot_tile
  // CHECK: return
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%y : memref<4x32xf32>) rows 32 depth 32 tile <rows = 4, vectors = 1, panels = 1, unroll = 2>
  return
}

// The last tile begins at row 27 of 31 and computes row 27 again.
// CHECK-LABEL: func.func private @last_tile_moves_back
func.func private @last_tile_moves_back(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<31x32xf32>, %b: memref<31xf32>, %y: memref<4x31xf32>) attributes {ck.kernel} {
  // CHECK: arith.constant 8 : index
  // CHECK: affine.for
  // CHECK: %[[LAST:.*]] = arith.constant 27 : index
  // CHECK-NEXT: %[[ROW:.*]] = arith.minui %{{.*}}, %[[LAST]]
  // CHECK: %[[START:.*]] = arith.muli %[[ROW]], %{{.*}} : index
  // CHECK: %[[BASE:.*]] = arith.addi %{{.*}}, %[[START]] : index
  // CHECK: %[[OFF0:.*]] = arith.addi %[[BASE]], %c0{{.*}} : index
  // CHECK: %[[OFF1:.*]] = arith.addi %[[BASE]], %c32{{.*}} : index
  // CHECK: %[[OFF2:.*]] = arith.addi %[[BASE]], %c64{{.*}} : index
  // CHECK: %[[OFF3:.*]] = arith.addi %[[BASE]], %c96{{.*}} : index
  // CHECK: ck.dot_tile %{{.*}}[%[[OFF0]], %[[OFF1]], %[[OFF2]], %[[OFF3]]]
  // CHECK: vector.store {{.*}} vector<4xf32>
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<31x32xf32>, memref<31xf32>) outs(%y : memref<4x31xf32>) rows 31 depth 32 tile <rows = 4, vectors = 1, panels = 1, unroll = 1>
  return
}

// Three rows for a tile of four: the last one twice, and three single stores.
// CHECK-LABEL: func.func private @fewer_rows_than_a_tile
func.func private @fewer_rows_than_a_tile(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<3x32xf32>, %b: memref<3xf32>, %r: memref<4x3xf32>, %y: memref<4x3xf32>) attributes {ck.kernel} {
  // CHECK: arith.minui %{{.*}}, %c0
  // CHECK: %[[OFF0:.*]] = arith.addi %[[BASE:.*]], %c0{{.*}} : index
  // CHECK: %[[OFF1:.*]] = arith.addi %[[BASE]], %c32{{.*}} : index
  // CHECK: %[[OFF2:.*]] = arith.addi %[[BASE]], %c64{{.*}} : index
  // CHECK: %[[OFF3:.*]] = arith.addi %[[BASE]], %c64{{.*}} : index
  // CHECK: ck.dot_tile %{{.*}}[%[[OFF0]], %[[OFF1]], %[[OFF2]], %[[OFF3]]]
  // CHECK-NOT: vector.load
  // CHECK-COUNT-4: memref.load %arg7
  // CHECK: vector.from_elements
  // CHECK-NOT: vector.load
  // CHECK-COUNT-4: memref.load
  // CHECK: vector.from_elements
  // CHECK-NOT: vector.store
  // CHECK-COUNT-3: memref.store
  // CHECK-NOT: store
  // CHECK: return
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<3x32xf32>, memref<3xf32>) residual(%r : memref<4x3xf32>) outs(%y : memref<4x3xf32>) rows 3 depth 32 tile <rows = 4, vectors = 1, panels = 1, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @residual
func.func private @residual(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>, %r: memref<4x32xf32>, %y: memref<4x32xf32>) attributes {ck.kernel} {
  // CHECK: %[[T:.*]] = ck.dot_tile
  // CHECK: %[[SUM:.*]] = arith.addf %[[T]],
  // CHECK: %[[R:.*]] = memref.reinterpret_cast %arg8
  // CHECK: %[[BEFORE:.*]] = vector.load %[[R]][%[[PLACE:.*]]]
  // CHECK: %[[ALL:.*]] = arith.addf %[[BEFORE]], %[[SUM]]
  // CHECK: vector.store %[[ALL]], %{{.*}}[%[[PLACE]]]
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<32x32xf32>, memref<32xf32>) residual(%r : memref<4x32xf32>) outs(%y : memref<4x32xf32>) rows 32 depth 32 tile <rows = 4, vectors = 1, panels = 1, unroll = 1>
  return
}

// A tile of four rows of each half of a head; the angles are those of position + token.
// CHECK-LABEL: func.func private @rope
func.func private @rope(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>, %cos: memref<40x8xf32>, %sin: memref<40x8xf32>, %y: memref<4x64xf32>) attributes {ck.kernel} {
  // CHECK: %[[T:.*]] = ck.dot_tile {{.*}} -> vector<8xf32>
  // CHECK: %[[FIRST:.*]] = vector.shuffle %[[T]], %[[T]] [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
  // CHECK: %[[A:.*]] = arith.addf %[[FIRST]], %{{.*}} : vector<4xf32>
  // CHECK: %[[SECOND:.*]] = vector.shuffle %[[T]], %[[T]] [4, 5, 6, 7]
  // CHECK: %[[B:.*]] = arith.addf %[[SECOND]], %{{.*}} : vector<4xf32>
  // CHECK: arith.addi %arg4, %{{.*}} : index
  // CHECK: %[[COS:.*]] = memref.reinterpret_cast %arg8
  // CHECK: %[[C:.*]] = vector.load %[[COS]][%[[ANGLE:.*]]] : memref<320xf32>, vector<4xf32>
  // CHECK: %[[SIN:.*]] = memref.reinterpret_cast %arg9
  // CHECK: %[[S:.*]] = vector.load %[[SIN]][%[[ANGLE]]] : memref<320xf32>, vector<4xf32>
  // CHECK-DAG: %[[BS:.*]] = arith.mulf %[[B]], %[[S]]
  // CHECK-DAG: %[[BC:.*]] = arith.mulf %[[B]], %[[C]]
  // CHECK-DAG: %[[NBS:.*]] = arith.negf %[[BS]]
  // CHECK-DAG: %[[Y0:.*]] = math.fma %[[A]], %[[C]], %[[NBS]]
  // CHECK-DAG: %[[Y1:.*]] = math.fma %[[A]], %[[S]], %[[BC]]
  // CHECK: vector.store %[[Y0]],
  // CHECK: vector.store %[[Y1]],
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<40x8xf32>, memref<40x8xf32>) outs(%y : memref<4x64xf32>) rows 16 depth 32 tile <rows = 8, vectors = 1, panels = 1, unroll = 1>
  return
}

// Head g of the cache is 40 rows of 16 lanes: row position + token of it is stored, and no row is left out.
// CHECK-LABEL: func.func private @head_major_stores_at_the_position
func.func private @head_major_stores_at_the_position(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<2x16x32xf32>, %b: memref<2x16xf32>, %k: memref<2x40x16xf32>) attributes {ck.kernel} {
  // CHECK: %[[K:.*]] = memref.reinterpret_cast %arg8 {{.*}} to memref<1280xf32>
  // CHECK: affine.for
  // CHECK: %[[GROUP:.*]] = affine.apply
  // CHECK: scf.for %[[TOKEN:.*]] =
  // CHECK: %[[ROW:.*]] = arith.addi %[[TOKEN]], %c0
  // CHECK: ck.dot_tile
  // CHECK-NOT: arith.cmpi
  // CHECK: %[[AT:.*]] = arith.addi %arg4, %[[ROW]] : index
  // CHECK: %[[HEAD:.*]] = arith.muli %[[GROUP]], %c40{{.*}} : index
  // CHECK: %[[LINE:.*]] = arith.addi %[[HEAD]], %[[AT]] : index
  // CHECK: %[[LANE0:.*]] = arith.muli %[[LINE]], %c16{{.*}} : index
  // CHECK: vector.store %{{.*}}, %[[K]]
  ck.linear ins(%x, %w, %b : memref<4x32xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32 tile <rows = 4, vectors = 1, panels = 1, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @gated_linear
// STRICT-LABEL: func.func private @gated_linear
func.func private @gated_linear(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<4x48xf32>) attributes {ck.kernel} {
  // CHECK: %[[T:.*]] = ck.dot_tile {{.*}} -> vector<8xf32>
  // CHECK: %[[G:.*]] = vector.shuffle %[[T]], %[[T]] [0, 1, 2, 3]
  // CHECK: %[[GATE:.*]] = arith.addf %[[G]], %{{.*}}
  // CHECK: %[[U:.*]] = vector.shuffle %[[T]], %[[T]] [4, 5, 6, 7]
  // CHECK: %[[UP:.*]] = arith.addf %[[U]], %{{.*}}
  // CHECK: %[[NEG:.*]] = arith.negf %[[GATE]]
  // CHECK: math.exp %[[NEG]] : vector<4xf32>
  // CHECK: %[[SILU:.*]] = arith.divf %[[GATE]],
  // CHECK: %[[V:.*]] = arith.mulf %[[SILU]], %[[UP]]
  // CHECK: vector.store %[[V]],
  // CHECK-NOT: vector.store
  // CHECK: return
  // STRICT: math.exp %{{.*}} : vector<4xf64>
  ck.gated_linear ins(%x, %w, %b : memref<4x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<4x48xf32>) rows 48 depth 32 tile <rows = 8, vectors = 1, panels = 1, unroll = 1>
  return
}

// The heads' weights lie 32 rows of 16 apart, their values in x one behind the other.
// CHECK-LABEL: func.func private @attn_project
func.func private @attn_project(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>, %y: memref<4x32xf32>) attributes {ck.kernel} {
  // CHECK: ck.dot_tile {{.*}} depth 8 segments 4 by 512 lanes 8 unroll 2 strict prefetch
  ck.attn_project ins(%x, %w, %b : memref<4x32xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%y : memref<4x32xf32>) rows 32 depth 8 tile <rows = 4, vectors = 1, panels = 1, unroll = 2, strict = true>
  return
}

// Groups of tokens are counted from the first row wanted.
// CHECK-LABEL: func.func private @lm_head_from_the_first_row
func.func private @lm_head_from_the_first_row(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x32xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) attributes {ck.kernel} {
  // CHECK: %[[COUNT:.*]] = arith.subi %arg2, %arg3 : index
  // CHECK: %[[REST:.*]] = arith.remui %[[COUNT]], %c2{{.*}} : index
  // CHECK: %[[MIDDLE:.*]] = arith.subi %arg2, %[[REST]] : index
  // CHECK: scf.for %{{.*}} = %arg3 to %[[MIDDLE]] step %c2
  // CHECK: ck.dot_tile
  // Logits have the row of the token, wherever it stands in the context.
  // CHECK-NOT: arith.addi %arg4
  // CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %arg2 step %c1
  // CHECK-NOT: arith.addi %arg4
  // CHECK: return
  ck.lm_head ins(%x, %t : memref<4x32xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32 tile <rows = 4, vectors = 2, panels = 2, unroll = 1>
  return
}
}
