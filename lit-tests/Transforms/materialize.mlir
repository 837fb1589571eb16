// RUN: ck-opt %s -ck-materialize | FileCheck %s

module attributes {ck.model = #ck.model<layers = 1, hidden = 28, intermediate = 44, heads = 4, kvHeads = 2, vocab = 64, window = 40, eps = 1.0e-5 : f32, theta = 0.0 : f32>} {

// CHECK-LABEL: func.func @copies_rows_to_padded_slot
func.func @copies_rows_to_padded_slot(%x: memref<3x28x16xf32>) {
  // CHECK: %[[SLOT:.*]] = ck.buffer slot "residual1" layer 0 : memref<40x32xf32>
  // CHECK: %[[Y:.*]] = ck.buffer scratch "residual1" layer 0 : memref<3x28x16xf32>
  // CHECK: ck.add {{.*}} outs(%[[Y]] :
  // CHECK-NEXT: ck.unpack ins(%[[Y]] : memref<3x28x16xf32>) outs(%[[SLOT]] : memref<40x32xf32>) segments 1
  // CHECK-NEXT: return
  %y = ck.buffer scratch "residual1" layer 0 : memref<3x28x16xf32>
  ck.add ins(%x, %x : memref<3x28x16xf32>, memref<3x28x16xf32>) outs(%y : memref<3x28x16xf32>)
  return
}

// CHECK-LABEL: func.func @norms_of_a_layer_store_rstd
func.func @norms_of_a_layer_store_rstd(%x: memref<3x28x16xf32>, %gamma: memref<32xf32>) {
  // CHECK-DAG: %[[R1:.*]] = ck.buffer slot "ln1_rstd" layer 0 : memref<40xf32>
  // CHECK-DAG: %[[S1:.*]] = ck.buffer slot "ln1_out" layer 0 : memref<40x32xf32>
  // CHECK-DAG: %[[Y1:.*]] = ck.buffer scratch "ln1_out" layer 0 : memref<3x28x16xf32>
  // CHECK-DAG: %[[R2:.*]] = ck.buffer slot "ln2_rstd" layer 0 : memref<40xf32>
  // CHECK-DAG: %[[Y2:.*]] = ck.buffer scratch "ln2_out" layer 0 : memref<3x28x16xf32>
  // CHECK: ck.rmsnorm {{.*}} outs(%[[Y1]] : memref<3x28x16xf32>) rstd(%[[R1]] : memref<40xf32>) eps
  // CHECK-NEXT: ck.unpack ins(%[[Y1]] : memref<3x28x16xf32>) outs(%[[S1]] : memref<40x32xf32>) segments 1
  // CHECK-NEXT: ck.rmsnorm {{.*}} outs(%[[Y2]] : memref<3x28x16xf32>) rstd(%[[R2]] : memref<40xf32>) eps
  // CHECK-NEXT: ck.unpack
  // CHECK-NEXT: return
  %y1 = ck.buffer scratch "ln1_out" layer 0 : memref<3x28x16xf32>
  %y2 = ck.buffer scratch "ln2_out" layer 0 : memref<3x28x16xf32>
  ck.rmsnorm ins(%x, %gamma : memref<3x28x16xf32>, memref<32xf32>) outs(%y1 : memref<3x28x16xf32>) eps 1.0e-5 features 28
  ck.rmsnorm ins(%y1, %gamma : memref<3x28x16xf32>, memref<32xf32>) outs(%y2 : memref<3x28x16xf32>) eps 1.0e-5 features 28
  return
}

// CHECK-LABEL: func.func @final_norm_stores_its_result_and_rstd
func.func @final_norm_stores_its_result_and_rstd(%x: memref<3x28x16xf32>, %gamma: memref<32xf32>) {
  // CHECK-DAG: %[[RSTD:.*]] = ck.buffer slot "final_ln_rstd" : memref<40xf32>
  // CHECK-DAG: %[[SLOT:.*]] = ck.buffer slot "final_output" : memref<40x32xf32>
  // CHECK: ck.rmsnorm {{.*}} rstd(%[[RSTD]] : memref<40xf32>) eps
  // CHECK-NEXT: ck.unpack {{.*}} outs(%[[SLOT]] : memref<40x32xf32>) segments 1
  %y = ck.buffer scratch "final_output" : memref<3x28x16xf32>
  ck.rmsnorm ins(%x, %gamma : memref<3x28x16xf32>, memref<32xf32>) outs(%y : memref<3x28x16xf32>) eps 1.0e-5 features 28
  return
}

// A norm of another name or layer has no slot for its rstd, one that stores it already keeps its place.
// CHECK-LABEL: func.func @leaves_other_norms
func.func @leaves_other_norms(%x: memref<3x28x16xf32>, %gamma: memref<32xf32>, %mine: memref<40xf32>) {
  // CHECK-NOT: rstd(
  // CHECK: ck.rmsnorm {{.*}} rstd(%arg2 : memref<40xf32>) eps
  // CHECK-NOT: rstd(
  // CHECK: return
  %n = ck.buffer scratch "n4.0" layer 0 : memref<3x28x16xf32>
  %other = ck.buffer scratch "ln1_out" layer 1 : memref<3x28x16xf32>
  %y = ck.buffer scratch "ln1_out" layer 0 : memref<3x28x16xf32>
  ck.rmsnorm ins(%x, %gamma : memref<3x28x16xf32>, memref<32xf32>) outs(%n : memref<3x28x16xf32>) eps 1.0e-5 features 28
  ck.rmsnorm ins(%x, %gamma : memref<3x28x16xf32>, memref<32xf32>) outs(%other : memref<3x28x16xf32>) eps 1.0e-5 features 28
  ck.rmsnorm ins(%x, %gamma : memref<3x28x16xf32>, memref<32xf32>) outs(%y : memref<3x28x16xf32>) rstd(%mine : memref<40xf32>) eps 1.0e-5 features 28
  ck.rmsnorm ins(%x, %gamma : memref<3x28x16xf32>, memref<32xf32>) outs(%x : memref<3x28x16xf32>) eps 1.0e-5 features 28
  return
}

// Four heads of seven lanes go to [H][C][ad].
// CHECK-LABEL: func.func @copies_heads
func.func @copies_heads(%x: memref<3x28x16xf32>, %w: memref<4x16x32xf32>, %b: memref<4x16xf32>) {
  // CHECK: %[[SLOT:.*]] = ck.buffer slot "q" layer 0 : memref<4x40x16xf32>
  // CHECK: ck.unpack {{.*}} outs(%[[SLOT]] : memref<4x40x16xf32>) segments 4
  %q = ck.buffer scratch "q" layer 0 : memref<3x28x16xf32>
  ck.linear ins(%x, %w, %b : memref<3x28x16xf32>, memref<4x16x32xf32>, memref<4x16xf32>) outs(%q : memref<3x28x16xf32>) rows 7 depth 28
  return
}

// Gate and up are padded by themselves.
// CHECK-LABEL: func.func @copies_gate_and_up
func.func @copies_gate_and_up(%x: memref<3x28x16xf32>, %w: memref<2x48x32xf32>, %b: memref<2x48xf32>) {
  // CHECK: %[[SLOT:.*]] = ck.buffer slot "fc1_out" layer 0 : memref<40x96xf32>
  // CHECK: ck.unpack ins({{.*}} : memref<3x88x16xf32>) outs(%[[SLOT]] : memref<40x96xf32>) segments 2
  %y = ck.buffer scratch "fc1_out" layer 0 : memref<3x88x16xf32>
  ck.linear ins(%x, %w, %b : memref<3x28x16xf32>, memref<2x48x32xf32>, memref<2x48xf32>) outs(%y : memref<3x88x16xf32>) rows 44 depth 28
  return
}

// CHECK-LABEL: func.func @leaves_names_without_a_slot
func.func @leaves_names_without_a_slot(%x: memref<3x28x16xf32>) {
  // CHECK-NOT: ck.unpack
  // CHECK: return
  %n = ck.buffer scratch "n6.0" layer 0 : memref<3x28x16xf32>
  %other = ck.buffer scratch "ln1_out" layer 1 : memref<3x28x16xf32>
  ck.add ins(%x, %x : memref<3x28x16xf32>, memref<3x28x16xf32>) outs(%n : memref<3x28x16xf32>)
  ck.add ins(%x, %x : memref<3x28x16xf32>, memref<3x28x16xf32>) outs(%other : memref<3x28x16xf32>)
  return
}

// CHECK-LABEL: func.func @leaves_slots_and_arguments
func.func @leaves_slots_and_arguments(%x: memref<3x28x16xf32>, %y: memref<3x28x16xf32>, %table: memref<64x32xf32>) {
  // CHECK-NOT: ck.unpack
  // CHECK: return
  %logits = ck.buffer slot "logits" : memref<40x64xf32>
  ck.add ins(%x, %x : memref<3x28x16xf32>, memref<3x28x16xf32>) outs(%y : memref<3x28x16xf32>)
  ck.lm_head ins(%x, %table : memref<3x28x16xf32>, memref<64x32xf32>) outs(%logits : memref<40x64xf32>) depth 28
  return
}
}
