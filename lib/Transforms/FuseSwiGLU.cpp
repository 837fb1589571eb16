//===- FuseSwiGLU.cpp - linear, split and swiglu in one op ----------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_FUSESWIGLU
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct Chain {
  LinearOp linear;
  SplitOp split;
};

/// The linear and split that feed only `op`, gate half first; none when anything else looks on.
std::optional<Chain> chainBefore(SwiGLUOp op) {
  auto split = dyn_cast_if_present<SplitOp>(soleWriter(op.getGate()));
  if (!split || split.getFirst() != op.getGate() || split.getSecond() != op.getUp() || op.getGate() == op.getUp() ||
      !usedOnlyBy(op.getGate(), split, op) || !usedOnlyBy(op.getUp(), split, op))
    return std::nullopt;
  auto linear = dyn_cast_if_present<LinearOp>(soleWriter(split.getX()));
  if (!linear || !usedOnlyBy(split.getX(), linear, split) || linear.getResidual() || linear.getCos())
    return std::nullopt;
  auto weight = cast<MemRefType>(linear.getWeight().getType());
  if (weight.getRank() != 3 || weight.getDimSize(0) != 2 || !linear->isBeforeInBlock(op) ||
      !completeBefore(linear.getX(), linear))
    return std::nullopt;
  return Chain{linear, split};
}

struct FuseSwiGLUPass : impl::FuseSwiGLUBase<FuseSwiGLUPass> {
  void runOnOperation() override {
    getOperation().walk([&](SwiGLUOp op) {
      std::optional<Chain> chain = chainBefore(op);
      if (!chain)
        return;
      OpBuilder builder(op);
      LinearOp linear = chain->linear;
      GatedLinearOp::create(builder, op.getLoc(), linear.getX(), linear.getWeight(), linear.getBias(), op.getOut(),
                            linear.getRowsAttr(), linear.getDepthAttr(), linear.getTileAttr());
      op.erase();
      chain->split.erase();
      linear.erase();
      ++fused;
    });
  }
};
} // namespace
} // namespace ckjit::ck
