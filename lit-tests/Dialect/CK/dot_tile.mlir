// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @one_by_one
func.func @one_by_one(%w: memref<64xf32>, %x: memref<64xf32>, %o: index) {
  // CHECK: ck.dot_tile %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] depth 7 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  %0 = ck.dot_tile %w[%o], %x[%o] depth 7 segments 1 by 0 lanes 4 unroll 1 : memref<64xf32>, memref<64xf32> -> vector<1xf32>
  return
}

// CHECK-LABEL: func.func @four_by_three_strict
func.func @four_by_three_strict(%w: memref<64xf32>, %x: memref<64xf32>, %o: index, %p: index) {
  // CHECK: %{{.*}}:3 = ck.dot_tile %{{.*}}[%[[O:.*]], %[[P:.*]], %[[O]], %[[P]]], %{{.*}}[%[[P]], %[[O]], %[[P]]] depth 13 segments 3 by 16 lanes 8 unroll 2 strict
  // CHECK-SAME: {note} : memref<64xf32>, memref<64xf32> -> vector<4xf32>, vector<4xf32>, vector<4xf32>
  %0:3 = ck.dot_tile %w[%o, %p, %o, %p], %x[%p, %o, %p] depth 13 segments 3 by 16 lanes 8 unroll 2 strict {note}
    : memref<64xf32>, memref<64xf32> -> vector<4xf32>, vector<4xf32>, vector<4xf32>
  return
}

// CHECK-LABEL: func.func @prefetching
func.func @prefetching(%w: memref<64xf32>, %o: index) {
  // CHECK: ck.dot_tile {{.*}} lanes 4 unroll 2 strict prefetch 1024 : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  %0 = ck.dot_tile %w[%o, %o], %w[%o] depth 8 segments 1 by 0 lanes 4 unroll 2 strict prefetch 1024 : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  // CHECK: ck.dot_tile {{.*}} lanes 4 unroll 2 prefetch 1024 : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  %1 = ck.dot_tile %w[%o, %o], %w[%o] depth 8 segments 1 by 0 lanes 4 unroll 2 prefetch 1024 : memref<64xf32>, memref<64xf32> -> vector<2xf32>
  return
}
