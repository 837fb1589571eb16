// The stages of the pipeline, each from what the one before left.
// RUN: ck-opt %s -ck-stage-ck -o %t.ck.mlir
// RUN: ck-opt %t.ck.mlir -ck-stage-loops -o %t.loops.mlir
// RUN: ck-opt %t.loops.mlir -ck-stage-vector -o %t.vector.mlir
// RUN: ck-opt %t.vector.mlir -ck-stage-llvm -o %t.llvm.mlir
// RUN: FileCheck %s --input-file=%t.ck.mlir --check-prefix=CK
// RUN: FileCheck %s --input-file=%t.loops.mlir --check-prefix=LOOPS
// RUN: FileCheck %s --input-file=%t.vector.mlir --check-prefix=VECTOR --implicit-check-not=ck.register_tile
// RUN: FileCheck %s --input-file=%t.llvm.mlir --check-prefix=LLVM --implicit-check-not=func.func

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CK-LABEL: func.func @project_and_add()
// CK-NOT: ck.buffer scratch "p" layer 0 at
// CK: ck.launch @linear.32x32.residual(
// CK-NEXT: return
// CK: func.func private @linear.32x32.residual(
// CK: ck.linear {{.*}} residual({{.*}}) outs({{.*}} : memref<5x32x8xf32>) rows 32 depth 32 tile <rows = 4, vectors = 3,
// LOOPS-LABEL: func.func @project_and_add()
// LOOPS: ck.launch
// LOOPS: func.func private @linear.32x32.residual(
// LOOPS: affine.for
// LOOPS: affine.for
// LOOPS: ck.register_tile
// LOOPS: } {ck.block = {{[0-9]+}} : i64, ck.jam = 3 : i64}
// VECTOR: func.func private @linear.32x32.residual(
// VECTOR: scf.for
// VECTOR: scf.for {{.*}} -> (vector<8xf32>
// VECTOR-COUNT-12: math.fma {{.*}} : vector<8xf32>
// LLVM-LABEL: llvm.func @project_and_add(
// LLVM: llvm.call @linear.32x32.residual(
// LLVM: llvm.func {{.*}}@linear.32x32.residual(
// LLVM: llvm.intr.fma
func.func @project_and_add() {
  %x = ck.buffer scratch "x" layer 0 : memref<40x32xf32>
  %w = ck.buffer extra "w" : memref<32x32xf32>
  %b = ck.buffer extra "b" : memref<32xf32>
  %p = ck.buffer scratch "p" layer 0 : memref<40x32xf32>
  %y = ck.buffer scratch "y" layer 0 : memref<40x32xf32>
  ck.linear ins(%x, %w, %b : memref<40x32xf32>, memref<32x32xf32>, memref<32xf32>) outs(%p : memref<40x32xf32>) rows 32 depth 32
  ck.add ins(%x, %p : memref<40x32xf32>, memref<40x32xf32>) outs(%y : memref<40x32xf32>)
  return
}
}
