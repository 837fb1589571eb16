//===- ExpandMath.cpp - Math that needs no library ------------------------===//
#include "MathPolynomials.h"
#include "ProgramUses.h"
#include "LoopDialects.h"
#include "ckjit/Transforms/Passes.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_EXPANDMATH
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct ExpandMathPass : impl::ExpandMathBase<ExpandMathPass> {
  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<Operation *> functions, products;
    getOperation().walk([&](Operation *op) {
      if (isa<math::ExpOp, math::LogOp>(op))
        functions.push_back(op);
    });
    for (Operation *op : functions)
      expandFunction(op);
    if (target.getFma())
      return;
    getOperation().walk([&](math::FmaOp op) { products.push_back(op); });
    for (Operation *op : products)
      splitProduct(op);
  }

  void expandFunction(Operation *op) {
    OpBuilder builder(op);
    Value x = op->getOperand(0);
    Value result = isa<math::ExpOp>(op) ? expandExp(builder, op->getLoc(), x) : expandLog(builder, op->getLoc(), x);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    ++expanded;
  }

  void splitProduct(Operation *op) {
    OpBuilder builder(op);
    Value product = arith::MulFOp::create(builder, op->getLoc(), op->getOperand(0), op->getOperand(1));
    Value sum = arith::AddFOp::create(builder, op->getLoc(), product, op->getOperand(2));
    op->getResult(0).replaceAllUsesWith(sum);
    op->erase();
    ++expanded;
  }
};
} // namespace
} // namespace ckjit::ck
