// RUN: ck-opt %s -ck-lower-linear | FileCheck %s
// RUN: ck-opt %s -ck-lower-linear=strict | FileCheck %s --check-prefix=STRICT

module {
// CHECK-LABEL: func.func private @linear
func.func private @linear(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<32x64xf32>, %b: memref<32xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK-DAG: %[[X:.*]] = memref.reinterpret_cast %arg5
  // CHECK-DAG: %[[W:.*]] = memref.reinterpret_cast %arg6
  // Threads share the 16 tiles of rows.
  // CHECK: %[[TILES:.*]] = arith.constant 16 : index
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[TILES]], %arg0
  // CHECK-NEXT: %[[LO:.*]] = arith.divui %[[BEFORE]], %arg1
  // CHECK-NEXT: %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[TILES]]
  // CHECK-NEXT: %[[HI:.*]] = arith.divui %[[AFTER]], %arg1
  // CHECK-NEXT: affine.for %{{.*}} = %[[LO]] to %[[HI]] {
  // Whole tiles: no row is held back.
  // CHECK-NOT: arith.minui
  // CHECK: affine.for %[[P:.*]] = %{{.*}} to %{{.*}} {
  // CHECK: %[[T:.*]]:2 = ck.register_tile %[[W]][%{{.*}}, %{{.*}}], %[[X]][%{{.*}}] depth %{{.*}} segments 1 by 0 step 1 unroll 4 prefetch {{[0-9]+}} parts {{[12]}} : memref<2048xf32>, memref<1280xf32> -> vector<8xf32>, vector<8xf32>
  // CHECK: %[[B:.*]] = memref.load %arg7
  // CHECK-NEXT: %[[BB:.*]] = vector.broadcast %[[B]] : f32 to vector<8xf32>
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[T]]#0, %[[BB]]
  // CHECK: arith.addf %[[T]]#1,
  // CHECK: vector.store %[[SUM]], %arg8[%[[P]],
  // CHECK: vector.store
  // CHECK: } {ck.block = 6 : i64, ck.jam = 3 : i64}
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<32x64xf32>, memref<32xf32>) outs(%y : memref<5x32x8xf32>) rows 32 depth 32 tile <rows = 2, vectors = 3, panels = 6, unroll = 4>
  return
}

// CHECK-LABEL: func.func private @last_tile_moves_back
func.func private @last_tile_moves_back(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<31x32xf32>, %b: memref<31xf32>, %y: memref<5x31x8xf32>) attributes {ck.kernel} {
  // CHECK: affine.for
  // CHECK: %[[LAST:.*]] = arith.constant 29 : index
  // CHECK-NEXT: %[[ROW:.*]] = arith.minui %{{.*}}, %[[LAST]]
  // Its rows lie a constant apart, as those of any tile.
  // CHECK: %[[START:.*]] = arith.muli %[[ROW]], %{{.*}} : index
  // CHECK: %[[BASE:.*]] = arith.addi %{{.*}}, %[[START]] : index
  // CHECK: %[[OFF0:.*]] = arith.addi %[[BASE]], %c0{{.*}} : index
  // CHECK: %[[OFF1:.*]] = arith.addi %[[BASE]], %c32{{.*}} : index
  // CHECK: ck.register_tile %{{.*}}[%[[OFF0]], %[[OFF1]]]
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<31x32xf32>, memref<31xf32>) outs(%y : memref<5x31x8xf32>) rows 31 depth 32 tile <rows = 2, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @fewer_rows_than_a_tile
func.func private @fewer_rows_than_a_tile(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<1x32xf32>, %b: memref<1xf32>, %y: memref<5x1x8xf32>) attributes {ck.kernel} {
  // The second row of the tile is the first one again.
  // CHECK: arith.minui %{{.*}}, %c0
  // CHECK: arith.muli
  // CHECK: arith.muli
  // CHECK: %[[OFF0:.*]] = arith.addi %[[BASE:.*]], %c0{{.*}} : index
  // CHECK: %[[OFF1:.*]] = arith.addi %[[BASE]], %c0{{.*}} : index
  // CHECK: ck.register_tile %{{.*}}[%[[OFF0]], %[[OFF1]]]
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<1x32xf32>, memref<1xf32>) outs(%y : memref<5x1x8xf32>) rows 1 depth 32 tile <rows = 2, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @residual
func.func private @residual(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<32x32xf32>, %b: memref<32xf32>, %r: memref<5x32x8xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK: %[[T:.*]] = ck.register_tile
  // CHECK: %[[SUM:.*]] = arith.addf %[[T]],
  // CHECK: %[[R:.*]] = vector.load %arg8[%[[P:.*]], %[[F:.*]], %[[Z:.*]]]
  // CHECK: %[[ALL:.*]] = arith.addf %[[R]], %[[SUM]]
  // CHECK: vector.store %[[ALL]], %arg9[%[[P]], %[[F]], %[[Z]]]
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<32x32xf32>, memref<32xf32>) residual(%r : memref<5x32x8xf32>) outs(%y : memref<5x32x8xf32>) rows 32 depth 32 tile <rows = 1, vectors = 1, panels = 1, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @rope
func.func private @rope(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>, %cos: memref<5x4x8xf32>, %sin: memref<5x4x8xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // A tile of two rows holds a pair: row i of the head and row i + 4.
  // CHECK: %[[HALF:.*]] = arith.constant 128 : index
  // CHECK: arith.addi %{{.*}}, %[[HALF]]
  // CHECK: %[[T:.*]]:2 = ck.register_tile
  // CHECK: %[[A:.*]] = arith.addf %[[T]]#0,
  // CHECK: %[[B:.*]] = arith.addf %[[T]]#1,
  // CHECK: %[[C:.*]] = vector.load %arg8
  // CHECK: %[[S:.*]] = vector.load %arg9
  // CHECK-DAG: %[[BS:.*]] = arith.mulf %[[B]], %[[S]]
  // CHECK-DAG: %[[BC:.*]] = arith.mulf %[[B]], %[[C]]
  // CHECK-DAG: %[[NBS:.*]] = arith.negf %[[BS]]
  // CHECK-DAG: %[[FIRST:.*]] = math.fma %[[A]], %[[C]], %[[NBS]]
  // CHECK-DAG: %[[SECOND:.*]] = math.fma %[[A]], %[[S]], %[[BC]]
  // CHECK: vector.store %[[FIRST]], %arg10
  // CHECK: vector.store %[[SECOND]], %arg10
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<4x16x32xf32>, memref<4x16xf32>) rope(%cos, %sin : memref<5x4x8xf32>, memref<5x4x8xf32>) outs(%y : memref<5x32x8xf32>) rows 8 depth 32 tile <rows = 2, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @head_major_stores_rows_below_T
func.func private @head_major_stores_rows_below_T(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<2x16x32xf32>, %b: memref<2x16xf32>, %k: memref<2x40x16xf32>) attributes {ck.kernel} {
  // CHECK: ck.register_tile
  // The tile is transposed by shuffles: 8 lanes, 4 values each.
  // CHECK: vector.shuffle
  // CHECK: arith.cmpi ult, %{{.*}}, %arg2
  // CHECK-NOT: arith.cmpi
  // CHECK: return
  ck.linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<2x16x32xf32>, memref<2x16xf32>) outs(%k : memref<2x40x16xf32>) head_major rows 8 depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @gated_linear
// STRICT-LABEL: func.func private @gated_linear
func.func private @gated_linear(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<5x48x8xf32>) attributes {ck.kernel} {
  // Gate row i and up row i, 48 rows of 32 apart, are one tile.
  // CHECK: %[[UP:.*]] = arith.constant 1536 : index
  // CHECK: arith.addi %{{.*}}, %[[UP]]
  // CHECK: %[[T:.*]]:2 = ck.register_tile
  // CHECK: %[[GATE:.*]] = arith.addf %[[T]]#0,
  // CHECK: %[[U:.*]] = arith.addf %[[T]]#1,
  // CHECK: %[[NEG:.*]] = arith.negf %[[GATE]]
  // CHECK: math.exp %[[NEG]] : vector<8xf32>
  // CHECK: %[[SILU:.*]] = arith.divf %[[GATE]],
  // CHECK: %[[V:.*]] = arith.mulf %[[SILU]], %[[U]]
  // CHECK: vector.store %[[V]], %arg8
  // CHECK-NOT: vector.store
  // CHECK: return
  // STRICT: math.exp %{{.*}} : vector<8xf64>
  ck.gated_linear ins(%x, %w, %b : memref<5x32x8xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<5x48x8xf32>) rows 48 depth 32 tile <rows = 2, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @attn_project_sums_over_heads
func.func private @attn_project_sums_over_heads(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK: %[[D:.*]] = arith.constant 8 : index
  // CHECK: ck.register_tile {{.*}} depth %{{.*}} segments 4 by 512 step 1 unroll 1 prefetch {{[0-9]+}} parts {{[12]}} :
  // CHECK: arith.addf
  // CHECK: vector.store
  ck.attn_project ins(%x, %w, %b : memref<5x32x8xf32>, memref<4x32x16xf32>, memref<32xf32>) outs(%y : memref<5x32x8xf32>) rows 32 depth 8 tile <rows = 1, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @attn_project_residual
func.func private @attn_project_residual(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %w: memref<4x32x16xf32>, %b: memref<32xf32>, %r: memref<5x32x8xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK: ck.register_tile
  // CHECK: vector.load %arg8
  // CHECK: vector.store {{.*}} %arg9
  ck.attn_project ins(%x, %w, %b : memref<5x32x8xf32>, memref<4x32x16xf32>, memref<32xf32>) residual(%r : memref<5x32x8xf32>) outs(%y : memref<5x32x8xf32>) rows 32 depth 8 tile <rows = 1, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @lm_head_from_the_first_row_on
func.func private @lm_head_from_the_first_row_on(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %t: memref<66x32xf32>, %y: memref<40x66xf32>) attributes {ck.kernel} {
  // The first panel is that of the first row wanted.
  // CHECK: %[[FIRST:.*]] = arith.divui %arg3, %c8
  // CHECK: affine.for %{{.*}} = %[[FIRST]] to
  // CHECK: ck.register_tile
  // CHECK-NOT: arith.addf
  // CHECK: arith.cmpi ult, %[[TOKEN:.*]], %arg2
  // CHECK: arith.cmpi uge, %[[TOKEN]], %arg3
  // CHECK: scf.if
  // The last tile covers rows 62 to 65: whole, as all.
  // CHECK-NOT: maskedstore
  // CHECK: vector.store %{{.*}}, %arg7[%{{.*}}] : memref<40x66xf32>, vector<4xf32>
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<66x32xf32>) outs(%y : memref<40x66xf32>) depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @short_rows_are_masked
func.func private @short_rows_are_masked(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %t: memref<3x32xf32>, %y: memref<40x3xf32>) attributes {ck.kernel} {
  // CHECK: %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<4xi32>
  // CHECK: vector.maskedstore %arg7[%{{.*}}], %[[MASK]],
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<3x32xf32>) outs(%y : memref<40x3xf32>) depth 32 tile <rows = 4, vectors = 3, panels = 6, unroll = 1>
  return
}

// CHECK-LABEL: func.func private @tile_says_whether_sums_are_double
func.func private @tile_says_whether_sums_are_double(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) attributes {ck.kernel} {
  // CHECK: ck.register_tile {{.*}} unroll 2 strict
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32 tile <rows = 4, vectors = 1, panels = 6, unroll = 2, strict = true>
  return
}
}
