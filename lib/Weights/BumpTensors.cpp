//===- BumpTensors.cpp - Where each tensor stands in the file -------------===//
#include "BumpTensors.h"
#include "BumpFormat.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
constexpr uint64_t kFirstInLayers = 2; ///< token_emb and pos_emb come before

/// Describes tensor number i of a model without listing all of them.
class Slots {
public:
  explicit Slots(const ModelConfig &config, ArrayRef<uint8_t> dtypes)
      : layers(config.numLayers), dtypes(dtypes), pattern(weightTensors(oneLayer(config))) {}

  uint64_t count() const { return tableEntries(layers); }
  bool inLayer(uint64_t i) const { return i >= kFirstInLayers && i < kFirstInLayers + kTensorsPerLayer * layers; }

  const TensorSpec &spec(uint64_t i) const {
    if (i < kFirstInLayers)
      return pattern[i];
    if (inLayer(i))
      return pattern[kFirstInLayers + (i - kFirstInLayers) % kTensorsPerLayer];
    return pattern[i - kTensorsPerLayer * (layers - 1)];
  }
  DType dtype(uint64_t i) const { return dtypes.empty() ? DType::FP32 : static_cast<DType>(dtypes[i]); }

  std::string label(uint64_t i) const {
    TensorSpec named = spec(i);
    if (inLayer(i))
      named.layer = static_cast<int>((i - kFirstInLayers) / kTensorsPerLayer);
    return tensorLabel(named);
  }

  /// Bytes of tensor i, or none when they pass 2^63. Its rows are whole blocks (checkTypes).
  std::optional<int64_t> bytes(uint64_t i) const {
    const TensorSpec &tensor = spec(i);
    // A quantized wo has the same number of weights in rows of another length, fewer than 2^63 in any case.
    if (tensor.name == "wo" && formatOf(dtype(i)).isQuantized())
      return storedBytes({pattern.front().shape.back(), rowLength(i)}, dtype(i));
    return storedBytes(tensor.shape, dtype(i));
  }
  /// Weights of a row of tensor i, were it quantized.
  int64_t rowLength(uint64_t i) const {
    const TensorSpec &tensor = spec(i);
    return tensor.name == "wo" ? tensor.shape[0] * tensor.shape[2] : tensor.shape.back();
  }

private:
  static ModelConfig oneLayer(ModelConfig config) {
    config.numLayers = 1;
    return config;
  }

  uint64_t layers;
  ArrayRef<uint8_t> dtypes;
  std::vector<TensorSpec> pattern;
};

/// "fp32, bf16, ..." with their codes: what the message of a wrong code expects.
std::string expectedCodes(bool quantizable) {
  std::string text;
  for (const WeightFormat &format : weightFormats())
    if (quantizable || format.type == DType::FP32)
      text += formatv("{0}{1} ({2})", text.empty() ? "" : ", ", static_cast<int>(format.type), format.name).str();
  return text;
}

/// Each tensor has a type that it may have, and the rows of a quantized one are whole blocks.
Error checkTypes(StringRef path, const Slots &slots, ArrayRef<uint8_t> dtypes) {
  for (uint64_t i = 0; i < dtypes.size(); ++i) {
    const WeightFormat *format = findWeightFormat(dtypes[i]);
    bool quantizable = mayBeQuantized(slots.spec(i).name);
    if (!format || (format->type != DType::FP32 && !quantizable))
      return fieldError(path, formatv("dtype table entry {0} ({1})", i, slots.label(i)).str(),
                        formatv("{0} ({1})", dtypes[i], dtypeName(dtypes[i])).str(), expectedCodes(quantizable));
    if (int64_t rest = slots.rowLength(i) % format->elements)
      return fieldError(path, formatv("row of {0}", slots.label(i)).str(),
                        formatv("{0} weights", slots.rowLength(i)).str(),
                        formatv("a multiple of {0}, because it is {1}; {2} weights are left over", format->elements,
                                format->name, rest)
                            .str());
  }
  return Error::success();
}

/// Bytes of all tensors, or none when they pass 2^63. Without a table every layer is equal.
std::optional<int64_t> totalBytes(const Slots &slots, int64_t layers, bool equalLayers) {
  uint64_t listed = equalLayers ? kFirstInLayers + kTensorsPerLayer : slots.count() - 2;
  std::optional<int64_t> sum = 0, inLayers = 0;
  for (uint64_t i = 0; i < listed; ++i) {
    std::optional<int64_t> &part = slots.inLayer(i) ? inLayers : sum;
    std::optional<int64_t> bytes = slots.bytes(i);
    part = part && bytes ? checkedAdd(*part, *bytes) : std::nullopt;
  }
  if (inLayers && equalLayers)
    inLayers = checkedMul(*inLayers, layers);
  for (uint64_t i : {slots.count() - 2, slots.count() - 1}) {
    std::optional<int64_t> bytes = slots.bytes(i);
    sum = sum && bytes ? checkedAdd(*sum, *bytes) : std::nullopt;
  }
  return sum && inLayers ? checkedAdd(*sum, *inLayers) : std::nullopt;
}

/// Where a payload of `found` bytes ends; called only when it is too short, so the walk ends inside it.
std::string endOfShortPayload(const Slots &slots, int64_t found) {
  int64_t left = found;
  for (uint64_t i = 0; i < slots.count(); ++i) {
    std::optional<int64_t> bytes = slots.bytes(i);
    if (!bytes || *bytes > left)
      return formatv("the file ends at byte {0} of {1}", left, slots.label(i));
    left -= *bytes;
  }
  return "the file ends after the last tensor";
}

/// Which of the two numbers that no header holds would make fp32 tensors fill `found` bytes: "num_key_value_heads 1
/// (not 2)"; empty when neither does.
std::string fittingDim(const ModelConfig &config, int64_t found) {
  auto fits = [&](const ModelConfig &other) {
    return totalBytes(Slots(other, {}), other.numLayers, /*equalLayers=*/true) == found;
  };
  ModelConfig other = config;
  for (int64_t heads = 1; heads <= config.numHeads / heads; ++heads)
    for (int64_t divisor : {heads, config.numHeads / heads})
      if (other.numKVHeads = divisor; config.numHeads % heads == 0 && fits(other))
        return formatv("num_key_value_heads {0} (not {1})", divisor, config.numKVHeads);
  other = config;
  other.intermediateSize = kAlignElements;
  std::optional<int64_t> one = totalBytes(Slots(other, {}), config.numLayers, true);
  other.intermediateSize = 2 * kAlignElements;
  std::optional<int64_t> two = totalBytes(Slots(other, {}), config.numLayers, true);
  if (!one || !two || found < *one)
    return "";
  int64_t steps = (found - *one) / (*two - *one), last = checkedMul(steps + 1, kAlignElements).value_or(0);
  if (last == 0 || last > std::numeric_limits<int32_t>::max())
    return "";
  other.intermediateSize = last;
  return fits(other) ? formatv("intermediate_size {0} to {1} (not {2})", last - kAlignElements + 1, last,
                               config.intermediateSize)
                           .str()
                     : "";
}

Error checkSize(StringRef path, const ModelConfig &config, const Slots &slots, ArrayRef<uint8_t> dtypes,
                Payload payload) {
  int64_t found = static_cast<int64_t>(payload.end - payload.start);
  std::optional<int64_t> expected = totalBytes(slots, config.numLayers, /*equalLayers=*/dtypes.empty());
  if (expected && *expected == found)
    return Error::success();
  std::string wanted = expected ? formatv("{0}", *expected).str() : "more than 2^63";
  bool plain = all_of(dtypes, [](uint8_t code) { return code == 0; });
  if (std::string dim = plain ? fittingDim(config, found) : ""; !dim.empty())
    return fieldError(path, "bytes of tensor data", Twine(found),
                      wanted + "; the file's size fits a config with " + dim);
  if (expected && *expected < found)
    return fieldError(path, "bytes of tensor data", Twine(found),
                      formatv("{0}; the {1} bytes after the last tensor are no config footer", wanted,
                              found - *expected)
                          .str());
  return fieldError(path, "bytes of tensor data", Twine(found), wanted + "; " + endOfShortPayload(slots, found));
}
} // namespace

Expected<std::vector<BumpTensor>> ckjit::weights::placeTensors(StringRef path, const ModelConfig &config,
                                                               ArrayRef<uint8_t> dtypes, Payload payload) {
  Slots slots(config, dtypes);
  if (Error error = checkTypes(path, slots, dtypes))
    return error;
  if (Error error = checkSize(path, config, slots, dtypes, payload))
    return error;
  std::vector<BumpTensor> tensors;
  uint64_t offset = payload.start;
  WeightTypes types;
  for (uint8_t code : dtypes)
    types.push_back(static_cast<DType>(code));
  for (TensorSpec &spec : weightTensors(config, types)) {
    uint64_t i = tensors.size();
    uint64_t bytes = static_cast<uint64_t>(*slots.bytes(i));
    tensors.push_back({std::move(spec), slots.dtype(i), offset, bytes});
    offset += bytes;
  }
  return tensors;
}
