//===- InjectFault.cpp - Break one kernel on purpose ----------------------===//
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_INJECTFAULT
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct InjectFaultPass : impl::InjectFaultBase<InjectFaultPass> {
  using Base::Base;

  void runOnOperation() override {
    if (kernel.empty() || !getOperation()->hasAttr(kKernelAttr) || !getOperation().getName().starts_with(kernel))
      return;
    Operation *first = nullptr;
    getOperation().walk([&](Operation *op) {
      bool stores = isa<vector::StoreOp, affine::AffineVectorStoreOp, affine::AffineStoreOp, vector::MaskedStoreOp>(op);
      if (stores && !first)
        first = op;
    });
    if (!first)
      return;
    Value stored = isa<vector::MaskedStoreOp>(first) ? first->getOperands().back() : first->getOperand(0);
    OpBuilder builder(first);
    Value doubled = arith::AddFOp::create(builder, first->getLoc(), stored, stored);
    first->replaceUsesOfWith(stored, doubled);
    ++injected;
  }
};
} // namespace
} // namespace ckjit::ck
