//===- QuantizeActivations.cpp - Codes for weights in blocks --------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include <map>

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_QUANTIZEACTIVATIONS
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct QuantizeActivationsPass : impl::QuantizeActivationsBase<QuantizeActivationsPass> {
  void runOnOperation() override {
    if (getOperation()->hasAttr(kRowsAttr))
      return;
    made.clear();
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<LinearOp, GatedLinearOp, AttnProjectOp, LMHeadOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      quantizeInput(op);
  }

  void quantizeInput(Operation *op) {
    OpOperand &input = op->getOpOperand(0);
    auto panels = cast<MemRefType>(input.get().getType());
    auto weight = cast<MemRefType>(op->getOperand(1).getType());
    BlockType block = blockOf(weight);
    if (!block || panelBlockOf(panels) || panels.getRank() != 3)
      return;
    int64_t features = panels.getDimSize(1);
    auto project = dyn_cast<AttnProjectOp>(op);
    int64_t segments = project ? features / static_cast<int64_t>(project.getDepth()) : 1;
    auto element = PanelBlockType::get(&getContext(), block.getActivationBlock(), panels.getDimSize(2));
    auto type = MemRefType::get({panels.getDimSize(0), rowLength(weight) / element.getFeatures()}, element);
    // Another op may have the same blocks made, if no one writes the panels in between.
    Value &codes = made[{input.get(), type, segments}];
    if (!codes || !soleWriter(input.get()))
      codes = quantize(op, input.get(), type, segments);
    input.set(codes);
  }

  Value quantize(Operation *op, Value panels, MemRefType type, int64_t segments) {
    auto source = panels.getDefiningOp<BufferOp>();
    OpBuilder builder(op);
    std::string name = ((source ? source.getName() : StringRef("x")) + ".int8x" +
                        Twine(panelBlockOf(type).getFeatures())).str();
    if (source)
      builder.setInsertionPointAfter(source);
    else
      builder.setInsertionPointToStart(op->getBlock());
    auto buffer = BufferOp::create(builder, op->getLoc(), type, Space::Scratch, builder.getStringAttr(name),
                                   source ? source.getLayerAttr() : IntegerAttr(), IntegerAttr());
    builder.setInsertionPoint(op);
    QuantizeOp::create(builder, op->getLoc(), panels, buffer, segments);
    ++quantized;
    return buffer;
  }

  struct Key {
    Value panels;
    Type type;
    int64_t segments;
    bool operator<(const Key &other) const {
      auto parts = [](const Key &key) {
        return std::tuple(key.panels.getAsOpaquePointer(), key.type.getAsOpaquePointer(), key.segments);
      };
      return parts(*this) < parts(other);
    }
  };
  std::map<Key, Value> made;
};
} // namespace
} // namespace ckjit::ck
