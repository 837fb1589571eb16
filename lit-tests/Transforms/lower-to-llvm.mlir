// RUN: ck-opt %s -ck-lower-to-llvm | FileCheck %s

// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.func @ckjit_barrier(!llvm.ptr)
func.func private @ckjit_barrier(!llvm.ptr)

// Memrefs are bare pointers.
// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
func.func private @kernel(%hi: index, %x: memref<5x6x8xf32>, %y: memref<5x6x8xf32>) attributes {ck.kernel} {
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.cond_br
  // CHECK: llvm.load {{.*}} -> vector<8xf32>
  // CHECK: llvm.intr.fma({{.*}}) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  // CHECK: llvm.intr.sqrt({{.*}}) : (vector<8xf32>) -> vector<8xf32>
  // CHECK: llvm.store {{.*}} : vector<8xf32>, !llvm.ptr
  %c0 = arith.constant 0 : index
  affine.for %p = 0 to %hi {
    %v = affine.vector_load %x[%p, 2, %c0] : memref<5x6x8xf32>, vector<8xf32>
    %s = math.fma %v, %v, %v : vector<8xf32>
    %r = math.sqrt %s : vector<8xf32>
    affine.vector_store %r, %y[%p, 2, %c0] : memref<5x6x8xf32>, vector<8xf32>
  }
  return
}

// CHECK-LABEL: llvm.func @loop_that_carries_a_vector
func.func private @loop_that_carries_a_vector(%hi: index, %x: memref<64xf32>, %y: memref<8xf32>) {
  // CHECK: llvm.br ^[[HEAD:.*]](%{{.*}}, %{{.*}} : i64, vector<8xf32>)
  // CHECK: ^[[HEAD]](%{{.*}}: i64, %{{.*}}: vector<8xf32>):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %sum = scf.for %i = %c0 to %hi step %c8 iter_args(%s = %zero) -> vector<8xf32> {
    %v = vector.load %x[%i] : memref<64xf32>, vector<8xf32>
    %next = arith.addf %s, %v : vector<8xf32>
    scf.yield %next : vector<8xf32>
  }
  vector.store %sum, %y[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// What ck-lower-program leaves.
// CHECK-LABEL: llvm.func @prefill
// CHECK-SAME: (%[[TEAM:.*]]: !llvm.ptr, %[[HI:.*]]: i64, %[[ARENA:.*]]: !llvm.ptr)
func.func @prefill(%team: !llvm.ptr, %hi: index, %arena: memref<8192xi8>) {
  // CHECK: %[[X:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  // CHECK: llvm.call @kernel(%[[HI]], %{{.*}}, %{{.*}}) : (i64, !llvm.ptr, !llvm.ptr) -> ()
  // CHECK: llvm.call @ckjit_barrier(%[[TEAM]])
  // CHECK: llvm.return
  %o = arith.constant 1024 : index
  %x = memref.view %arena[%o][] : memref<8192xi8> to memref<5x6x8xf32>
  func.call @kernel(%hi, %x, %x) : (index, memref<5x6x8xf32>, memref<5x6x8xf32>) -> ()
  func.call @ckjit_barrier(%team) : (!llvm.ptr) -> ()
  return
}

// What a loop carries through unchanged comes out of it.
// CHECK-LABEL: llvm.func @rows_carry_a_sum
func.func @rows_carry_a_sum(%panels: index, %zero: f32) -> f32 {
  // CHECK: llvm.br ^[[HEAD:.*]](%{{.*}}, %arg1 : i64, f32)
  // CHECK: ^[[HEAD]](%{{.*}}: i64, %[[S:.*]]: f32):
  // CHECK: llvm.return %[[S]] : f32
  %sum = affine.for %row = 0 to 8 iter_args(%s = %zero) -> f32 {
    affine.for %p = 0 to %panels {
    }
    affine.yield %s : f32
  }
  return %sum : f32
}

// CHECK-LABEL: llvm.func @branch_gives_what_the_loop_carries
func.func @branch_gives_what_the_loop_carries(%n: index, %c: i1, %zero: f32) -> f32 {
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %t = scf.if %c -> f32 {
      scf.yield %s : f32
    } else {
      scf.yield %zero : f32
    }
    scf.yield %t : f32
  }
  return %sum : f32
}
