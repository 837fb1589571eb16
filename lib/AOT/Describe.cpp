//===- Describe.cpp - What a compiled model tells its runtime -------------===//
#include "Description.h"
#include "Parts.h"
#include "ckjit/Layout/ArenaPlan.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <map>

using namespace llvm;
using namespace ckjit;

namespace {
/// The description with what stands behind it.
class Description {
public:
  Description() : bytes(sizeof(ckrt_description), 0) {}

  template <typename T> uint32_t append(ArrayRef<T> table) {
    bytes.resize(alignTo(bytes.size(), alignof(uint64_t)), 0);
    uint32_t at = static_cast<uint32_t>(bytes.size());
    auto *first = reinterpret_cast<const char *>(table.data());
    bytes.append(first, first + table.size() * sizeof(T));
    return at;
  }
  uint32_t appendText(StringRef text) { return append(ArrayRef(text.str().c_str(), text.size() + 1)); }

  SmallVector<char, 0> finish(const ckrt_description &head) {
    std::memcpy(bytes.data(), &head, sizeof head);
    return std::move(bytes);
  }
  size_t size() const { return bytes.size(); }

private:
  SmallVector<char, 0> bytes;
};

Error add(std::vector<ckrt_buffer> &buffers, StringRef name, int layer, uint64_t offset, uint64_t bytes,
          DType type = DType::FP32) {
  ckrt_buffer buffer{};
  if (name.size() >= sizeof buffer.name)
    return createStringError(formatv("buffer {0}: its name has {1} bytes, expected less than {2}", name, name.size(),
                                     sizeof buffer.name));
  std::copy(name.begin(), name.end(), buffer.name);
  buffer.layer = layer;
  buffer.dtype = static_cast<uint32_t>(type);
  buffer.offset = offset;
  buffer.bytes = bytes;
  buffers.push_back(buffer);
  return Error::success();
}

/// The plan's buffers, then those that only the program has.
Expected<std::vector<ckrt_buffer>> listBuffers(const ArenaPlan &plan, const CompiledObject &compiled) {
  std::vector<ckrt_buffer> buffers;
  for (const Buffer &buffer : plan.buffers)
    if (buffer.allocated)
      if (Error error = add(buffers, buffer.name, buffer.layer, buffer.offset, buffer.bytes, buffer.type))
        return error;
  for (const ProgramBuffer &buffer : compiled.buffers)
    if (!plan.find(buffer.name, buffer.layer))
      if (Error error = add(buffers, buffer.name, buffer.layer, buffer.offset, buffer.bytes))
        return error;
  return buffers;
}

/// For each tensor of the weight file the buffer that it is read to.
Expected<std::vector<uint32_t>> listTensors(const ModelConfig &config, const WeightTypes &types,
                                            ArrayRef<ckrt_buffer> buffers) {
  std::map<std::pair<std::string, int64_t>, uint32_t> places;
  for (auto [index, buffer] : enumerate(buffers))
    places.try_emplace({buffer.name, buffer.layer}, static_cast<uint32_t>(index));
  std::vector<uint32_t> tensors;
  for (auto [index, spec] : enumerate(weightTensors(config, types))) {
    auto place = places.find({spec.name, spec.layer});
    DType type = types.empty() ? DType::FP32 : types[index];
    if (place == places.end() || static_cast<int64_t>(buffers[place->second].bytes) != storedBytes(spec.shape, type))
      return createStringError("tensor " + spec.name + " has no place of its size in the arena");
    tensors.push_back(place->second);
  }
  return tensors;
}

std::vector<ckrt_range> hugeRanges(const ArenaPlan &plan, const CompiledObject &compiled) {
  std::vector<ckrt_range> ranges;
  for (const ByteRange &run : weightRuns(plan))
    ranges.push_back({run.offset, run.bytes});
  ByteRange scratch = compiled.scratch();
  ranges.push_back({scratch.offset, scratch.bytes});
  return ranges;
}

/// All dims are below 2^31 (validateConfig).
ckrt_description headOf(const ArenaPlan &plan, const CompiledObject &compiled, const CompileOptions &options) {
  const ModelConfig &config = plan.config;
  ckrt_description head{};
  head.layers = static_cast<int32_t>(config.numLayers);
  head.hidden = static_cast<int32_t>(config.hiddenSize);
  head.intermediate = static_cast<int32_t>(config.intermediateSize);
  head.heads = static_cast<int32_t>(config.numHeads);
  head.kv_heads = static_cast<int32_t>(config.numKVHeads);
  head.vocab = static_cast<int32_t>(config.vocabSize);
  head.context = static_cast<int32_t>(config.contextWindow);
  head.eps = config.rmsNormEps;
  head.theta = config.ropeTheta;
  head.strict = options.pipeline.strict;
  head.int8 = usesInt8Activations(options);
  head.arena_bytes = compiled.arenaBytes;
  head.plan_bytes = plan.totalBytes;
  head.layers_start = plan.layersStart;
  return head;
}
} // namespace

Expected<SmallVector<char, 0>> ckjit::aot::describeModel(const ModelConfig &config, const CompiledObject &compiled,
                                                         const CompileOptions &options) {
  auto plan = planArena(config, {.weightTypes = options.weightTypes});
  if (!plan)
    return plan.takeError();
  auto buffers = listBuffers(*plan, compiled);
  if (!buffers)
    return buffers.takeError();
  auto tensors = listTensors(config, options.weightTypes, *buffers);
  if (!tensors)
    return tensors.takeError();
  std::vector<ckrt_range> ranges = hugeRanges(*plan, compiled);
  ckrt_description head = headOf(*plan, compiled, options);
  Description description;
  head.buffers = static_cast<uint32_t>(buffers->size());
  head.buffers_at = description.append(ArrayRef(*buffers));
  head.tensors = static_cast<uint32_t>(tensors->size());
  head.tensors_at = description.append(ArrayRef(*tensors));
  head.ranges = static_cast<uint32_t>(ranges.size());
  head.ranges_at = description.append(ArrayRef(ranges));
  head.cpu_at = description.appendText(compiled.target.cpu);
  head.features_at = description.appendText(join(generatedFeatures(compiled.target), ","));
  return description.finish(head);
}
