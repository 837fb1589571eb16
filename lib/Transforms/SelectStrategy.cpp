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
  while (group % limit != 0)
    --limit;
  return limit;
}

struct SelectStrategyPass : impl::SelectStrategyBase<SelectStrategyPass> {
  using Base::Base;

  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op))
        choose(attention, target, attention.getHeadDim());
      else if (auto linear = dyn_cast<LinearOp>(op))
        choose(linear, target, linear.getDepth());
      else if (auto gated = dyn_cast<GatedLinearOp>(op))
        choose(gated, target, gated.getDepth());
      else if (auto project = dyn_cast<AttnProjectOp>(op))
        choose(project, target, project.getDepth() * cast<MemRefType>(project.getWeight().getType()).getDimSize(0));
      else if (auto head = dyn_cast<LMHeadOp>(op))
        choose(head, target, head.getDepth());
    });
  }

  template <typename MatrixOp> void choose(MatrixOp op, TargetAttr target, int64_t depth) {
    if (op.getTile())
      return;
    Tile tile = registerTile(target, strict);
    if (rows)
      tile.rows = rows;
    if (vectors)
      tile.vectors = vectors;
    if constexpr (std::is_same_v<MatrixOp, AttentionOp>)
      tile.vectors = headsOfTile(op, tile.vectors);
    int64_t panelBytes = depth * target.getLanes() * kBytesOfFloat;
    int64_t fitting = target.getL2() / 2 / panelBytes;
    int64_t block = panels ? std::max<int64_t>(panels, tile.vectors)
                           : std::max<int64_t>(1, fitting / tile.vectors) * tile.vectors;
    op.setTileAttr(TileAttr::get(&getContext(), tile.rows, tile.vectors, block, unroll ? unroll : kUnroll, strict));
    ++chosen;
  }
};
} // namespace
} // namespace ckjit::ck
