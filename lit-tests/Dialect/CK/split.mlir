// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<40x96xf32>, %[[FIRST:.*]]: memref<40x48xf32>, %[[SECOND:.*]]: memref<40x48xf32>)
func.func @rows(%x: memref<40x96xf32>, %first: memref<40x48xf32>, %second: memref<40x48xf32>) {
  // CHECK-NEXT: ck.split ins(%[[X]] : memref<40x96xf32>) outs(%[[FIRST]], %[[SECOND]] : memref<40x48xf32>, memref<40x48xf32>)
  ck.split ins(%x : memref<40x96xf32>) outs(%first, %second : memref<40x48xf32>, memref<40x48xf32>)
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<3x96x16xf32>, %[[FIRST:.*]]: memref<3x48x16xf32>, %[[SECOND:.*]]: memref<3x48x16xf32>)
func.func @panels(%x: memref<3x96x16xf32>, %first: memref<3x48x16xf32>, %second: memref<3x48x16xf32>) {
  // CHECK-NEXT: ck.split ins(%[[X]] : memref<3x96x16xf32>) outs(%[[FIRST]], %[[SECOND]] : memref<3x48x16xf32>, memref<3x48x16xf32>) {note}
  ck.split ins(%x : memref<3x96x16xf32>) outs(%first, %second : memref<3x48x16xf32>, memref<3x48x16xf32>) {note}
  return
}
