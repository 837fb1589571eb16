//===- InjectFault.cpp - Break kernels on purpose -------------------------===//
#include "LoopDialects.h"
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
    SmallVector<Operation *> stores;
    getOperation().walk([&](Operation *op) {
      if (isa<vector::StoreOp, vector::MaskedStoreOp, affine::AffineVectorStoreOp, affine::AffineStoreOp,
              memref::StoreOp>(op))
        stores.push_back(op);
    });
    for (Operation *store : stores) {
      Value stored = isa<vector::MaskedStoreOp>(store) ? store->getOperands().back() : store->getOperand(0);
      if (!isa<FloatType>(getElementTypeOrSelf(stored)))
        continue;
      OpBuilder builder(store);
      Value doubled = arith::AddFOp::create(builder, store->getLoc(), stored, stored);
      store->replaceUsesOfWith(stored, doubled);
      ++injected;
    }
  }
};
} // namespace
} // namespace ckjit::ck
