// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[GATE:.*]]: memref<40x32xf32>, %[[UP:.*]]: memref<40x32xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%gate: memref<40x32xf32>, %up: memref<40x32xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.swiglu ins(%[[GATE]], %[[UP]] : memref<40x32xf32>, memref<40x32xf32>) outs(%[[OUT]] : memref<40x32xf32>)
  ck.swiglu ins(%gate, %up : memref<40x32xf32>, memref<40x32xf32>) outs(%out : memref<40x32xf32>)
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[GATE:.*]]: memref<3x32x16xf32>, %[[UP:.*]]: memref<3x32x16xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @panels(%gate: memref<3x32x16xf32>, %up: memref<3x32x16xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.swiglu ins(%[[GATE]], %[[UP]] : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) {note}
  ck.swiglu ins(%gate, %up : memref<3x32x16xf32>, memref<3x32x16xf32>) outs(%out : memref<3x32x16xf32>) {note}
  return
}
