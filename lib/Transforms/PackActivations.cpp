//===- PackActivations.cpp - Scratch activations in panels ----------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_PACKACTIVATIONS
#include "ckjit/Transforms/Passes.h.inc"

namespace {
MemRefType panelsOf(MemRefType rows, int64_t lanes) {
  int64_t panels = (rows.getDimSize(0) + lanes - 1) / lanes;
  return MemRefType::get({panels, rows.getDimSize(1), lanes}, rows.getElementType());
}

struct PackActivationsPass : impl::PackActivationsBase<PackActivationsPass> {
  void runOnOperation() override {
    if (getOperation()->hasAttr(kRowsAttr))
      return;
    TargetAttr target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    lanes = target.getLanes();
    getOperation().walk([&](BufferOp buffer) {
      auto rows = cast<MemRefType>(buffer.getType());
      if (buffer.getSpace() != Space::Scratch || rows.getRank() != 2)
        return;
      buffer.getResult().setType(panelsOf(rows, lanes));
      ++packed;
    });
    packRopeTables();
  }

  /// Projections read their angles in panels: packs each table once, at the program's start.
  void packRopeTables() {
    llvm::DenseMap<Value, Value> tables;
    getOperation().walk([&](LinearOp linear) {
      if (!linear.getCos() || cast<MemRefType>(linear.getCos().getType()).getRank() == 3)
        return;
      linear.getCosMutable().assign(packedTable(linear.getCos(), tables));
      linear.getSinMutable().assign(packedTable(linear.getSin(), tables));
    });
  }

  Value packedTable(Value rows, llvm::DenseMap<Value, Value> &tables) {
    Value &panels = tables[rows];
    if (panels)
      return panels;
    auto source = rows.getDefiningOp<BufferOp>();
    OpBuilder builder = OpBuilder::atBlockBegin(&getOperation().getBody().front());
    auto type = panelsOf(cast<MemRefType>(rows.getType()), lanes);
    StringRef name = source ? source.getName() : StringRef("table");
    auto buffer = BufferOp::create(builder, rows.getLoc(), type, Space::Scratch,
                                   builder.getStringAttr(name + ".panels"), IntegerAttr(), IntegerAttr());
    // Behind the leading buffers, and in any case behind the table.
    Operation *last = source && buffer->isBeforeInBlock(source) ? source : buffer;
    while (isa<BufferOp>(last->getNextNode()))
      last = last->getNextNode();
    builder.setInsertionPointAfter(last);
    PackOp::create(builder, rows.getLoc(), rows, buffer);
    ++packed;
    return panels = buffer;
  }

  int64_t lanes = 0;
};
} // namespace
} // namespace ckjit::ck
