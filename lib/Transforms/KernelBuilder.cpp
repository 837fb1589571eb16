//===- KernelBuilder.cpp - Common pieces of a kernel's loops --------------===//
#include "KernelBuilder.h"
#include "ProgramUses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ckjit::ck;

KernelBuilder::KernelBuilder(Operation *op)
    : OpBuilder(op), loc(op->getLoc()), kernel(op->getParentOfType<func::FuncOp>()) {}

Value KernelBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, loc, value); }

Value KernelBuilder::f32(float value) { return arith::ConstantOp::create(*this, loc, getF32FloatAttr(value)); }

std::pair<Value, Value> KernelBuilder::share(Value count) {
  Value scaled = arith::MulIOp::create(*this, loc, count, tid());
  Value lo = arith::DivUIOp::create(*this, loc, scaled, threads());
  Value hi = arith::DivUIOp::create(*this, loc, arith::AddIOp::create(*this, loc, scaled, count), threads());
  return {lo, hi};
}

Value KernelBuilder::panelCount(int64_t lanes) {
  Value raised = arith::AddIOp::create(*this, loc, tokens(), index(lanes - 1));
  return arith::DivUIOp::create(*this, loc, raised, index(lanes));
}

Value KernelBuilder::apply(AffineExpr expr, ValueRange operands) {
  return affine::AffineApplyOp::create(*this, loc, AffineMap::get(operands.size(), 0, expr), operands);
}

affine::AffineForOp KernelBuilder::forRange(Value lo, Value hi, Body body) {
  AffineMap bound = AffineMap::get(0, 1, getAffineSymbolExpr(0));
  auto loop = affine::AffineForOp::create(*this, loc, ValueRange{lo}, bound, ValueRange{hi}, bound, 1);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
  return loop;
}

affine::AffineForOp KernelBuilder::forCount(int64_t count, Body body) {
  auto loop = affine::AffineForOp::create(*this, loc, 0, count, 1);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
  return loop;
}

void KernelBuilder::forLanes(int64_t lanes, Body body) { forCount(lanes, body)->setAttr(kLanesAttr, getUnitAttr()); }

SmallVector<Value> KernelBuilder::reduce(int64_t count, int64_t step, ValueRange init,
                                         function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = affine::AffineForOp::create(*this, loc, 0, count, step, init);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  affine::AffineYieldOp::create(*this, loc, body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return loop.getResults();
}

Value KernelBuilder::splat(double value, Type like) {
  auto element = cast<FloatType>(getElementTypeOrSelf(like));
  TypedAttr attr = getFloatAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(like))
    attr = DenseElementsAttr::get(vector, cast<Attribute>(attr));
  return arith::ConstantOp::create(*this, loc, attr);
}

Value KernelBuilder::exp(Value x, bool exact) {
  if (!exact)
    return math::ExpOp::create(*this, loc, x);
  Type wide = getF64Type();
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    wide = vector.clone(wide);
  Value result = math::ExpOp::create(*this, loc, arith::ExtFOp::create(*this, loc, wide, x));
  return arith::TruncFOp::create(*this, loc, x.getType(), result);
}

Value KernelBuilder::silu(Value x, bool exact) {
  Value e = exp(arith::NegFOp::create(*this, loc, x), exact);
  return arith::DivFOp::create(*this, loc, x, arith::AddFOp::create(*this, loc, splat(1.0, x.getType()), e));
}

Value KernelBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(*this, loc, a, b, c); }

Value KernelBuilder::stackBuffer(int64_t count, Type element) {
  constexpr int64_t kLineBytes = 64;
  OpBuilder::InsertionGuard restore(*this);
  setInsertionPointToStart(&kernel.getBody().front());
  return memref::AllocaOp::create(*this, loc, MemRefType::get({count}, element ? element : getF32Type()), getI64IntegerAttr(kLineBytes));
}

Value KernelBuilder::flatten(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (blockOf(type) || panelBlockOf(type))
    return BytesOp::create(*this, loc, MemRefType::get({*bytesOf(type)}, getI8Type()), memref);
  if (type.getRank() == 1)
    return memref;
  auto flat = MemRefType::get({type.getNumElements()}, type.getElementType());
  return memref::ReinterpretCastOp::create(*this, loc, flat, memref, /*offset=*/0, flat.getShape(), ArrayRef<int64_t>{1});
}

LogicalResult ckjit::ck::checkKernel(Operation *op, ValueRange activations) {
  auto function = dyn_cast<func::FuncOp>(op->getParentOp());
  if (!function || !function->hasAttr(kKernelAttr))
    return op->emitOpError("stands outside a kernel; run ck-outline-kernels first");
  ArrayRef<Type> leading = function.getArgumentTypes().take_front(kFirstBuffer);
  if (leading.size() < kFirstBuffer || !llvm::all_of(leading, [](Type type) { return type.isIndex(); }))
    return op->emitOpError("stands in kernel @") << function.getName() << " of type " << function.getFunctionType()
                                                 << ", expected " << unsigned(kFirstBuffer) << " index arguments first";
  Value first;
  for (Value activation : activations) {
    if (!activation)
      continue;
    first = first ? first : activation;
    if (isPanels(activation.getType()) != isPanels(first.getType()))
      return op->emitOpError("activation ") << activation.getType() << " stands beside " << first.getType()
                                            << ", expected all in rows or all in panels of ck-pack-activations";
  }
  // Panels say how wide a vector is; rows leave it to the target.
  return success(!first || isPanels(first.getType()) || targetOf(op));
}
