//===- FuseRope.cpp - Rotate heads inside their projection ----------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_FUSEROPE
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// The projection that wrote `rope`'s operand, if nothing came in between.
LinearOp projectionBefore(RopeOp rope) {
  Operation *last = nullptr;
  for (Operation *user : rope.getX().getUsers())
    if (user->getBlock() == rope->getBlock() && user->isBeforeInBlock(rope) && (!last || last->isBeforeInBlock(user)))
      last = user;
  auto linear = dyn_cast_if_present<LinearOp>(last);
  bool fits = linear && linear.getOut() == rope.getX() && linear.getRows() == rope.getHeadDim() &&
              linear.getHeadMajor() == rope.getHeadMajor() &&
              !linear.getResidual() && !linear.getCos();
  return fits ? linear : LinearOp();
}

struct FuseRopePass : impl::FuseRopeBase<FuseRopePass> {
  void runOnOperation() override {
    getOperation().walk([&](RopeOp rope) {
      LinearOp linear = projectionBefore(rope);
      if (!linear)
        return;
      linear.getCosMutable().assign(rope.getCos());
      linear.getSinMutable().assign(rope.getSin());
      rope.erase();
      ++fused;
    });
  }
};
} // namespace
} // namespace ckjit::ck
