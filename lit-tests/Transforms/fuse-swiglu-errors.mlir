// RUN: ck-opt %s -ck-fuse-swiglu | FileCheck %s

// The pass cannot fail; what it must leave alone although it looks like an MLP.

// Both halves are rotated heads.
// CHECK-LABEL: func.func @keeps_chain_of_rotated_heads
func.func @keeps_chain_of_rotated_heads(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                        %cos: memref<40x24xf32>, %sin: memref<40x24xf32>, %y: memref<40x48xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) rope(%cos, %sin : memref<40x24xf32>, memref<40x24xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_swiglu_of_arguments
func.func @keeps_swiglu_of_arguments(%gate: memref<40x48xf32>, %up: memref<40x48xf32>, %y: memref<40x48xf32>) {
  // CHECK-NEXT: ck.swiglu
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// The gate comes from one row, up from another.
// CHECK-LABEL: func.func @keeps_halves_of_two_rows
func.func @keeps_halves_of_two_rows(%x: memref<40x96xf32>, %z: memref<40x96xf32>, %y: memref<40x48xf32>) {
  // CHECK-COUNT-2: ck.split
  // CHECK-NEXT: ck.swiglu
  %a = ck.buffer scratch "a" : memref<40x48xf32>
  %b = ck.buffer scratch "b" : memref<40x48xf32>
  %c = ck.buffer scratch "c" : memref<40x48xf32>
  %d = ck.buffer scratch "d" : memref<40x48xf32>
  ck.split ins(%x : memref<40x96xf32>) outs(%a, %b : memref<40x48xf32>, memref<40x48xf32>)
  ck.split ins(%z : memref<40x96xf32>) outs(%c, %d : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%a, %d : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}
