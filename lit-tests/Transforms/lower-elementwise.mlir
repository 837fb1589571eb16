// RUN: ck-opt %s -ck-lower-elementwise | FileCheck %s
// RUN: ck-opt %s -ck-lower-elementwise=strict | FileCheck %s --check-prefix=STRICT

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func private @embed
func.func private @embed(%tid: index, %threads: index, %T: index, %first: index, %position: index, %ids: memref<40xi32>, %table: memref<64x32xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK-SAME: %[[TID:.*]]: index, %[[N:.*]]: index, %[[T:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[IDS:.*]]: memref<40xi32>, %[[TABLE:.*]]: memref<64x32xf32>, %[[Y:.*]]: memref<5x32x8xf32>)
  // Lanes past T hold the last token again: no lane reads an id that isn't there.
  // CHECK: %[[LAST:.*]] = arith.subi %[[T]],
  // This thread's panels are [P * tid / threads, P * (tid + 1) / threads).
  // CHECK: %[[RAISED:.*]] = arith.addi %[[T]], %c7
  // CHECK: %[[P:.*]] = arith.divui %[[RAISED]], %c8
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[P]], %[[TID]]
  // CHECK-NEXT: %[[LO:.*]] = arith.divui %[[BEFORE]], %[[N]]
  // CHECK-NEXT: %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[P]]
  // CHECK-NEXT: %[[HI:.*]] = arith.divui %[[AFTER]], %[[N]]
  // CHECK-NEXT: affine.for %[[PANEL:.*]] = %[[LO]] to %[[HI]] {
  // CHECK-NEXT: affine.for %[[LANE:.*]] = 0 to 8 {
  // CHECK: %[[ROW:.*]] = arith.minui %{{.*}}, %[[LAST]]
  // CHECK: %[[ID:.*]] = memref.load %[[IDS]][%[[ROW]]]
  // CHECK: %[[INDEX:.*]] = arith.index_cast %[[ID]] : i32 to index
  // CHECK: affine.for %[[F:.*]] = 0 to 32 {
  // CHECK: %[[V:.*]] = memref.load %[[TABLE]][%[[INDEX]], %[[F]]]
  // CHECK: affine.store %[[V]], %[[Y]][%[[PANEL]], %[[F]], %[[LANE]]]
  // CHECK-NOT: ck.embed
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) outs(%y : memref<5x32x8xf32>)
  return
}

// CHECK-LABEL: func.func private @embed_with_positions
func.func private @embed_with_positions(%tid: index, %threads: index, %T: index, %first: index, %position: index, %ids: memref<40xi32>, %table: memref<64x32xf32>, %pos: memref<40x32xf32>, %y: memref<5x32x8xf32>) attributes {ck.kernel} {
  // CHECK: %[[ROW:.*]] = arith.minui
  // CHECK: %[[X:.*]] = memref.load %arg6[
  // CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %arg4 : index
  // CHECK: %[[P:.*]] = memref.load %arg7[%[[AT]], %{{.*}}]
  // CHECK: arith.addf %[[X]], %[[P]] : f32
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) positions(%pos : memref<40x32xf32>) outs(%y : memref<5x32x8xf32>)
  return
}

// CHECK-LABEL: func.func private @rmsnorm_in_four_partial_sums
func.func private @rmsnorm_in_four_partial_sums(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x6x8xf32>, %g: memref<16xf32>, %y: memref<5x6x8xf32>) attributes {ck.kernel} {
  // CHECK-NOT: memref.alloca
  // CHECK-DAG: %[[EPS:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-DAG: %[[COUNT:.*]] = arith.constant 6.000000e+00 : f32
  // CHECK: affine.for %[[P:.*]] = 
  // CHECK-NEXT: affine.for %[[L:.*]] = 0 to 8 {
  // CHECK: %[[S:.*]]:4 = affine.for %[[F:.*]] = 0 to 4 step 4 iter_args(
  // CHECK-COUNT-4: math.fma
  // The two features behind the last four go to the first two sums.
  // CHECK: affine.yield
  // CHECK: math.fma %{{.*}}, %{{.*}}, %[[S]]#0
  // CHECK: math.fma %{{.*}}, %{{.*}}, %[[S]]#1
  // CHECK: %[[MEAN:.*]] = arith.divf %{{.*}}, %[[COUNT]]
  // CHECK: %[[MORE:.*]] = arith.addf %[[MEAN]], %[[EPS]]
  // CHECK: %[[ROOT:.*]] = math.sqrt %[[MORE]]
  // CHECK: %[[RSTD:.*]] = arith.divf %{{.*}}, %[[ROOT]]
  // CHECK: affine.for %{{.*}} = 0 to 6 {
  // CHECK: arith.mulf %{{.*}}, %[[RSTD]]
  // CHECK: } {ck.lanes}
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  ck.rmsnorm ins(%x, %g : memref<5x6x8xf32>, memref<16xf32>) outs(%y : memref<5x6x8xf32>) eps 0.5 features 6
  return
}

// CHECK-LABEL: func.func private @rmsnorm_with_rstd
func.func private @rmsnorm_with_rstd(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x6x8xf32>, %g: memref<16xf32>, %y: memref<5x6x8xf32>, %r: memref<37xf32>) attributes {ck.kernel} {
  // CHECK: %[[LANES:.*]] = memref.alloca() {{.*}} : memref<8xf32>
  // CHECK: affine.for %[[P:.*]] = 
  // CHECK-NEXT: affine.for %[[L:.*]] = 0 to 8 {
  // CHECK: %[[ROOT:.*]] = math.sqrt
  // CHECK-NEXT: %[[RSTD:.*]] = arith.divf %{{.*}}, %[[ROOT]]
  // CHECK-NEXT: affine.store %[[RSTD]], %[[LANES]][%[[L]]]
  // CHECK: arith.mulf %{{.*}}, %[[RSTD]]
  // CHECK: } {ck.lanes}
  // Behind the lanes, one by one: those from T on aren't tokens.
  // CHECK-NEXT: affine.for %[[LANE:.*]] = 0 to 8 {
  // CHECK-NEXT: %[[ROW:.*]] = affine.apply #{{.*}}(%[[P]], %[[LANE]])
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %arg2
  // CHECK-NEXT: scf.if %[[INSIDE]] {
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[ROW]], %arg4
  // CHECK-NEXT: %[[V:.*]] = affine.load %[[LANES]][%[[LANE]]]
  // CHECK-NEXT: memref.store %[[V]], %arg8[%[[AT]]]
  ck.rmsnorm ins(%x, %g : memref<5x6x8xf32>, memref<16xf32>) outs(%y : memref<5x6x8xf32>) rstd(%r : memref<37xf32>) eps 0.5 features 6
  return
}

// CHECK-LABEL: func.func private @add
func.func private @add(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<5x6x8xf32>, %b: memref<5x6x8xf32>, %y: memref<5x6x8xf32>) attributes {ck.kernel} {
  // CHECK: affine.for %[[P:.*]] = 
  // CHECK-NEXT: affine.for %[[F:.*]] = 0 to 6 {
  // CHECK-NEXT: affine.for %[[L:.*]] = 0 to 8 {
  // CHECK-DAG: %[[A:.*]] = affine.load %arg5[%[[P]], %[[F]], %[[L]]]
  // CHECK-DAG: %[[B:.*]] = affine.load %arg6[%[[P]], %[[F]], %[[L]]]
  // CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK: affine.store %[[S]], %arg7[%[[P]], %[[F]], %[[L]]]
  // CHECK-NEXT: } {ck.lanes}
  ck.add ins(%a, %b : memref<5x6x8xf32>, memref<5x6x8xf32>) outs(%y : memref<5x6x8xf32>)
  return
}

// CHECK-LABEL: func.func private @swiglu
// STRICT-LABEL: func.func private @swiglu
func.func private @swiglu(%tid: index, %threads: index, %T: index, %first: index, %position: index, %a: memref<5x6x8xf32>, %b: memref<5x6x8xf32>, %y: memref<5x6x8xf32>) attributes {ck.kernel} {
  // CHECK: %[[G:.*]] = affine.load %arg5
  // CHECK: %[[M:.*]] = arith.negf %[[G]]
  // CHECK: %[[E:.*]] = math.exp %[[M]] : f32
  // CHECK: %[[D:.*]] = arith.addf %{{.*}}, %[[E]]
  // CHECK: %[[SILU:.*]] = arith.divf %[[G]], %[[D]]
  // CHECK: %[[U:.*]] = affine.load %arg6
  // CHECK: arith.mulf %[[SILU]], %[[U]]
  // CHECK: } {ck.lanes}
  // With strict, exp is computed in double and rounded once.
  // STRICT: %[[M:.*]] = arith.negf
  // STRICT: %[[WIDE:.*]] = arith.extf %[[M]] : f32 to f64
  // STRICT: %[[E:.*]] = math.exp %[[WIDE]] : f64
  // STRICT: arith.truncf %[[E]] : f64 to f32
  ck.swiglu ins(%a, %b : memref<5x6x8xf32>, memref<5x6x8xf32>) outs(%y : memref<5x6x8xf32>)
  return
}

// CHECK-LABEL: func.func private @split
func.func private @split(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x12x8xf32>, %a: memref<5x6x8xf32>, %b: memref<5x6x8xf32>) attributes {ck.kernel} {
  // CHECK: affine.for %[[P:.*]] = 
  // CHECK-NEXT: affine.for %[[F:.*]] = 0 to 6 {
  // CHECK: %[[X:.*]] = affine.load %arg5[%[[P]], %[[F]], %[[L:.*]]] :
  // CHECK: affine.store %[[X]], %arg6[%[[P]], %[[F]], %[[L]]]
  // CHECK: %[[Z:.*]] = affine.load %arg5[%[[P]], %[[F]] + 6, %[[L]]]
  // CHECK: affine.store %[[Z]], %arg7[%[[P]], %[[F]], %[[L]]]
  // CHECK: } {ck.lanes}
  ck.split ins(%x : memref<5x12x8xf32>) outs(%a, %b : memref<5x6x8xf32>, memref<5x6x8xf32>)
  return
}

// CHECK-LABEL: func.func private @pack_holds_rows_inside_the_memory
func.func private @pack_holds_rows_inside_the_memory(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<37x6xf32>, %y: memref<5x6x8xf32>) attributes {ck.kernel} {
  // CHECK: %[[LAST:.*]] = arith.constant 36 : index
  // The chunk's first token stands at a position.
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %arg4 : index
  // CHECK: %[[ROW:.*]] = arith.minui %[[AT]], %[[LAST]]
  // CHECK: %[[X:.*]] = memref.load %arg5[%[[ROW]], %[[F:.*]]]
  // CHECK: affine.store %[[X]], %arg6[%{{.*}}, %[[F]], %{{.*}}]
  ck.pack ins(%x : memref<37x6xf32>) outs(%y : memref<5x6x8xf32>)
  return
}

// CHECK-LABEL: func.func private @unpack_to_halves_of_padded_rows
func.func private @unpack_to_halves_of_padded_rows(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x12x8xf32>, %y: memref<40x32xf32>) attributes {ck.kernel} {
  // Rows from T on aren't written.
  // CHECK: %[[ROW:.*]] = affine.apply #[[ROWOF:.*]](%{{.*}}, %{{.*}})
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %arg2
  // CHECK-NEXT: scf.if %[[INSIDE]] {
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[ROW]], %arg4
  // CHECK-NEXT: affine.for %[[S:.*]] = 0 to 2 {
  // CHECK-NEXT: affine.for %[[I:.*]] = 0 to 6 {
  // CHECK-NEXT: %[[FROM:.*]] = affine.apply #[[BY6:.*]](%[[S]], %[[I]])
  // CHECK-NEXT: %[[X:.*]] = memref.load %arg5[%{{.*}}, %[[FROM]], %{{.*}}]
  // CHECK-NEXT: %[[TO:.*]] = affine.apply #[[BY16:.*]](%[[S]], %[[I]])
  // CHECK-NEXT: memref.store %[[X]], %arg6[%[[AT]], %[[TO]]]
  ck.unpack ins(%x : memref<5x12x8xf32>) outs(%y : memref<40x32xf32>) segments 2
  return
}

// CHECK-LABEL: func.func private @unpack_to_heads
func.func private @unpack_to_heads(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x12x8xf32>, %y: memref<2x40x16xf32>) attributes {ck.kernel} {
  // CHECK: %[[ROW:.*]] = affine.apply
  // CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %arg4
  // CHECK: affine.for %[[S:.*]] = 0 to 2 {
  // CHECK: affine.for %[[I:.*]] = 0 to 6 {
  // CHECK: memref.store %{{.*}}, %arg6[%[[S]], %[[AT]], %[[I]]]
  ck.unpack ins(%x : memref<5x12x8xf32>) outs(%y : memref<2x40x16xf32>) segments 2
  return
}

// CHECK-LABEL: func.func private @rope_of_panels
func.func private @rope_of_panels(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x16x8xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) attributes {ck.kernel} {
  // CHECK: affine.for %[[H:.*]] = 0 to 2 {
  // CHECK-NEXT: affine.for %[[I:.*]] = 0 to 4 {
  // (a, b) becomes (a c - b s, a s + b c).
  // CHECK: %[[A:.*]] = memref.load %arg5
  // CHECK: %[[B:.*]] = memref.load %arg5
  // CHECK: %[[C:.*]] = memref.load %arg6
  // CHECK: %[[S:.*]] = memref.load %arg7
  // CHECK-DAG: %[[AC:.*]] = arith.mulf %[[A]], %[[C]]
  // CHECK-DAG: %[[BS:.*]] = arith.mulf %[[B]], %[[S]]
  // CHECK-DAG: %[[FIRST:.*]] = arith.subf %[[AC]], %[[BS]]
  // CHECK-DAG: %[[AS:.*]] = arith.mulf %[[A]], %[[S]]
  // CHECK-DAG: %[[BC:.*]] = arith.mulf %[[B]], %[[C]]
  // CHECK-DAG: %[[SECOND:.*]] = arith.addf %[[AS]], %[[BC]]
  // CHECK: memref.store %[[FIRST]], %arg5
  // CHECK: memref.store %[[SECOND]], %arg5
  ck.rope inout(%x : memref<5x16x8xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func private @rope_of_heads_shares_rows
func.func private @rope_of_heads_shares_rows(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<2x40x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) attributes {ck.kernel} {
  // CHECK: arith.muli %arg2, %arg0
  // CHECK: affine.for %[[TOKEN:.*]] = %{{[0-9]+}} to
  // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[TOKEN]], %arg4
  // CHECK-NEXT: affine.for %[[H:.*]] = 0 to 2 {
  // CHECK-NEXT: affine.for %[[I:.*]] = 0 to 4 {
  // CHECK: memref.load %arg5[%[[H]], %[[ROW]], %[[I]]]
  // CHECK: memref.load %arg6[%[[ROW]], %[[I]]]
  ck.rope inout(%x : memref<2x40x16xf32>) head_major table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func private @cross_entropy
func.func private @cross_entropy(%tid: index, %threads: index, %T: index, %first: index, %position: index, %logits: memref<40x19xf32>, %targets: memref<40xi32>, %loss: memref<40xf32>) attributes {ck.kernel} {
  // CHECK: %[[LANES:.*]] = memref.alloca() : memref<8xf32>
  // Threads share the rows [first row, T).
  // CHECK: arith.subi %arg2, %arg3
  // CHECK: arith.addi %{{.*}}, %arg3
  // CHECK: arith.addi %{{.*}}, %arg3
  // CHECK: %[[IGNORED:.*]] = arith.constant -100 : i32
  // CHECK: affine.for %[[ROW:.*]] = 
  // CHECK: %[[TARGET:.*]] = affine.load %arg6[%[[ROW]]]
  // CHECK: %[[COUNTS:.*]] = arith.cmpi ne, %[[TARGET]], %[[IGNORED]]
  // CHECK: %[[LOSS:.*]] = scf.if %[[COUNTS]] -> (f32) {
  // Two vectors of 8, then 3 logits one by one.
  // CHECK: affine.for %{{.*}} = 0 to 2 iter_args
  // CHECK: arith.maxnumf
  // CHECK: } {ck.lanes}
  // CHECK: affine.for %{{.*}} = 0 to 3 iter_args
  // CHECK: math.exp
  // CHECK: math.log
  // CHECK: } else {
  // CHECK: scf.yield %{{.*}} : f32
  // CHECK: affine.store %[[LOSS]], %arg7[%[[ROW]]]
  ck.cross_entropy ins(%logits, %targets : memref<40x19xf32>, memref<40xi32>) outs(%loss : memref<40xf32>)
  return
}

// CHECK-LABEL: func.func private @leaves_matrix_ops
func.func private @leaves_matrix_ops(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<5x32x8xf32>, %t: memref<64x32xf32>, %y: memref<40x64xf32>) attributes {ck.kernel} {
  // CHECK-NEXT: ck.lm_head
  ck.lm_head ins(%x, %t : memref<5x32x8xf32>, memref<64x32xf32>) outs(%y : memref<40x64xf32>) depth 32
  return
}
}
