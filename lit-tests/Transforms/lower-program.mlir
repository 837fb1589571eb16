// RUN: ck-opt %s -split-input-file -ck-lower-program | FileCheck %s

module attributes {ck.arena_bytes = 8192 : i64} {
// CHECK: func.func private @ckjit_barrier(!llvm.ptr)
// CHECK: func.func private @kernel
// CHECK-NEXT: return
func.func private @kernel(%tid: index, %threads: index, %T: index, %first: index, %position: index, %x: memref<4x8xf32>, %ids: memref<16xi32>) attributes {ck.kernel} {
  return
}
// CHECK: func.func @prefill(%[[TEAM:.*]]: !llvm.ptr, %[[TID:.*]]: index, %[[N:.*]]: index, %[[T:.*]]: index, %[[FIRST:.*]]: index, %[[POSITION:.*]]: index, %[[WEIGHTS:.*]]: memref<8192xi8>, %[[STATE:[a-z0-9]+]]: memref<8192xi8>)
func.func @prefill() {
  // CHECK-NEXT: %[[O:.*]] = arith.constant 4096 : index
  // CHECK-NEXT: %[[X:.*]] = memref.view %[[STATE]][%[[O]]][] : memref<8192xi8> to memref<4x8xf32>
  // CHECK-NEXT: %[[P:.*]] = arith.constant 0 : index
  // CHECK-NEXT: %[[IDS:.*]] = memref.view %[[STATE]][%[[P]]][] : memref<8192xi8> to memref<16xi32>
  // Weights come from an arena of their own.
  // CHECK-NEXT: %[[Q:.*]] = arith.constant 1024 : index
  // CHECK-NEXT: %[[W:.*]] = memref.view %[[WEIGHTS]][%[[Q]]][] : memref<8192xi8> to memref<4x8xf32>
  // CHECK-NEXT: call @kernel(%[[TID]], %[[N]], %[[T]], %[[FIRST]], %[[POSITION]], %[[X]], %[[IDS]])
  // CHECK-NEXT: call @ckjit_barrier(%[[TEAM]]) : (!llvm.ptr) -> ()
  // CHECK-NEXT: call @kernel(%[[TID]], %[[N]], %[[T]], %[[FIRST]], %[[POSITION]], %[[W]], %[[IDS]])
  // CHECK-NEXT: call @ckjit_barrier(%[[TEAM]]) : (!llvm.ptr) -> ()
  // CHECK-NEXT: return
  %x = ck.buffer scratch "x" at 4096 : memref<4x8xf32>
  %ids = ck.buffer extra "ids" at 0 : memref<16xi32>
  %w = ck.buffer weight "w" at 1024 : memref<4x8xf32>
  ck.launch @kernel(%x, %ids) : memref<4x8xf32>, memref<16xi32>
  ck.barrier
  ck.launch @kernel(%w, %ids) : memref<4x8xf32>, memref<16xi32>
  ck.barrier
  return
}
}

// -----

// A buffer that a fusion left unused has no offset and needs none.
module attributes {ck.arena_bytes = 64 : i64} {
// CHECK-LABEL: func.func @unused_buffer
func.func @unused_buffer() {
  // CHECK-NEXT: return
  %x = ck.buffer scratch "x" : memref<4x8xf32>
  return
}
}

// -----

// CHECK-LABEL: func.func private @kernels_alone_need_no_arena
// CHECK-SAME: (%{{.*}}: index) attributes {ck.kernel}
func.func private @kernels_alone_need_no_arena(%i: index) attributes {ck.kernel} {
  return
}

// -----

// Blocks are bytes from here on: 6 rows of 2 blocks of 34 bytes, and 3 panels of 2 blocks of 32 codes, a scale and two
// sums for each of 8 tokens: 352.
module attributes {ck.arena_bytes = 8192 : i64} {
// CHECK-LABEL: func.func private @kernel_on_blocks
// CHECK-SAME: %[[W:[a-z0-9]+]]: memref<408xi8>, %[[X:[a-z0-9]+]]: memref<2112xi8>) attributes {ck.kernel}
func.func private @kernel_on_blocks(%tid: index, %threads: index, %T: index, %first: index, %position: index, %w: memref<6x2x!ck.block<q8_0>>, %x: memref<3x2x!ck.panel_block<32 x 8>>) attributes {ck.kernel} {
  // CHECK-NEXT: memref.load %[[W]][%{{.*}}] : memref<408xi8>
  // CHECK-NEXT: memref.store %{{.*}}, %[[X]][%{{.*}}] : memref<2112xi8>
  %0 = ck.bytes %w : memref<6x2x!ck.block<q8_0>> to memref<408xi8>
  %1 = ck.bytes %x : memref<3x2x!ck.panel_block<32 x 8>> to memref<2112xi8>
  %2 = memref.load %0[%tid] : memref<408xi8>
  memref.store %2, %1[%tid] : memref<2112xi8>
  return
}
// CHECK-LABEL: func.func @prefill
func.func @prefill() {
  // CHECK: memref.view %{{.*}} : memref<8192xi8> to memref<408xi8>
  // CHECK: memref.view %{{.*}} : memref<8192xi8> to memref<2112xi8>
  // CHECK: call @kernel_on_blocks
  %w = ck.buffer weight "w" at 0 : memref<6x2x!ck.block<q8_0>>
  %x = ck.buffer scratch "x" at 4096 : memref<3x2x!ck.panel_block<32 x 8>>
  ck.launch @kernel_on_blocks(%w, %x) : memref<6x2x!ck.block<q8_0>>, memref<3x2x!ck.panel_block<32 x 8>>
  return
}
}
