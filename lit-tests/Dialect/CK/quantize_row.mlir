// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @two_blocks
func.func @two_blocks(%x: memref<64xf32>, %c: memref<64xi8>, %s: memref<2xf32>, %t: memref<2xf32>, %o: index) {
  // CHECK: ck.quantize_row %{{.*}}[%{{.*}}] to %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] format q5_1 depth 64 {note}
  // CHECK-SAME: : memref<64xf32> to memref<64xi8>, memref<2xf32>, memref<2xf32>
  ck.quantize_row %x[%o] to %c, %s, %t[%o] format q5_1 depth 64 {note} : memref<64xf32> to memref<64xi8>, memref<2xf32>, memref<2xf32>
  return
}
