//===- ExpandMath.cpp - Math that needs no library ------------------------===//
#include "MathPolynomials.h"
#include "ProgramUses.h"
#include "VectorBuilder.h"
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
    if (!hasFeature(target, "f16c")) {
      SmallVector<arith::ExtFOp> halves;
      getOperation().walk([&](arith::ExtFOp op) {
        if (getElementTypeOrSelf(op.getIn()).isF16())
          halves.push_back(op);
      });
      for (arith::ExtFOp op : halves)
        expandHalf(op);
    }
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

  /// fp16 to fp32 in integers: the machine has no instruction for it. Exponent and fraction moved into place are a number
  /// that is 2^112 too small, denormal ones too; infinities and NaN get the highest exponent besides.
  void expandHalf(arith::ExtFOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type single = op.getType();
    auto shaped = [&](Type element) -> Type {
      auto vector = dyn_cast<VectorType>(single);
      return vector ? Type(vector.clone(element)) : element;
    };
    Type words = shaped(b.getI32Type());
    auto constant = [&](TypedAttr value) -> Value {
      if (auto vector = dyn_cast<VectorType>(shaped(value.getType())))
        value = DenseElementsAttr::get(vector, cast<Attribute>(value));
      return arith::ConstantOp::create(b, loc, value);
    };
    auto bits = [&](int64_t value) { return constant(b.getI32IntegerAttr(static_cast<int32_t>(value))); };
    Value half = arith::BitcastOp::create(b, loc, shaped(b.getI16Type()), op.getIn());
    Value wide = arith::ExtUIOp::create(b, loc, words, half);
    Value sign = arith::AndIOp::create(b, loc, wide, bits(0x8000));
    sign = arith::ShLIOp::create(b, loc, sign, bits(16));
    Value rest = arith::AndIOp::create(b, loc, wide, bits(0x7fff));
    Value moved = arith::ShLIOp::create(b, loc, rest, bits(13));
    Value small = arith::BitcastOp::create(b, loc, single, moved);
    Value scaled = arith::MulFOp::create(b, loc, small, constant(b.getF32FloatAttr(5.192296858534828e33f)));
    Value finite = arith::BitcastOp::create(b, loc, words, scaled);
    Value special = arith::OrIOp::create(b, loc, moved, bits(0x7f800000));
    Value isSpecial = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, rest, bits(0x7c00));
    Value magnitude = arith::SelectOp::create(b, loc, isSpecial, special, finite);
    Value all = arith::OrIOp::create(b, loc, sign, magnitude);
    op.replaceAllUsesWith(arith::BitcastOp::create(b, loc, single, all).getResult());
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
