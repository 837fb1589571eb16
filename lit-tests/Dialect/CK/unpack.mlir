// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%x: memref<3x32x16xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.unpack ins(%[[X]] : memref<3x32x16xf32>) outs(%[[OUT]] : memref<40x32xf32>) segments 1
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<40x32xf32>) segments 1
  return
}

// CHECK-LABEL: func.func @padded_rows(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<40x48xf32>)
func.func @padded_rows(%x: memref<3x32x16xf32>, %out: memref<40x48xf32>) {
  // CHECK-NEXT: ck.unpack ins(%[[X]] : memref<3x32x16xf32>) outs(%[[OUT]] : memref<40x48xf32>) segments 1 {note}
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<40x48xf32>) segments 1 {note}
  return
}

// CHECK-LABEL: func.func @two_halves(
// CHECK-SAME: %[[X:.*]]: memref<3x88x16xf32>, %[[OUT:.*]]: memref<40x96xf32>)
func.func @two_halves(%x: memref<3x88x16xf32>, %out: memref<40x96xf32>) {
  // CHECK-NEXT: ck.unpack ins(%[[X]] : memref<3x88x16xf32>) outs(%[[OUT]] : memref<40x96xf32>) segments 2
  ck.unpack ins(%x : memref<3x88x16xf32>) outs(%out : memref<40x96xf32>) segments 2
  return
}

// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<4x40x16xf32>)
func.func @heads(%x: memref<3x32x16xf32>, %out: memref<4x40x16xf32>) {
  // CHECK-NEXT: ck.unpack ins(%[[X]] : memref<3x32x16xf32>) outs(%[[OUT]] : memref<4x40x16xf32>) segments 4
  ck.unpack ins(%x : memref<3x32x16xf32>) outs(%out : memref<4x40x16xf32>) segments 4
  return
}
