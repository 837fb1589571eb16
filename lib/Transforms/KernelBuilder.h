//===- KernelBuilder.h - Common pieces of a kernel's loops ------*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_KERNELBUILDER_H
#define CKJIT_LIB_TRANSFORMS_KERNELBUILDER_H

#include "ckjit/Dialect/CK/CKDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace ckjit::ck {

/// Builds the loops that replace one op of a kernel. Insertion starts at the op, at the
/// top level of the function, so that what is made there may bound affine loops.
class KernelBuilder : public mlir::OpBuilder {
public:
  using Body = llvm::function_ref<void(mlir::Value iv)>;

  /// `op` must stand in a kernel (checked by checkKernel).
  explicit KernelBuilder(mlir::Operation *op);

  mlir::Value tid() { return kernel.getArgument(kTid); }
  mlir::Value threads() { return kernel.getArgument(kThreads); }
  mlir::Value tokens() { return kernel.getArgument(kTokens); }
  mlir::Value firstRow() { return kernel.getArgument(kFirstRow); }
  /// Position in the context of the first token.
  mlir::Value position() { return kernel.getArgument(kPosition); }

  mlir::Value index(int64_t value);
  mlir::Value f32(float value);
  /// The part [lo, hi) of `count` items that this thread computes.
  std::pair<mlir::Value, mlir::Value> share(mlir::Value count);
  /// ceil(T / lanes).
  mlir::Value panelCount(int64_t lanes);
  /// `expr` over `operands` (dims), by affine.apply.
  mlir::Value apply(mlir::AffineExpr expr, mlir::ValueRange operands);

  /// affine.for over [lo, hi); the bounds are values of the function's top level.
  mlir::affine::AffineForOp forRange(mlir::Value lo, mlir::Value hi, Body body);
  /// affine.for over [0, count).
  mlir::affine::AffineForOp forCount(int64_t count, Body body);
  /// forCount(lanes) marked for ck-vectorize-lanes.
  void forLanes(int64_t lanes, Body body);
  /// affine.for over [0, count) by `step` that carries `init`; the body returns the next values.
  mlir::SmallVector<mlir::Value>
  reduce(int64_t count, int64_t step, mlir::ValueRange init,
         llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::Value iv, mlir::ValueRange carried)> body);
  /// exp(x); `exact` computes it in double and rounds once.
  mlir::Value exp(mlir::Value x, bool exact);
  /// x / (1 + exp(-x)).
  mlir::Value silu(mlir::Value x, bool exact);
  /// a*b + c in one rounding (expand-math makes it two where the target has no FMA).
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// memref<count x f32> (or of another element) on the thread's stack, made once at the function's start.
  mlir::Value stackBuffer(int64_t count, mlir::Type element = {});
  /// The whole memref as memref<N x type>, one of blocks as its bytes.
  mlir::Value flatten(mlir::Value memref);
  /// A constant of `like`'s type (scalar or vector).
  mlir::Value splat(double value, mlir::Type like);

  mlir::Location loc;

private:
  mlir::func::FuncOp kernel;
};

/// Emits an error unless `op` stands at the top level of a kernel with all its activations in panels, or all in rows
/// and the module's ck.target there.
mlir::LogicalResult checkKernel(mlir::Operation *op, mlir::ValueRange activations);

} // namespace ckjit::ck
#endif
