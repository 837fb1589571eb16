// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

func.func private @kernel(index, index, index, index, index, memref<3x8x16xf32>, memref<64xi32>) attributes {ck.kernel}
func.func private @kernel_without_buffers(index, index, index, index, index) attributes {ck.kernel}

// CHECK-LABEL: func.func @launches_with_barrier_between
func.func @launches_with_barrier_between(%x: memref<3x8x16xf32>, %ids: memref<64xi32>) {
  // CHECK-NEXT: ck.launch @kernel(%{{.*}}, %{{.*}}) : memref<3x8x16xf32>, memref<64xi32>
  // CHECK-NEXT: ck.barrier{{$}}
  // CHECK-NEXT: ck.launch @kernel(%{{.*}}, %{{.*}}) {layer = 1 : i64} : memref<3x8x16xf32>, memref<64xi32>
  // CHECK-NEXT: ck.barrier {why = "loop"}
  // CHECK-NEXT: ck.launch @kernel_without_buffers(){{$}}
  ck.launch @kernel(%x, %ids) : memref<3x8x16xf32>, memref<64xi32>
  ck.barrier
  ck.launch @kernel(%x, %ids) {layer = 1 : i64} : memref<3x8x16xf32>, memref<64xi32>
  ck.barrier {why = "loop"}
  ck.launch @kernel_without_buffers()
  return
}
