//===- PlanMemory.cpp - Every buffer's offset in the arena ----------------===//
#include "ModelPlan.h"
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_PLANMEMORY
#include "ckjit/Transforms/Passes.h.inc"

FailureOr<ArenaPlan> planOf(Operation *op, bool training) {
  ModelAttr model = modelOf(op);
  if (!model)
    return failure();
  ModelConfig config;
  config.numLayers = model.getLayers();
  config.hiddenSize = model.getHidden();
  config.intermediateSize = model.getIntermediate();
  config.numHeads = model.getHeads();
  config.numKVHeads = model.getKvHeads();
  config.vocabSize = model.getVocab();
  config.contextWindow = model.getWindow();
  config.rmsNormEps = model.getEps().getValue().convertToFloat();
  config.ropeTheta = model.getTheta().getValue().convertToFloat();
  if (llvm::Error error = validateConfig(config, kModelAttr))
    return op->emitError() << llvm::toString(std::move(error));
  llvm::Expected<ArenaPlan> plan = planArena(config, {.training = training});
  if (!plan)
    return op->emitError() << llvm::toString(plan.takeError());
  return std::move(*plan);
}

namespace {
constexpr uint64_t kLineBytes = 64;
uint64_t roundUp(uint64_t n) { return (n + kLineBytes - 1) / kLineBytes * kLineBytes; }

uint64_t bytesOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return static_cast<uint64_t>(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
}

std::string placeOf(int layer) { return layer < 0 ? "no layer" : "layer " + std::to_string(layer); }

/// A scratch buffer's life, in positions of the block, and its place once found.
struct Interval {
  BufferOp buffer;
  size_t first, last;
  uint64_t offset = 0;
  uint64_t end() { return offset + roundUp(bytesOf(buffer.getResult())); }
};

struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    // A program of kernels alone has no model, and then no seed buffers either.
    FailureOr<ArenaPlan> planned =
        getOperation()->hasAttr(kModelAttr) ? planOf(getOperation(), training) : FailureOr<ArenaPlan>(ArenaPlan());
    if (failed(planned))
      return signalPassFailure();
    uint64_t cursor = planned->totalBytes;
    extras.clear();
    WalkResult result = getOperation().walk([&](BufferOp buffer) {
      return failed(placeFixed(buffer, *planned, cursor)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    uint64_t end = cursor;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        end = std::max(end, placeScratch(function, cursor));
    scratchBytes += end - cursor;
    getOperation()->setAttr(kArenaBytesAttr, Builder(&getContext()).getI64IntegerAttr(end));
  }

  void setOffset(BufferOp buffer, uint64_t offset) {
    buffer.setOffsetAttr(Builder(&getContext()).getI64IntegerAttr(offset));
  }

  LogicalResult placeFixed(BufferOp buffer, const ArenaPlan &plan, uint64_t &cursor) {
    if (buffer.getSpace() == Space::Scratch)
      return success();
    if (buffer.getSpace() == Space::Extra)
      return placeExtra(buffer, cursor);
    int layer = buffer.getLayer() ? static_cast<int>(*buffer.getLayer()) : -1;
    const Buffer *planned = plan.find(buffer.getName(), layer);
    if (!planned || !planned->allocated)
      return buffer.emitOpError("\"") << buffer.getName() << "\" of " << placeOf(layer) << " is not in the arena plan of "
                                      << (plan.buffers.empty() ? "a module without ck.model" : "the module's ck.model");
    if (planned->bytes < bytesOf(buffer.getResult()))
      return buffer.emitOpError("\"") << buffer.getName() << "\" of " << placeOf(layer) << " needs "
                                      << bytesOf(buffer.getResult()) << " bytes, the arena plan has " << planned->bytes;
    setOffset(buffer, planned->offset);
    return success();
  }

  /// Programs of one module share what has one name.
  LogicalResult placeExtra(BufferOp buffer, uint64_t &cursor) {
    auto [first, isNew] = extras.try_emplace(buffer.getName(), buffer);
    if (isNew) {
      setOffset(buffer, cursor);
      cursor = roundUp(cursor + bytesOf(buffer.getResult()));
      return success();
    }
    if (first->second.getType() != buffer.getType())
      return buffer.emitOpError("\"") << buffer.getName() << "\" is " << buffer.getType() << ", in another program "
                                      << first->second.getType() << "; give one of them another name";
    setOffset(buffer, *first->second.getOffset());
    return success();
  }

  /// First fit by start of life: a buffer takes the lowest place free during its whole life.
  uint64_t placeScratch(func::FuncOp function, uint64_t base) {
    SmallVector<Interval> intervals = livesIn(function);
    llvm::stable_sort(intervals, [](const Interval &a, const Interval &b) { return a.first < b.first; });
    uint64_t end = base;
    for (auto [index, interval] : llvm::enumerate(intervals)) {
      interval.offset = base;
      for (bool moved = true; moved;) {
        moved = false;
        for (Interval &other : MutableArrayRef(intervals).take_front(index))
          if (other.last >= interval.first && other.offset < interval.end() && interval.offset < other.end())
            interval.offset = other.end(), moved = true;
      }
      setOffset(interval.buffer, interval.offset);
      end = std::max(end, interval.end());
    }
    return end;
  }

  SmallVector<Interval> livesIn(func::FuncOp function) {
    llvm::DenseMap<Operation *, size_t> position;
    size_t count = 0;
    for (Operation &op : function.getBody().front())
      position[&op] = count++;
    SmallVector<Interval> intervals;
    function.walk([&](BufferOp buffer) {
      if (buffer.getSpace() != Space::Scratch || buffer->use_empty())
        return;
      Interval interval{buffer, count, 0};
      for (Operation *user : buffer->getUsers()) {
        interval.first = std::min(interval.first, position[user]);
        interval.last = std::max(interval.last, position[user]);
      }
      intervals.push_back(interval);
    });
    return intervals;
  }

  llvm::StringMap<BufferOp> extras;
};
} // namespace
} // namespace ckjit::ck
