//===- SplitAttention.cpp - Attention of few tokens, over blocks of keys --===//
#include "ckjit/Transforms/Passes.h"
#include "ckjit/Dialect/CK/CKDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_SPLITATTENTION
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct SplitAttentionPass : impl::SplitAttentionBase<SplitAttentionPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!getOperation()->hasAttr(kRowsAttr))
      return;
    if (keys < 1) {
      getOperation().emitError() << "keys is " << keys.getValue() << ", expected at least 1";
      return signalPassFailure();
    }
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops)
      splitOne(op);
  }

  void splitOne(AttentionOp op) {
    OpBuilder builder(op);
    auto cache = cast<MemRefType>(op.getK().getType());
    int64_t rows = cast<MemRefType>(op.getQ().getType()).getDimSize(0), heads = op.getHeads();
    int64_t blocks = (cache.getDimSize(1) + keys - 1) / keys;
    auto type = MemRefType::get({rows, heads, blocks, cache.getDimSize(2) + kPartState}, builder.getF32Type());
    auto source = op.getOut().getDefiningOp<BufferOp>();
    std::string name = ((source ? source.getName() : StringRef("attention")) + ".parts").str();
    builder.setInsertionPointToStart(&getOperation().getBody().front());
    auto parts = BufferOp::create(builder, op.getLoc(), type, Space::Scratch, builder.getStringAttr(name),
                                  source ? source.getLayerAttr() : IntegerAttr(), IntegerAttr());
    builder.setInsertionPoint(op);
    IntegerAttr size = builder.getI64IntegerAttr(keys);
    AttentionPartOp::create(builder, op.getLoc(), op.getQ(), op.getK(), op.getV(), parts, op.getHeadsAttr(),
                            op.getHeadDimAttr(), size);
    AttentionMergeOp::create(builder, op.getLoc(), parts, op.getOut(), op.getHeadsAttr(), op.getHeadDimAttr(), size);
    op.erase();
    ++split;
  }
};
} // namespace
} // namespace ckjit::ck
