//===- PlanMemory.cpp - Every buffer's offset in the arena ----------------===//
#include "ModelPlan.h"
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/CheckedArithmetic.h"

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
  WeightTypes types;
  if (Attribute weights = op->getAttr(kWeightsAttr)) {
    auto codes = dyn_cast<DenseI8ArrayAttr>(weights);
    if (!codes)
      return op->emitError() << kWeightsAttr << " is " << weights << ", expected an array of i8, a dtype code a weight";
    for (int8_t code : codes.asArrayRef())
      types.push_back(static_cast<DType>(code));
  }
  llvm::Expected<ArenaPlan> plan = planArena(config, {.training = training, .weightTypes = types});
  if (!plan)
    return op->emitError() << llvm::toString(plan.takeError());
  return std::move(*plan);
}

namespace {
constexpr int64_t kLineBytes = 64;

/// The line boundary at or behind `offset` + `bytes`, or an error that names the buffer when that passes 2^63.
FailureOr<int64_t> endOf(BufferOp buffer, int64_t offset, int64_t bytes) {
  std::optional<int64_t> end = llvm::checkedAdd(offset, bytes);
  end = end ? llvm::checkedAdd(*end, kLineBytes - 1) : std::nullopt;
  if (!end)
    return buffer.emitOpError("\"") << buffer.getName() << "\" of " << bytes << " bytes at byte " << offset
                                   << " ends above 2^63; make the program's buffers smaller";
  return *end / kLineBytes * kLineBytes;
}

FailureOr<int64_t> sizeOf(BufferOp buffer) {
  if (std::optional<int64_t> bytes = bytesOf(cast<MemRefType>(buffer.getType())))
    return *bytes;
  return buffer.emitOpError("\"") << buffer.getName() << "\" is " << buffer.getType()
                                 << ", expected less than 2^60 bytes";
}

std::string placeOf(int layer) { return layer < 0 ? "no layer" : "layer " + std::to_string(layer); }

/// A scratch buffer's life, in positions of the block, and its place once found.
struct Interval {
  BufferOp buffer;
  size_t first, last;
  int64_t bytes;
  int64_t offset = 0, end = 0;
};

struct PlanMemoryPass : impl::PlanMemoryBase<PlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    // A program of kernels alone has no model, and then no seed buffers either.
    FailureOr<ArenaPlan> planned =
        getOperation()->hasAttr(kModelAttr) ? planOf(getOperation(), training) : FailureOr<ArenaPlan>(ArenaPlan());
    if (failed(planned))
      return signalPassFailure();
    int64_t cursor = planned->totalBytes;
    extras.clear();
    WalkResult result = getOperation().walk([&](BufferOp buffer) {
      return failed(placeFixed(buffer, *planned, cursor)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    int64_t end = cursor;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(placeScratch(function, cursor, end)))
        return signalPassFailure();
    scratchBytes += end - cursor;
    getOperation()->setAttr(kArenaBytesAttr, Builder(&getContext()).getI64IntegerAttr(end));
  }

  void setOffset(BufferOp buffer, int64_t offset) {
    buffer.setOffsetAttr(Builder(&getContext()).getI64IntegerAttr(offset));
  }

  LogicalResult placeFixed(BufferOp buffer, const ArenaPlan &plan, int64_t &cursor) {
    if (buffer.getSpace() == Space::Scratch)
      return success();
    if (buffer.getSpace() == Space::Extra)
      return placeExtra(buffer, cursor);
    int layer = buffer.getLayer() ? static_cast<int>(*buffer.getLayer()) : -1;
    const Buffer *planned = plan.find(buffer.getName(), layer);
    if (!planned || !planned->allocated)
      return buffer.emitOpError("\"") << buffer.getName() << "\" of " << placeOf(layer) << " is not in the arena plan of "
                                      << (plan.buffers.empty() ? "a module without ck.model" : "the module's ck.model");
    FailureOr<int64_t> bytes = sizeOf(buffer);
    if (failed(bytes))
      return failure();
    if (planned->bytes < static_cast<uint64_t>(*bytes))
      return buffer.emitOpError("\"") << buffer.getName() << "\" of " << placeOf(layer) << " needs " << *bytes
                                      << " bytes, the arena plan has " << planned->bytes;
    setOffset(buffer, planned->offset);
    return success();
  }

  /// Programs of one module share what has one name.
  LogicalResult placeExtra(BufferOp buffer, int64_t &cursor) {
    auto [first, isNew] = extras.try_emplace(buffer.getName(), buffer);
    if (isNew) {
      FailureOr<int64_t> bytes = sizeOf(buffer), end = failed(bytes) ? bytes : endOf(buffer, cursor, *bytes);
      if (failed(end))
        return failure();
      setOffset(buffer, cursor);
      cursor = *end;
      return success();
    }
    if (first->second.getType() != buffer.getType())
      return buffer.emitOpError("\"") << buffer.getName() << "\" is " << buffer.getType() << ", in another program "
                                      << first->second.getType() << "; give one of them another name";
    setOffset(buffer, *first->second.getOffset());
    return success();
  }

  /// First fit by start of life: a buffer takes the lowest place free during its whole life. Raises `end`.
  LogicalResult placeScratch(func::FuncOp function, int64_t base, int64_t &end) {
    FailureOr<SmallVector<Interval>> lives = livesIn(function);
    if (failed(lives))
      return failure();
    MutableArrayRef<Interval> intervals(*lives);
    llvm::stable_sort(intervals, [](const Interval &a, const Interval &b) { return a.first < b.first; });
    for (auto [index, interval] : llvm::enumerate(intervals)) {
      if (failed(moveTo(interval, base)))
        return failure();
      for (bool moved = true; moved;) {
        moved = false;
        for (Interval &other : intervals.take_front(index)) {
          if (other.last < interval.first || other.offset >= interval.end || interval.offset >= other.end)
            continue;
          if (failed(moveTo(interval, other.end)))
            return failure();
          moved = true;
        }
      }
      setOffset(interval.buffer, interval.offset);
      end = std::max(end, interval.end);
    }
    return success();
  }

  static LogicalResult moveTo(Interval &interval, int64_t offset) {
    FailureOr<int64_t> end = endOf(interval.buffer, offset, interval.bytes);
    if (failed(end))
      return failure();
    interval.offset = offset;
    interval.end = *end;
    return success();
  }

  FailureOr<SmallVector<Interval>> livesIn(func::FuncOp function) {
    llvm::DenseMap<Operation *, size_t> position;
    size_t count = 0;
    for (Operation &op : function.getBody().front())
      position[&op] = count++;
    SmallVector<Interval> intervals;
    WalkResult result = function.walk([&](BufferOp buffer) {
      if (buffer.getSpace() != Space::Scratch || buffer->use_empty())
        return WalkResult::advance();
      FailureOr<int64_t> bytes = sizeOf(buffer);
      if (failed(bytes))
        return WalkResult::interrupt();
      Interval interval{buffer, count, 0, *bytes};
      for (Operation *user : buffer->getUsers()) {
        interval.first = std::min(interval.first, position[user]);
        interval.last = std::max(interval.last, position[user]);
      }
      intervals.push_back(interval);
      return WalkResult::advance();
    });
    return result.wasInterrupted() ? FailureOr<SmallVector<Interval>>(failure()) : std::move(intervals);
  }

  llvm::StringMap<BufferOp> extras;
};
} // namespace
} // namespace ckjit::ck
