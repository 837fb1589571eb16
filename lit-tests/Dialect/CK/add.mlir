// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[A:.*]]: memref<40x32xf32>, %[[B:.*]]: memref<40x32xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%a: memref<40x32xf32>, %b: memref<40x32xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.add ins(%[[A]], %[[B]] : memref<40x32xf32>, memref<40x32xf32>) outs(%[[OUT]] : memref<40x32xf32>)
  ck.add ins(%a, %b : memref<40x32xf32>, memref<40x32xf32>) outs(%out : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[A:.*]]: memref<3x32x16xf32>, %[[B:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @panels(%a: memref<3x32x16xf32>, %b: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.add ins(%[[A]], %[[B]] : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) {note}
  ck.add ins(%a, %b : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) {note}
  return
}
