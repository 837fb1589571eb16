// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @last_panel_partly_filled(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @last_panel_partly_filled(%x: memref<40x32xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.pack ins(%[[X]] : memref<40x32xf32>) outs(%[[OUT]] : memref<3x32x16xf32>)
  ck.pack ins(%x : memref<40x32xf32>) outs(%out : memref<3x32x16xf32>)
  return
}

// CHECK-LABEL: func.func @padded_rows(
// CHECK-SAME: %[[X:.*]]: memref<48x48xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @padded_rows(%x: memref<48x48xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.pack ins(%[[X]] : memref<48x48xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) {note}
  ck.pack ins(%x : memref<48x48xf32>) outs(%out : memref<3x32x16xf32>) {note}
  return
}

// CHECK-LABEL: func.func @four_lanes(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[OUT:.*]]: memref<10x32x4xf32>)
func.func @four_lanes(%x: memref<40x32xf32>, %out: memref<10x32x4xf32>) {
  // CHECK-NEXT: ck.pack ins(%[[X]] : memref<40x32xf32>) outs(%[[OUT]] : memref<10x32x4xf32>)
  ck.pack ins(%x : memref<40x32xf32>) outs(%out : memref<10x32x4xf32>)
  return
}
