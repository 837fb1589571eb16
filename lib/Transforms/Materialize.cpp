//===- Materialize.cpp - Copy results to the seed's slots -----------------===//
#include "ProgramUses.h"
#include "ModelPlan.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

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
    for (Operation *op : layerOps) {
      for (OpOperand *written : writtenOperands(op))
        if (failed(copyOut(op, written->get())))
          return signalPassFailure();
      if (auto norm = dyn_cast<RMSNormOp>(op))
        keepRstd(norm);
    }
  }

  /// The plan's name for the rstd of the norm with this result; empty for any other result.
  static StringRef rstdName(StringRef result) {
    return llvm::StringSwitch<StringRef>(result)
        .Case("ln1_out", "ln1_rstd")
        .Case("ln2_out", "ln2_rstd")
        .Case("final_output", "final_ln_rstd")
        .Default("");
  }

  static int layerOf(BufferOp buffer) { return buffer.getLayer() ? static_cast<int>(*buffer.getLayer()) : -1; }

  BufferOp placeOf(const Buffer &slot, BufferOp buffer, Location loc) {
    OpBuilder builder(buffer);
    auto type = MemRefType::get(slot.shape, builder.getF32Type());
    return BufferOp::create(builder, loc, type, Space::Slot, builder.getStringAttr(slot.name), buffer.getLayerAttr(),
                            IntegerAttr());
  }

  /// rstd isn't in memory otherwise, so the norm itself stores it in its slot.
  void keepRstd(RMSNormOp norm) {
    auto buffer = norm.getOut().getDefiningOp<BufferOp>();
    if (!buffer || norm.getRstd())
      return;
    const Buffer *slot = plan.find(rstdName(buffer.getName()), layerOf(buffer));
    if (!slot)
      return;
    norm.getRstdMutable().assign(placeOf(*slot, buffer, norm.getLoc()).getResult());
    ++slots;
  }

  LogicalResult copyOut(Operation *op, Value result) {
    auto buffer = result.getDefiningOp<BufferOp>();
    if (!buffer || buffer.getSpace() != Space::Scratch)
      return success();
    const Buffer *slot = plan.find(buffer.getName(), layerOf(buffer));
    if (!slot)
      return success();
    if (!isPanels(buffer.getType()))
      return buffer.emitOpError("\"") << buffer.getName() << "\" is in rows; run ck-pack-activations before ck-materialize";
    BufferOp place = placeOf(*slot, buffer, op->getLoc());
    OpBuilder builder(&getContext());
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
