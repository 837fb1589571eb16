//===- ArenaPlan.cpp - Lays out the arena ---------------------------------===//
#include "ckjit/Layout/ArenaPlan.h"
#include "BufferTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::layout;

namespace {
constexpr int64_t kCacheLineBytes = 64;
/// The seed's node ids hold the layer in 16 bits.
constexpr int64_t kMaxLayers = 65535;

/// Places buffers one after the other, each on a cache line.
class Cursor {
public:
  /// Gives `buffer` its offset and bytes; false when either passes 2^63.
  bool place(Buffer &buffer) {
    std::optional<int64_t> bytes = storedBytes(buffer.shape, buffer.type);
    std::optional<int64_t> start = roundedOffset();
    std::optional<int64_t> end = bytes && start ? checkedAdd(*start, *bytes) : std::nullopt;
    if (!end)
      return false;
    buffer.offset = *start;
    buffer.bytes = *bytes;
    offset = *end;
    return true;
  }

  std::optional<int64_t> roundedOffset() const {
    std::optional<int64_t> up = checkedAdd(offset, kCacheLineBytes - 1);
    return up ? std::optional<int64_t>(*up / kCacheLineBytes * kCacheLineBytes) : std::nullopt;
  }

  int64_t offset = 0;
};

bool wanted(When when, const ModelConfig &config, const PlanOptions &options) {
  switch (when) {
  case When::Always: return true;
  case When::WithRope: return config.ropeTheta > 0.0f;
  case When::Training: return options.training;
  }
  llvm_unreachable("unknown When");
}

Error tooLarge(const Buffer &buffer) {
  return createStringError(formatv("arena: {0}{1}: offset plus size found above 2^63 bytes, expected below; make the "
                                   "config's dims smaller",
                                   buffer.layer < 0 ? "" : formatv("layer {0} ", buffer.layer).str(), buffer.name));
}

Buffer describe(const BufferRow &row, int layer, const ModelConfig &config) {
  Buffer buffer;
  buffer.name = row.name.str();
  buffer.layer = layer;
  buffer.role = row.role;
  for (Dim dim : row.shape)
    if (dim != Dim::None)
      buffer.shape.push_back(paddedExtent(dim, config));
  return buffer;
}

/// What is known of weights by (name, layer), where not all of them are fp32.
using WeightTable = std::map<std::pair<std::string, int>, std::pair<const TensorSpec *, DType>>;

Error placeRows(Scope scope, int layer, Cursor &cursor, const PlanOptions &options, const WeightTable &weights,
                ArenaPlan &plan) {
  for (const BufferRow &row : rowsOf(scope)) {
    Buffer buffer = describe(row, layer, plan.config);
    if (auto weight = weights.find({buffer.name, layer}); weight != weights.end()) {
      buffer.shape = weight->second.first->shape;
      buffer.type = weight->second.second;
    }
    buffer.allocated = wanted(row.when, plan.config, options);
    if (!row.aliasOf.empty()) {
      const Buffer *target = plan.find(row.aliasOf, layer);
      buffer.offset = target->offset;
      buffer.bytes = target->bytes;
      buffer.type = target->type;
    } else if (buffer.allocated && !cursor.place(buffer)) {
      return tooLarge(buffer);
    }
    plan.buffers.push_back(std::move(buffer));
  }
  return Error::success();
}
} // namespace

Expected<ArenaPlan> ckjit::planArena(const ModelConfig &config, const PlanOptions &options) {
  if (config.numLayers > kMaxLayers)
    return createStringError(formatv("arena: num_layers: found {0}, expected at most {1}", config.numLayers,
                                     kMaxLayers));
  ArenaPlan plan;
  plan.config = config;
  if (Error error = checkWeightTypes(config, options.weightTypes, "arena"))
    return error;
  std::vector<TensorSpec> tensors = options.weightTypes.empty() ? std::vector<TensorSpec>()
                                                                : weightTensors(config, options.weightTypes);
  WeightTable weights;
  for (auto [spec, type] : zip_equal(tensors, options.weightTypes))
    weights[{spec.name, spec.layer}] = {&spec, type};
  Cursor cursor;
  if (Error error = placeRows(Scope::Global, -1, cursor, options, weights, plan))
    return error;
  plan.layersStart = cursor.offset;
  for (int64_t layer = 0; layer < config.numLayers; ++layer)
    if (Error error = placeRows(Scope::Layer, static_cast<int>(layer), cursor, options, weights, plan))
      return error;
  std::optional<int64_t> total = cursor.roundedOffset();
  if (!total)
    return tooLarge(plan.buffers.back());
  plan.totalBytes = *total;
  if (config.numLayers > 1)
    plan.layerStride = plan.find("ln1_gamma", 1)->offset - plan.find("ln1_gamma", 0)->offset;
  return plan;
}

const Buffer *ArenaPlan::find(StringRef name, int layer) const {
  size_t first = layer < 0 ? 0 : rowsOf(Scope::Global).size() + layer * rowsOf(Scope::Layer).size();
  size_t count = rowsOf(layer < 0 ? Scope::Global : Scope::Layer).size();
  for (size_t i = first; i < first + count && i < buffers.size(); ++i)
    if (buffers[i].name == name && buffers[i].layer == layer)
      return &buffers[i];
  return nullptr;
}

std::vector<ByteRange> ckjit::weightRuns(const ArenaPlan &plan) {
  std::vector<ByteRange> runs;
  uint64_t end = 0;
  for (const Buffer &buffer : plan.buffers) {
    // The head is an alias of the embedding: behind it already.
    if (buffer.role != BufferRole::Weight || !buffer.allocated || buffer.offset < end || buffer.name == "pos_emb")
      continue;
    // Buffers start on cache lines: a smaller gap is padding.
    if (runs.empty() || buffer.offset - end >= static_cast<uint64_t>(kCacheLineBytes))
      runs.push_back({buffer.offset, 0});
    end = buffer.offset + buffer.bytes;
    runs.back().bytes = end - runs.back().offset;
  }
  return runs;
}

StringRef ckjit::roleName(BufferRole role) {
  switch (role) {
  case BufferRole::Weight: return "weight";
  case BufferRole::Activation: return "activation";
  case BufferRole::Scratch: return "scratch";
  case BufferRole::Gradient: return "gradient";
  }
  llvm_unreachable("unknown BufferRole");
}
