// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @one_by_one
func.func @one_by_one(%w: memref<64xf32>, %x: memref<64xf32>, %o: index, %d: index) {
  // CHECK: ck.register_tile %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] depth %{{.*}} segments 1 by 0 step 1 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<4xf32>
  %0 = ck.register_tile %w[%o], %x[%o] depth %d segments 1 by 0 step 1 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<4xf32>
  return
}

// CHECK-LABEL: func.func @two_by_three_strict
func.func @two_by_three_strict(%w: memref<64xf32>, %x: memref<64xf32>, %o: index, %p: index, %d: index) {
  // CHECK: %{{.*}}:6 = ck.register_tile %[[W:.*]][%[[O:.*]], %[[P:.*]]], %[[X:.*]][%[[O]], %[[P]], %[[O]]] depth %{{.*}} segments 3 by 16 step 8 unroll 4 strict
  // CHECK-SAME: {note} : memref<64xf32>, memref<64xf32> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  %0:6 = ck.register_tile %w[%o, %p], %x[%o, %p, %o] depth %d segments 3 by 16 step 8 unroll 4 strict {note}
    : memref<64xf32>, memref<64xf32> -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  return
}

// CHECK-LABEL: func.func @prefetching
func.func @prefetching(%w: memref<64xf32>, %o: index, %d: index) {
  // CHECK: ck.register_tile {{.*}} unroll 1 prefetch 16 parts 2 :
  %0:2 = ck.register_tile %w[%o, %o], %w[%o] depth %d segments 1 by 0 step 1 unroll 1 prefetch 16 parts 2 : memref<64xf32>, memref<64xf32> -> vector<4xf32>, vector<4xf32>
  return
}
