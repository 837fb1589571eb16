//===- SelectStrategy.cpp - Write each matrix op's tile -------------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_SELECTSTRATEGY
#include "ckjit/Transforms/Passes.h.inc"

namespace {
constexpr int64_t kBytesOfFloat = 4;
/// The code generator moves neighbouring loads of an unrolled loop together, ahead of their use, and
/// spills what no longer fits; a step of rows x vectors FMAs is long enough without.
constexpr int64_t kUnroll = 1;

struct Tile {
  int64_t rows, vectors;
};

/// Fills the registers with rows x vectors accumulators, `vectors` operands and one broadcast:
/// 8 x 3 + 3 + 1 of 32, 4 x 3 + 3 + 1 of 16; without FMA a product needs a register, so 4 x 2.
Tile registerTile(TargetAttr target, bool strict) {
  if (strict)
    return {4, 1};
  if (target.getRegisters() >= 32)
    return {8, 3};
  return target.getFma() ? Tile{4, 3} : Tile{4, 2};
}

/// The largest number of query heads of one kv head, at most `limit`, that divides the group.
int64_t headsOfTile(AttentionOp op, int64_t limit) {
  int64_t group = op.getHeads() / cast<MemRefType>(op.getK().getType()).getDimSize(0);
  while (limit > 1 && group % limit != 0)
    --limit;
  return limit;
}

struct SelectStrategyPass : impl::SelectStrategyBase<SelectStrategyPass> {
  using Base::Base;

  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](Operation *op) {
      return failed(chooseFor(op, target)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult chooseFor(Operation *op, TargetAttr target) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      return choose(attention, target, attention.getHeadDim());
    if (auto linear = dyn_cast<LinearOp>(op))
      return choose(linear, target, linear.getDepth());
    if (auto gated = dyn_cast<GatedLinearOp>(op))
      return choose(gated, target, gated.getDepth());
    if (auto project = dyn_cast<AttnProjectOp>(op))
      return choose(project, target,
                    project.getDepth() * cast<MemRefType>(project.getWeight().getType()).getDimSize(0));
    if (auto head = dyn_cast<LMHeadOp>(op))
      return choose(head, target, head.getDepth());
    return success();
  }

  /// Error when an option is out of a tile's range.
  template <typename MatrixOp> LogicalResult choose(MatrixOp op, TargetAttr target, int64_t depth) {
    if (op.getTile())
      return success();
    Tile tile = registerTile(target, strict);
    if (rows)
      tile.rows = rows;
    if (vectors)
      tile.vectors = vectors;
    if constexpr (std::is_same_v<MatrixOp, AttentionOp>)
      tile.vectors = headsOfTile(op, tile.vectors);
    int64_t panelBytes = depth * target.getLanes() * kBytesOfFloat;
    int64_t fitting = target.getL2() / 2 / panelBytes;
    int64_t block = panels > 0   ? std::max<int64_t>(panels, tile.vectors)
                    : panels < 0 ? panels.getValue()
                                 : std::max<int64_t>(1, fitting / tile.vectors) * tile.vectors;
    TileAttr chosenTile = TileAttr::getChecked([&] { return op.emitOpError(); }, &getContext(), tile.rows, tile.vectors,
                                               block, unroll ? unroll.getValue() : kUnroll, strict.getValue());
    if (!chosenTile)
      return failure();
    op.setTileAttr(chosenTile);
    ++chosen;
    return success();
  }
};
} // namespace
} // namespace ckjit::ck
