//===- Materialize.cpp - Copy results to the seed's slots -----------------===//
#include "ProgramUses.h"
#include "ModelPlan.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_MATERIALIZE
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct MaterializePass : impl::MaterializeBase<MaterializePass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    FailureOr<ArenaPlan> planned = planOf(getOperation(), /*training=*/false);
    if (failed(planned))
      return signalPassFailure();
    plan = std::move(*planned);
    SmallVector<Operation *> layerOps;
    for (Operation &op : getOperation().getBody().front())
      if (isLayerOp(&op) && !isa<UnpackOp, PackOp>(op))
        layerOps.push_back(&op);
    for (Operation *op : layerOps)
      for (OpOperand *written : writtenOperands(op))
        if (failed(copyOut(op, written->get())))
          return signalPassFailure();
  }

  LogicalResult copyOut(Operation *op, Value result) {
    auto buffer = result.getDefiningOp<BufferOp>();
    if (!buffer || buffer.getSpace() != Space::Scratch)
      return success();
    int layer = buffer.getLayer() ? static_cast<int>(*buffer.getLayer()) : -1;
    const Buffer *slot = plan.find(buffer.getName(), layer);
    if (!slot)
      return success();
    if (!isPanels(buffer.getType()))
      return buffer.emitOpError("\"") << buffer.getName() << "\" is in rows; run ck-pack-activations before ck-materialize";
    OpBuilder builder(buffer);
    auto type = MemRefType::get(slot->shape, builder.getF32Type());
    auto place = BufferOp::create(builder, op->getLoc(), type, Space::Slot, buffer.getNameAttr(),
                                  buffer.getLayerAttr(), IntegerAttr());
    builder.setInsertionPointAfter(op);
    int64_t segments = slot->shape.size() == 3 ? slot->shape[0] : slot->name == "fc1_out" ? 2 : 1;
    UnpackOp::create(builder, op->getLoc(), result, place, builder.getI64IntegerAttr(segments));
    ++slots;
    return success();
  }

  ArenaPlan plan;
};
} // namespace
} // namespace ckjit::ck
