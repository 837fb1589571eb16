//===- BlockPanels.cpp - Tile a panel loop for the cache ------------------===//
#include "LoopDialects.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::affine;

namespace ckjit::ck {
#define GEN_PASS_DEF_BLOCKPANELS
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// Moves a block loop over `inner`'s range around `outer` and narrows `inner` to a block.
void block(AffineForOp outer, AffineForOp inner, int64_t size) {
  OpBuilder builder(outer);
  auto blocks = AffineForOp::create(builder, inner.getLoc(), inner.getLowerBoundOperands(), inner.getLowerBoundMap(),
                                    inner.getUpperBoundOperands(), inner.getUpperBoundMap(), size);
  outer->moveBefore(blocks.getBody()->getTerminator());
  AffineExpr start = builder.getAffineDimExpr(0), end = builder.getAffineSymbolExpr(0);
  AffineMap upper = AffineMap::get(1, 1, {start + size, end}, builder.getContext());
  SmallVector<Value> upperOperands{blocks.getInductionVar()};
  llvm::append_range(upperOperands, inner.getUpperBoundOperands());
  inner.setLowerBound(blocks.getInductionVar(), AffineMap::get(1, 0, start));
  inner.setUpperBound(upperOperands, upper);
}

/// True when a bound is one value of the function's top level.
bool isPlain(AffineMap map, ValueRange operands) {
  return map.getNumResults() == 1 && map.getNumDims() == 0 && operands.size() == 1 && isa<AffineSymbolExpr>(map.getResult(0));
}

/// Both loops can change places: nothing is carried, and the panels are the same in every turn of `outer`.
bool canBlock(AffineForOp outer, AffineForOp inner) {
  return outer && outer.getNumResults() == 0 && inner.getNumResults() == 0 && inner.getStepAsInt() == 1 &&
         isPlain(inner.getUpperBoundMap(), inner.getUpperBoundOperands()) &&
         llvm::all_of(inner->getOperands(), [&](Value bound) { return outer.isDefinedOutsideOfLoop(bound); });
}

struct BlockPanelsPass : impl::BlockPanelsBase<BlockPanelsPass> {
  void runOnOperation() override {
    SmallVector<AffineForOp> loops;
    getOperation().walk([&](AffineForOp loop) {
      if (loop->hasAttr(kBlockAttr))
        loops.push_back(loop);
    });
    for (AffineForOp loop : loops) {
      auto size = loop->getAttrOfType<IntegerAttr>(kBlockAttr);
      auto outer = dyn_cast<AffineForOp>(loop->getParentOp());
      if (!size || size.getInt() < 1) {
        loop.emitError() << kBlockAttr << " is " << loop->getAttr(kBlockAttr) << ", expected a positive number of panels";
        return signalPassFailure();
      }
      if (!canBlock(outer, loop)) {
        loop.emitError() << kBlockAttr << " needs an affine loop around it, a step of 1, no iter_args, and bounds that "
                         << "are values made outside both loops";
        return signalPassFailure();
      }
      block(outer, loop, size.getInt());
      loop->removeAttr(kBlockAttr);
      ++blocked;
    }
  }
};
} // namespace
} // namespace ckjit::ck
