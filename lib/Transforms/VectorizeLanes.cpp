//===- VectorizeLanes.cpp - A loop over lanes to vector ops ---------------===//
#include "LoopDialects.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::affine;

namespace ckjit::ck {
#define GEN_PASS_DEF_VECTORIZELANES
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// Rewrites the body of one lane loop in front of it. A value is either uniform (the same for all
/// lanes, kept scalar) or varying (one element a lane, a vector).
class LaneVectorizer {
public:
  explicit LaneVectorizer(AffineForOp loop)
      : loop(loop), builder(loop), lanes(loop.getConstantUpperBound()), lane(loop.getInductionVar()) {}

  LogicalResult run() {
    Value zero = arith::ConstantIndexOp::create(builder, loop.getLoc(), 0);
    uniform.map(lane, zero);
    return body(*loop.getBody());
  }

private:
  LogicalResult body(Block &block);
  LogicalResult rewrite(Operation &op);
  LogicalResult rewriteAffineLoad(AffineLoadOp load);
  LogicalResult rewriteAffineStore(AffineStoreOp store);
  LogicalResult rewriteLoad(memref::LoadOp load);
  LogicalResult rewriteStore(memref::StoreOp store);
  template <typename Loop> LogicalResult rewriteLoop(Loop inner);
  LogicalResult widen(Operation &op);
  LogicalResult checkUniform(Operation *op, ValueRange values, StringRef what);
  FailureOr<bool> contiguous(Operation *op, AffineMap map, ValueRange operands);
  FailureOr<bool> contiguous(Operation *op, ValueRange indices);
  void createLoad(Value old, Value memref, ValueRange indices);
  void createStore(Location loc, Value value, Value memref, ValueRange indices);

  bool isVarying(Value value) const { return varying.contains(value); }
  bool usesLane(ValueRange values) const { return llvm::is_contained(values, lane); }
  VectorType vectorOf(Type type) const { return VectorType::get({lanes}, type); }
  SmallVector<Value> uniformOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return uniform.lookupOrDefault(value); });
  }
  /// The vector of `value`, broadcast when it is uniform.
  Value vectorFor(Value value) {
    if (Value vector = varying.lookupOrNull(value))
      return vector;
    Value scalar = uniform.lookupOrDefault(value);
    return vector::BroadcastOp::create(builder, value.getLoc(), vectorOf(value.getType()), scalar);
  }

  AffineForOp loop;
  OpBuilder builder;
  int64_t lanes;
  Value lane;
  IRMapping uniform, varying;
};

LogicalResult LaneVectorizer::body(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(rewrite(op)))
      return failure();
  return success();
}

LogicalResult LaneVectorizer::rewrite(Operation &op) {
  if (auto load = dyn_cast<AffineLoadOp>(op))
    return rewriteAffineLoad(load);
  if (auto store = dyn_cast<AffineStoreOp>(op))
    return rewriteAffineStore(store);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return rewriteLoad(load);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return rewriteStore(store);
  if (auto inner = dyn_cast<AffineForOp>(op))
    return rewriteLoop(inner);
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return rewriteLoop(inner);
  if (llvm::any_of(op.getOperands(), [&](Value value) { return isVarying(value); }))
    return widen(op);
  if (usesLane(op.getOperands()) || op.getNumRegions() != 0)
    return op.emitError() << "can't be vectorized over " << kLanesAttr;
  builder.clone(op, uniform);
  return success();
}

/// An index or bound that is loaded or computed for each lane has no vector form.
LogicalResult LaneVectorizer::checkUniform(Operation *op, ValueRange values, StringRef what) {
  if (llvm::any_of(values, [&](Value value) { return isVarying(value); }))
    return op->emitError() << what << " varies over " << kLanesAttr << ", expected the same value for all lanes";
  return success();
}

/// True when the last index moves by one element a lane and no other index moves; error when the lane is used otherwise.
FailureOr<bool> LaneVectorizer::contiguous(Operation *op, AffineMap map, ValueRange operands) {
  if (failed(checkUniform(op, operands, "an index")))
    return failure();
  if (!usesLane(operands))
    return false;
  int64_t position = llvm::find(operands, lane) - operands.begin();
  bool ok = position < map.getNumDims() && llvm::count(operands, lane) == 1;
  for (auto [index, expr] : llvm::enumerate(map.getResults())) {
    if (!ok || !expr.isFunctionOfDim(position))
      continue;
    AffineExpr dim = getAffineDimExpr(position, op->getContext());
    AffineExpr rest = expr.replace(dim, getAffineConstantExpr(0, op->getContext()));
    ok = index + 1 == map.getNumResults() && simplifyAffineExpr(expr - rest - dim, map.getNumDims(), map.getNumSymbols()) ==
                                                 getAffineConstantExpr(0, op->getContext());
  }
  if (!ok)
    return op->emitError() << "the lane isn't the last index with step 1", failure();
  return true;
}

FailureOr<bool> LaneVectorizer::contiguous(Operation *op, ValueRange indices) {
  if (failed(checkUniform(op, indices, "an index")))
    return failure();
  if (!usesLane(indices))
    return false;
  if (indices.back() != lane || llvm::count(indices, lane) != 1)
    return op->emitError() << "the lane isn't the last index with step 1", failure();
  return true;
}

void LaneVectorizer::createLoad(Value old, Value memref, ValueRange indices) {
  varying.map(old, vector::LoadOp::create(builder, old.getLoc(), vectorOf(old.getType()), memref, indices).getResult());
}

void LaneVectorizer::createStore(Location loc, Value value, Value memref, ValueRange indices) {
  vector::StoreOp::create(builder, loc, vectorFor(value), memref, indices);
}

LogicalResult LaneVectorizer::rewriteAffineLoad(AffineLoadOp load) {
  FailureOr<bool> found = contiguous(load, load.getAffineMap(), load.getMapOperands());
  if (failed(found))
    return failure();
  if (!*found)
    return builder.clone(*load, uniform), success();
  auto type = vectorOf(load.getType());
  Value vector = AffineVectorLoadOp::create(builder, load.getLoc(), type, load.getMemRef(), load.getAffineMap(),
                                            uniformOf(load.getMapOperands()));
  varying.map(load.getResult(), vector);
  return success();
}

LogicalResult LaneVectorizer::rewriteAffineStore(AffineStoreOp store) {
  FailureOr<bool> found = contiguous(store, store.getAffineMap(), store.getMapOperands());
  if (failed(found))
    return failure();
  if (!*found)
    return store.emitError() << "stores the same element from every lane";
  AffineVectorStoreOp::create(builder, store.getLoc(), vectorFor(store.getValueToStore()), store.getMemRef(),
                              store.getAffineMap(), uniformOf(store.getMapOperands()));
  return success();
}

LogicalResult LaneVectorizer::rewriteLoad(memref::LoadOp load) {
  FailureOr<bool> found = contiguous(load, load.getIndices());
  if (failed(found))
    return failure();
  if (!*found)
    return builder.clone(*load, uniform), success();
  createLoad(load.getResult(), load.getMemRef(), uniformOf(load.getIndices()));
  return success();
}

LogicalResult LaneVectorizer::rewriteStore(memref::StoreOp store) {
  FailureOr<bool> found = contiguous(store, store.getIndices());
  if (failed(found))
    return failure();
  if (!*found)
    return store.emitError() << "stores the same element from every lane";
  createStore(store.getLoc(), store.getValueToStore(), store.getMemRef(), uniformOf(store.getIndices()));
  return success();
}

AffineForOp makeLoop(OpBuilder &builder, AffineForOp like, IRMapping &uniform, ValueRange init) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return uniform.lookupOrDefault(value); });
  };
  return AffineForOp::create(builder, like.getLoc(), mapped(like.getLowerBoundOperands()), like.getLowerBoundMap(),
                             mapped(like.getUpperBoundOperands()), like.getUpperBoundMap(), like.getStepAsInt(), init);
}

scf::ForOp makeLoop(OpBuilder &builder, scf::ForOp like, IRMapping &uniform, ValueRange init) {
  return scf::ForOp::create(builder, like.getLoc(), uniform.lookupOrDefault(like.getLowerBound()),
                            uniform.lookupOrDefault(like.getUpperBound()), uniform.lookupOrDefault(like.getStep()), init);
}

/// A loop inside keeps its bounds; what it carries becomes vectors.
template <typename Loop> LogicalResult LaneVectorizer::rewriteLoop(Loop inner) {
  ValueRange bounds = inner->getOperands().drop_back(inner.getInits().size());
  if (usesLane(bounds))
    return inner->emitError() << "a bound is the lane of " << kLanesAttr << ", expected the same value for all lanes";
  if (failed(checkUniform(inner, bounds, "a bound")))
    return failure();
  SmallVector<Value> init = llvm::map_to_vector(inner.getInits(), [&](Value value) { return vectorFor(value); });
  Loop made = makeLoop(builder, inner, uniform, init);
  OpBuilder::InsertionGuard restore(builder);
  Block *block = made.getBody();
  if (block->mightHaveTerminator())
    builder.setInsertionPoint(block->getTerminator());
  else
    builder.setInsertionPointToEnd(block);
  uniform.map(inner.getInductionVar(), made.getInductionVar());
  for (auto [old, carried] : llvm::zip(inner.getRegionIterArgs(), made.getRegionIterArgs()))
    varying.map(old, carried);
  if (failed(body(*inner.getBody())))
    return failure();
  if (!init.empty()) {
    SmallVector<Value> next = llvm::map_to_vector(inner.getBody()->getTerminator()->getOperands(),
                                                  [&](Value value) { return vectorFor(value); });
    if constexpr (std::is_same_v<Loop, AffineForOp>)
      AffineYieldOp::create(builder, inner.getLoc(), next);
    else
      scf::YieldOp::create(builder, inner.getLoc(), next);
  }
  for (auto [old, result] : llvm::zip(inner->getResults(), made->getResults()))
    varying.map(old, result);
  return success();
}

/// An elementwise op of arith or math on vectors.
LogicalResult LaneVectorizer::widen(Operation &op) {
  if (!OpTrait::hasElementwiseMappableTraits(&op) || usesLane(op.getOperands()))
    return op.emitError() << "can't be vectorized over " << kLanesAttr;
  SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value value) { return vectorFor(value); });
  SmallVector<Type> types = llvm::map_to_vector(op.getResultTypes(), [&](Type type) -> Type { return vectorOf(type); });
  Operation *made = builder.create(op.getLoc(), op.getName().getIdentifier(), operands, types, op.getAttrs());
  for (auto [old, result] : llvm::zip(op.getResults(), made->getResults()))
    varying.map(old, result);
  return success();
}

struct VectorizeLanesPass : impl::VectorizeLanesBase<VectorizeLanesPass> {
  void runOnOperation() override {
    SmallVector<AffineForOp> loops;
    getOperation().walk([&](AffineForOp loop) {
      if (loop->hasAttr(kLanesAttr))
        loops.push_back(loop);
    });
    for (AffineForOp loop : loops) {
      if (failed(check(loop)) || failed(LaneVectorizer(loop).run()))
        return signalPassFailure();
      loop.erase();
      ++vectorized;
    }
  }

  static LogicalResult check(AffineForOp loop) {
    bool plain = loop.hasConstantBounds() && loop.getConstantLowerBound() == 0 && loop.getConstantUpperBound() > 0 &&
                 loop.getStepAsInt() == 1 && loop.getNumResults() == 0;
    if (!plain)
      return loop.emitError() << kLanesAttr << " needs a loop from 0 to a positive constant by 1 without iter_args";
    return success();
  }
};
} // namespace
} // namespace ckjit::ck
