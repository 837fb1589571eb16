// RUN: ck-opt %s -ck-fuse-swiglu | FileCheck %s

// CHECK-LABEL: func.func @fuses_chain
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[W:.*]]: memref<2x48x32xf32>, %[[B:.*]]: memref<2x48xf32>, %[[Y:.*]]: memref<40x48xf32>)
func.func @fuses_chain(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<40x48xf32>) {
  // CHECK-NOT: ck.linear
  // CHECK-NOT: ck.split
  // CHECK: ck.gated_linear ins(%[[X]], %[[W]], %[[B]] : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%[[Y]] : memref<40x48xf32>) rows 48 depth 32
  // CHECK-NEXT: return
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_tile
func.func @keeps_tile(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>, %y: memref<40x48xf32>) {
  // CHECK: ck.gated_linear {{.*}} tile <rows = 2, vectors = 1, panels = 1, unroll = 1>
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32 tile <rows = 2, vectors = 1, panels = 1, unroll = 1>
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_chain_when_gate_and_up_change_places
func.func @keeps_chain_when_gate_and_up_change_places(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                                      %y: memref<40x48xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%up, %gate : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_chain_when_gate_gates_itself
func.func @keeps_chain_when_gate_gates_itself(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                              %y: memref<40x48xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %gate : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_chain_when_up_has_another_reader
func.func @keeps_chain_when_up_has_another_reader(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                                  %y: memref<40x48xf32>, %z: memref<40x48xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  // CHECK-NEXT: ck.add
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  ck.add ins(%up, %y : memref<40x48xf32>, memref<40x48xf32>) outs(%z : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_chain_when_wide_row_has_another_reader
func.func @keeps_chain_when_wide_row_has_another_reader(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                                        %y: memref<40x48xf32>, %z: memref<40x96xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  // CHECK-NEXT: ck.add
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  ck.add ins(%fc1, %fc1 : memref<40x96xf32>, memref<40x96xf32>) outs(%z : memref<40x96xf32>)
  return
}

// A slot of the arena may be read from outside.
// CHECK-LABEL: func.func @keeps_chain_when_wide_row_is_a_slot
func.func @keeps_chain_when_wide_row_is_a_slot(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                               %y: memref<40x48xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  %fc1 = ck.buffer slot "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// The gated linear stands where swiglu stood: its input must still hold there what the linear read.
// CHECK-LABEL: func.func @keeps_chain_when_input_is_written_later
func.func @keeps_chain_when_input_is_written_later(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                                   %y: memref<40x48xf32>, %z: memref<40x32xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.add
  // CHECK-NEXT: ck.swiglu
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.add ins(%z, %z : memref<40x32xf32>, memref<40x32xf32>) outs(%x : memref<40x32xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_chain_of_a_weight_without_halves
func.func @keeps_chain_of_a_weight_without_halves(%x: memref<40x32xf32>, %w: memref<96x32xf32>, %b: memref<96xf32>,
                                                  %y: memref<40x48xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<96x32xf32>, memref<96xf32>) outs(%fc1 : memref<40x96xf32>) rows 96 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @keeps_chain_with_a_residual
func.func @keeps_chain_with_a_residual(%x: memref<40x32xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>,
                                       %r: memref<40x96xf32>, %y: memref<40x48xf32>) {
  // CHECK: ck.linear
  // CHECK-NEXT: ck.split
  // CHECK-NEXT: ck.swiglu
  %fc1 = ck.buffer scratch "fc1_out" layer 0 : memref<40x96xf32>
  %gate = ck.buffer scratch "n6.0" layer 0 : memref<40x48xf32>
  %up = ck.buffer scratch "n6.1" layer 0 : memref<40x48xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<2x48x32xf32>, memref<2x48xf32>) residual(%r : memref<40x96xf32>) outs(%fc1 : memref<40x96xf32>) rows 48 depth 32
  ck.split ins(%fc1 : memref<40x96xf32>) outs(%gate, %up : memref<40x48xf32>, memref<40x48xf32>)
  ck.swiglu ins(%gate, %up : memref<40x48xf32>, memref<40x48xf32>) outs(%y : memref<40x48xf32>)
  return
}
