// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[COS:.*]]: memref<40x4xf32>, %[[SIN:.*]]: memref<40x4xf32>)
func.func @rows(%x: memref<40x32xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK-NEXT: ck.rope inout(%[[X]] : memref<40x32xf32>) table(%[[COS]], %[[SIN]] : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  ck.rope inout(%x : memref<40x32xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[COS:.*]]: memref<40x4xf32>, %[[SIN:.*]]: memref<40x4xf32>)
func.func @panels(%x: memref<3x32x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK-NEXT: ck.rope inout(%[[X]] : memref<3x32x16xf32>) table(%[[COS]], %[[SIN]] : memref<40x4xf32>, memref<40x4xf32>) head_dim 8 {note}
  ck.rope inout(%x : memref<3x32x16xf32>) table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8 {note}
  return
}

// CHECK-LABEL: func.func @head_major(
// CHECK-SAME: %[[X:.*]]: memref<2x40x16xf32>, %[[COS:.*]]: memref<40x4xf32>, %[[SIN:.*]]: memref<40x4xf32>)
func.func @head_major(%x: memref<2x40x16xf32>, %cos: memref<40x4xf32>, %sin: memref<40x4xf32>) {
  // CHECK-NEXT: ck.rope inout(%[[X]] : memref<2x40x16xf32>) head_major table(%[[COS]], %[[SIN]] : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  ck.rope inout(%x : memref<2x40x16xf32>) head_major table(%cos, %sin : memref<40x4xf32>, memref<40x4xf32>) head_dim 8
  return
}
