// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @as_floats
func.func @as_floats(%w: memref<144xi8>, %y: memref<256xf32>, %o: index) {
  // CHECK: ck.unpack_row %{{.*}}[%{{.*}}] to %{{.*}} row %{{.*}} format q4_k depth 256 : memref<144xi8> to memref<256xf32>
  ck.unpack_row %w[%o] to %y row %o format q4_k depth 256 : memref<144xi8> to memref<256xf32>
  return
}

// CHECK-LABEL: func.func @as_codes
func.func @as_codes(%w: memref<68xi8>, %c: memref<64xi8>, %s: memref<2xf32>, %o: index) {
  // CHECK: ck.unpack_row {{.*}} format q8_0 depth 64 wide {note} : memref<68xi8> to memref<64xi8>, memref<2xf32>, memref<2xf32>
  ck.unpack_row %w[%o] to %c, %s, %s row %o format q8_0 depth 64 wide {note} : memref<68xi8> to memref<64xi8>, memref<2xf32>, memref<2xf32>
  return
}
