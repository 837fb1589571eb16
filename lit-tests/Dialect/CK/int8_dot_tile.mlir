// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @four_by_two
func.func @four_by_two(%w: memref<840xi8>, %c: memref<512xi8>, %s: memref<64xf32>, %o: index, %p: index) {
  // CHECK: %{{.*}}:2 = ck.int8_dot_tile %{{.*}}[%[[O:.*]], %[[P:.*]], %[[O]], %[[P]]], %{{.*}}, %{{.*}}, %{{.*}}[%[[P]], %[[O]]] format q6_k depth 256
  // CHECK-SAME: {note} : memref<840xi8>, memref<512xi8>, memref<64xf32>, memref<64xf32> -> vector<4xf32>, vector<4xf32>
  %0:2 = ck.int8_dot_tile %w[%o, %p, %o, %p], %c, %s, %s[%p, %o] format q6_k depth 256 {note}
    : memref<840xi8>, memref<512xi8>, memref<64xf32>, memref<64xf32> -> vector<4xf32>, vector<4xf32>
  return
}

// CHECK-LABEL: func.func @prefetching
func.func @prefetching(%w: memref<840xi8>, %c: memref<512xi8>, %s: memref<64xf32>, %o: index) {
  // CHECK: ck.int8_dot_tile {{.*}} format q4_0 depth 64 prefetch 2048 : memref<840xi8>, memref<512xi8>, memref<64xf32>, memref<64xf32> -> vector<1xf32>
  %0 = ck.int8_dot_tile %w[%o], %c, %s, %s[%o] format q4_0 depth 64 prefetch 2048 : memref<840xi8>, memref<512xi8>, memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}
