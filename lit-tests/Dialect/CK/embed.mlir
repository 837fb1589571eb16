// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[IDS:.*]]: memref<40xi32>, %[[TABLE:.*]]: memref<64x32xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%ids: memref<40xi32>, %table: memref<64x32xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.embed ins(%[[IDS]], %[[TABLE]] : memref<40xi32>, memref<64x32xf32>) outs(%[[OUT]] : memref<40x32xf32>)
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) outs(%out : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[IDS:.*]]: memref<40xi32>, %[[TABLE:.*]]: memref<64x32xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @panels(%ids: memref<40xi32>, %table: memref<64x32xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.embed ins(%[[IDS]], %[[TABLE]] : memref<40xi32>, memref<64x32xf32>) outs(%[[OUT]] : memref<3x32x16xf32>)
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @positions(
// CHECK-SAME: %[[IDS:.*]]: memref<40xi32>, %[[TABLE:.*]]: memref<64x32xf32>, %[[POS:.*]]: memref<40x32xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @positions(%ids: memref<40xi32>, %table: memref<64x32xf32>, %pos: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.embed ins(%[[IDS]], %[[TABLE]] : memref<40xi32>, memref<64x32xf32>) positions(%[[POS]] : memref<40x32xf32>) outs(%[[OUT]] : memref<3x32x16xf32>)
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x32xf32>) positions(%pos : memref<40x32xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @padded_table_with_attribute(
// CHECK-SAME: %[[IDS:.*]]: memref<40xi32>, %[[TABLE:.*]]: memref<64x48xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @padded_table_with_attribute(%ids: memref<40xi32>, %table: memref<64x48xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.embed ins(%[[IDS]], %[[TABLE]] : memref<40xi32>, memref<64x48xf32>) outs(%[[OUT]] : memref<40x32xf32>) {note = "x"}
  ck.embed ins(%ids, %table : memref<40xi32>, memref<64x48xf32>) outs(%out : memref<40x32xf32>) {note = "x"}
  return
}
