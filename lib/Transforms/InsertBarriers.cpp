//===- InsertBarriers.cpp - Separate ops that touch the same bytes --------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <limits>

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "ckjit/Transforms/Passes.h.inc"

namespace {
struct Access {
  Value buffer;
  bool write;
};

/// Bytes [begin, end) of a planned buffer; an end above 2^63 counts as 2^63.
std::optional<std::pair<int64_t, int64_t>> placeOf(Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  if (!buffer || !buffer.getOffset())
    return std::nullopt;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t begin = *buffer.getOffset(), bytes = bytesOf(cast<MemRefType>(buffer.getType())).value_or(kMost);
  return std::pair{begin, llvm::checkedAdd(begin, bytes).value_or(kMost)};
}

bool overlap(Value a, Value b) {
  if (a == b)
    return true;
  auto x = placeOf(a), y = placeOf(b);
  return x && y && x->first < y->second && y->first < x->second;
}

struct InsertBarriersPass : impl::InsertBarriersBase<InsertBarriersPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<Access> since;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (isa<BarrierOp>(op))
        since.clear();
      if (!isLayerOp(&op))
        continue;
      SmallVector<Access> accesses = accessesOf(&op);
      if (conflicts(since, accesses)) {
        OpBuilder builder(&op);
        BarrierOp::create(builder, op.getLoc());
        ++barriers;
        since.clear();
      }
      since.append(accesses);
    }
  }

  static SmallVector<Access> accessesOf(Operation *op) {
    SmallVector<Access> accesses;
    SmallVector<OpOperand *> written = writtenOperands(op);
    for (OpOperand &operand : op->getOpOperands())
      accesses.push_back({operand.get(), llvm::is_contained(written, &operand)});
    return accesses;
  }

  static bool conflicts(ArrayRef<Access> before, ArrayRef<Access> after) {
    for (const Access &a : before)
      for (const Access &b : after)
        if ((a.write || b.write) && overlap(a.buffer, b.buffer))
          return true;
    return false;
  }
};
} // namespace
} // namespace ckjit::ck
