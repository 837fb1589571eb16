// RUN: ck-opt %s -split-input-file -ck-lower-attention | FileCheck %s
// RUN: ck-opt %s -split-input-file -ck-lower-attention=strict | FileCheck %s --check-prefix=STRICT

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// An item is a token, a kv head and a block of keys; threads take them in turn. Blocks count from position 0, up to
// the one of the last token. Two heads share a kv head: with two vectors a head, their four sums fit ten registers.
// CHECK-LABEL: func.func private @part
// STRICT-LABEL: func.func private @part
func.func private @part(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<4x48xf32>, %k: memref<2x300x16xf32>, %v: memref<2x300x16xf32>, %parts: memref<4x4x3x32xf32>) attributes {ck.kernel} {
  // CHECK: %[[SCORES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<256xf32>
  // CHECK: %[[SEEN:.*]] = arith.addi %arg4, %arg2 : index
  // CHECK: %[[UP:.*]] = arith.addi %[[SEEN]], %c127{{.*}} : index
  // CHECK: %[[BLOCKS:.*]] = arith.divui %[[UP]], %c128{{.*}} : index
  // CHECK: %[[HEADS:.*]] = arith.muli %arg2, %c2{{.*}} : index
  // CHECK: %[[ITEMS:.*]] = arith.muli %[[HEADS]], %[[BLOCKS]] : index
  // CHECK: %[[SCALED:.*]] = arith.muli %[[ITEMS]], %arg0 : index
  // CHECK: %[[LO:.*]] = arith.divui %[[SCALED]], %arg1 : index
  // CHECK: %[[END:.*]] = arith.addi %[[SCALED]], %[[ITEMS]] : index
  // CHECK: %[[HI:.*]] = arith.divui %[[END]], %arg1 : index
  // CHECK: scf.for %[[ITEM:.*]] = %[[LO]] to %[[HI]] step %c1{{.*}} {
  // CHECK: %[[BLOCK:.*]] = arith.remui %[[ITEM]], %[[BLOCKS]] : index
  // CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c128{{.*}} : index
  // A token sees the keys up to its own: blocks behind it are passed over.
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[FIRST]], %[[END:.*]] : index
  // CHECK: scf.if %[[IN]] {
  // CHECK: arith.subi %[[END]], %[[FIRST]] : index
  // CHECK: %[[COUNT:.*]] = arith.minui
  // Scores, four keys at a time, of both heads; keys beyond the last are masked.
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[COUNT]] step %c4
  // CHECK: %[[DOT:.*]]:2 = ck.dot_tile {{.*}} depth 12 segments 1 by 0 lanes 8 unroll 1 : memref<9600xf32>, memref<192xf32> -> vector<4xf32>, vector<4xf32>
  // CHECK: %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<4xi32>
  // CHECK: arith.mulf %[[DOT]]#0, %{{.*}} : vector<4xf32>
  // CHECK: arith.select %[[MASK]],
  // CHECK: vector.store
  // CHECK: arith.mulf %[[DOT]]#1, %{{.*}} : vector<4xf32>
  // CHECK: arith.select %[[MASK]],
  // The largest of each head, then the exps and their sum.
  // CHECK: arith.maxnumf {{.*}} : vector<8xf32>
  // CHECK: math.exp {{.*}} : vector<8xf32>
  // CHECK: math.exp {{.*}} : vector<8xf32>
  // CHECK-NOT: math.exp
  // Weighted sums over the whole width of the cache.
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c16
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[COUNT]] step %c1{{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
  // CHECK-COUNT-4: math.fma {{.*}} : vector<8xf32>
  // CHECK-COUNT-4: vector.store {{.*}} : memref<1536xf32>, vector<8xf32>
  // STRICT: ck.dot_tile {{.*}} unroll 1 strict :
  // STRICT: math.exp {{.*}} : vector<8xf64>
  // STRICT: -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>)
  // STRICT-COUNT-4: math.fma {{.*}} : vector<8xf64>
  ck.attention_part ins(%q, %k, %v : memref<4x48xf32>, memref<2x300x16xf32>, memref<2x300x16xf32>) outs(%parts : memref<4x4x3x32xf32>) heads 4 head_dim 12 keys 128
  return
}

// 32 vectors a head don't fit: 8 at a time divide them (4 where sums are in double), one head after the other.
// CHECK-LABEL: func.func private @part_of_wide_heads
// STRICT-LABEL: func.func private @part_of_wide_heads
func.func private @part_of_wide_heads(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<4x512xf32>, %k: memref<1x300x256xf32>, %parts: memref<4x2x3x272xf32>) attributes {ck.kernel} {
  // CHECK: memref.alloca() {alignment = 64 : i64} : memref<128xf32>
  // CHECK: ck.dot_tile {{.*}} -> vector<4xf32>{{$}}
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c256{{.*}} step %c64
  // CHECK: scf.for
  // CHECK-COUNT-8: math.fma {{.*}} : vector<8xf32>
  // CHECK-NOT: math.fma
  // CHECK: return
  // STRICT: scf.for %{{.*}} = %c0{{.*}} to %c256{{.*}} step %c32
  // STRICT: scf.for
  // STRICT-COUNT-4: math.fma {{.*}} : vector<8xf64>
  // STRICT-NOT: math.fma
  // STRICT: return
  ck.attention_part ins(%q, %k, %k : memref<4x512xf32>, memref<1x300x256xf32>, memref<1x300x256xf32>) outs(%parts : memref<4x2x3x272xf32>) heads 2 head_dim 256 keys 128
  return
}

// Seven keys have a row of eight scores.
// CHECK-LABEL: func.func private @blocks_shorter_than_a_vector
func.func private @blocks_shorter_than_a_vector(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<4x8xf32>, %k: memref<1x40x8xf32>, %parts: memref<4x1x6x24xf32>) attributes {ck.kernel} {
  // CHECK: memref.alloca() {alignment = 64 : i64} : memref<8xf32>
  // CHECK: arith.divui %{{.*}}, %c7
  ck.attention_part ins(%q, %k, %k : memref<4x8xf32>, memref<1x40x8xf32>, memref<1x40x8xf32>) outs(%parts : memref<4x1x6x24xf32>) heads 1 head_dim 8 keys 7
  return
}

// Threads share tokens x heads. The weight of each block is kept on the stack for the lanes; the last vector of 20
// lanes begins at 12.
// CHECK-LABEL: func.func private @merge
// STRICT-LABEL: func.func private @merge
func.func private @merge(%tid: index, %threads: index, %T: index, %first: index, %position: index, %parts: memref<4x6x3x48xf32>, %y: memref<4x120xf32>) attributes {ck.kernel} {
  // CHECK: %[[WEIGHTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<3xf32>
  // CHECK: arith.muli %arg2, %c6
  // CHECK: arith.addi %arg4, %{{.*}} : index
  // CHECK: %[[BLOCKS:.*]] = arith.divui %{{.*}}, %c128
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[BLOCKS]]
  // CHECK: arith.maxnumf {{.*}} : f32
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[BLOCKS]]
  // CHECK: %[[W:.*]] = math.exp {{.*}} : f32
  // CHECK: memref.store %[[W]], %[[WEIGHTS]]
  // CHECK: math.fma %[[W]],
  // CHECK: %[[INVERSE:.*]] = arith.divf
  // CHECK: scf.for %[[LANE:.*]] = %c0{{.*}} to %c20{{.*}} step %c8
  // CHECK: arith.minui %[[LANE]], %c12
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[BLOCKS]]
  // CHECK: math.fma {{.*}} : vector<8xf32>
  // CHECK: vector.broadcast %[[INVERSE]]
  // CHECK: vector.store
  // STRICT: math.exp {{.*}} : f64
  ck.attention_merge ins(%parts : memref<4x6x3x48xf32>) outs(%y : memref<4x120xf32>) heads 6 head_dim 20 keys 128
  return
}

// CHECK-LABEL: func.func private @merge_of_heads_shorter_than_a_vector
func.func private @merge_of_heads_shorter_than_a_vector(%tid: index, %threads: index, %T: index, %first: index, %position: index, %parts: memref<4x6x3x32xf32>, %y: memref<4x42xf32>) attributes {ck.kernel} {
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c7{{.*}} step %c1
  // CHECK: math.fma {{.*}} : f32
  // CHECK-NOT: vector.store
  // CHECK: memref.store
  // CHECK-NOT: vector.store
  // CHECK: return
  ck.attention_merge ins(%parts : memref<4x6x3x32xf32>) outs(%y : memref<4x42xf32>) heads 6 head_dim 7 keys 128
  return
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "znver4", features = "", vectorBits = 512, fma = true, registers = 32, l1 = 32768, l2 = 1048576>} {
// 24 of 32 registers hold sums: four vectors a head, so six heads; three divide a group of nine.
// CHECK-LABEL: func.func private @heads_side_by_side
func.func private @heads_side_by_side(%tid: index, %threads: index, %T: index, %first: index, %position: index, %q: memref<4x576xf32>, %k: memref<1x300x64xf32>, %parts: memref<4x9x3x80xf32>) attributes {ck.kernel} {
  // CHECK: memref.alloca() {alignment = 64 : i64} : memref<384xf32>
  // CHECK: ck.dot_tile {{.*}} lanes 16 unroll 1 : {{.*}} -> vector<4xf32>, vector<4xf32>, vector<4xf32>{{$}}
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c64
  // CHECK-COUNT-12: math.fma {{.*}} : vector<16xf32>
  // CHECK-NOT: math.fma
  // CHECK: return
  ck.attention_part ins(%q, %k, %k : memref<4x576xf32>, memref<1x300x64xf32>, memref<1x300x64xf32>) outs(%parts : memref<4x9x3x80xf32>) heads 9 head_dim 64 keys 128
  return
}
}
