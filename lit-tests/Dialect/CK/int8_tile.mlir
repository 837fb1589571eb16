// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @two_by_two
func.func @two_by_two(%c: memref<512xi8>, %s: memref<16xf32>, %x: memref<4096xi8>, %o: index, %p: index) {
  // CHECK: %{{.*}}:4 = ck.int8_tile %{{.*}}, %{{.*}}, %{{.*}}[%[[O:.*]], %[[P:.*]]], %{{.*}}[%[[P]], %[[O]]] format q4_k depth 256
  // CHECK-SAME: : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<4096xi8> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  %0:4 = ck.int8_tile %c, %s, %s[%o, %p], %x[%p, %o] format q4_k depth 256
    : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<4096xi8> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func @wide
func.func @wide(%c: memref<512xi8>, %s: memref<16xf32>, %x: memref<4096xi8>, %o: index) {
  // CHECK: ck.int8_tile {{.*}} format q8_0 depth 32 wide {note} : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<4096xi8> -> vector<4xf32>
  %0 = ck.int8_tile %c, %s, %s[%o], %x[%o] format q8_0 depth 32 wide {note} : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<4096xi8> -> vector<4xf32>
  return
}
