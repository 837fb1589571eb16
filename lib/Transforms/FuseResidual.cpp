//===- FuseResidual.cpp - Add where the projection is stored --------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_FUSERESIDUAL
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// A projection that may take `residual` and write to `add`'s result: only `add` reads what it writes.
template <typename Projection> Projection projectionFor(AddOp add, Value projected, Value residual) {
  auto op = dyn_cast_if_present<Projection>(soleWriter(projected));
  if (!op || projected == residual || op.getResidual() || !usedOnlyBy(projected, op, add) ||
      op.getOut() != projected || op.getX() == add.getOut() || !completeBefore(residual, op) ||
      soleWriter(add.getOut()) != add)
    return {};
  return op;
}

template <typename Projection> bool fuse(AddOp add, Value projected, Value residual) {
  auto op = projectionFor<Projection>(add, projected, residual);
  if (!op)
    return false;
  if constexpr (std::is_same_v<Projection, LinearOp>)
    if (op.getCos() || op.getHeadMajor())
      return false;
  op.getResidualMutable().assign(residual);
  op.getOutMutable().set(add.getOut());
  add.erase();
  return true;
}

struct FuseResidualPass : impl::FuseResidualBase<FuseResidualPass> {
  void runOnOperation() override {
    getOperation().walk([&](AddOp add) {
      Value a = add.getA(), b = add.getB();
      if (fuse<LinearOp>(add, b, a) || fuse<AttnProjectOp>(add, b, a) || fuse<LinearOp>(add, a, b) ||
          fuse<AttnProjectOp>(add, a, b))
        ++fused;
    });
  }
};
} // namespace
} // namespace ckjit::ck
