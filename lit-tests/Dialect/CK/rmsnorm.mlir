// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[GAMMA:.*]]: memref<32xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.rmsnorm ins(%[[X]], %[[GAMMA]] : memref<40x32xf32>, memref<32xf32>) outs(%[[OUT]] : memref<40x32xf32>) eps 9.99999974E-6 features 32
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) eps 1.0e-5 features 32
  return
}

// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[GAMMA:.*]]: memref<32xf32>, %[[OUT:.*]]: memref<3x32x16xf32>)
func.func @panels(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %out: memref<3x32x16xf32>) {
  // CHECK-NEXT: ck.rmsnorm ins(%[[X]], %[[GAMMA]] : memref<3x32x16xf32>, memref<32xf32>) outs(%[[OUT]] : memref<3x32x16xf32>) eps 5.000000e-01 features 32
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%out : memref<3x32x16xf32>) eps 0.5 features 32
  return
}

// CHECK-LABEL: func.func @rows_padded(
// CHECK-SAME: %[[X:.*]]: memref<40x48xf32>, %[[GAMMA:.*]]: memref<48xf32>, %[[OUT:.*]]: memref<40x48xf32>)
func.func @rows_padded(%x: memref<40x48xf32>, %gamma: memref<48xf32>, %out: memref<40x48xf32>) {
  // CHECK-NEXT: ck.rmsnorm ins(%[[X]], %[[GAMMA]] : memref<40x48xf32>, memref<48xf32>) outs(%[[OUT]] : memref<40x48xf32>) eps 0.000000e+00 features 32 {note}
  ck.rmsnorm ins(%x, %gamma : memref<40x48xf32>, memref<48xf32>) outs(%out : memref<40x48xf32>) eps 0.0 features 32 {note}
  return
}

// CHECK-LABEL: func.func @rows_with_rstd(
// CHECK-SAME: %[[X:.*]]: memref<40x32xf32>, %[[GAMMA:.*]]: memref<32xf32>, %[[RSTD:.*]]: memref<40xf32>, %[[OUT:.*]]: memref<40x32xf32>)
func.func @rows_with_rstd(%x: memref<40x32xf32>, %gamma: memref<32xf32>, %rstd: memref<40xf32>, %out: memref<40x32xf32>) {
  // CHECK-NEXT: ck.rmsnorm ins(%[[X]], %[[GAMMA]] : memref<40x32xf32>, memref<32xf32>) outs(%[[OUT]] : memref<40x32xf32>) rstd(%[[RSTD]] : memref<40xf32>) eps 5.000000e-01 features 32
  ck.rmsnorm ins(%x, %gamma : memref<40x32xf32>, memref<32xf32>) outs(%out : memref<40x32xf32>) rstd(%rstd : memref<40xf32>) eps 0.5 features 32
  return
}

// Three panels of 16 hold 33 to 48 tokens.
// CHECK-LABEL: func.func @panels_with_rstd(
// CHECK-SAME: %[[X:.*]]: memref<3x32x16xf32>, %[[GAMMA:.*]]: memref<32xf32>, %[[LEAST:.*]]: memref<33xf32>, %[[MOST:.*]]: memref<48xf32>)
func.func @panels_with_rstd(%x: memref<3x32x16xf32>, %gamma: memref<32xf32>, %least: memref<33xf32>, %most: memref<48xf32>) {
  // CHECK-NEXT: ck.rmsnorm {{.*}} rstd(%[[LEAST]] : memref<33xf32>) eps
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%x : memref<3x32x16xf32>) rstd(%least : memref<33xf32>) eps 0.5 features 32
  // CHECK-NEXT: ck.rmsnorm {{.*}} rstd(%[[MOST]] : memref<48xf32>) eps
  ck.rmsnorm ins(%x, %gamma : memref<3x32x16xf32>, memref<32xf32>) outs(%x : memref<3x32x16xf32>) rstd(%most : memref<48xf32>) eps 0.5 features 32
  return
}
