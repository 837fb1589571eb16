//===- EmptyKernels.cpp - Programs that only launch and wait --------------===//
#include "ckjit/Dialect/CK/CKDialect.h"
#include "ckjit/Transforms/Passes.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_EMPTYKERNELS
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct EmptyKernelsPass : impl::EmptyKernelsBase<EmptyKernelsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal() || !getOperation()->hasAttr(kKernelAttr))
      return;
    // From the end: an op's users stand behind it.
    Block &body = getOperation().getBody().front();
    for (Operation *end = body.getTerminator(); end->getPrevNode();)
      end->getPrevNode()->erase();
    ++emptied;
  }
};
} // namespace
} // namespace ckjit::ck
