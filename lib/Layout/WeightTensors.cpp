//===- WeightTensors.cpp - The weight file's tensors, in its order --------===//
#include "BufferTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::layout;

namespace {
// File order differs from the arena's (both norms come first), so it is named here; the shapes come from the table.
constexpr StringLiteral kFirst[] = {"token_emb", "pos_emb"};
constexpr StringLiteral kPerLayer[] = {"ln1_gamma", "ln2_gamma", "wq", "bq", "wk", "bk", "wv",
                                       "bv",        "wo",        "bo", "w1", "b1", "w2", "b2"};
constexpr StringLiteral kLast[] = {"final_ln_weight", "final_ln_bias"};

TensorSpec specOf(StringRef name, int layer, const ModelConfig &config) {
  const BufferRow &row = *find_if(bufferTable(), [&](const BufferRow &r) { return r.name == name; });
  TensorSpec spec;
  spec.name = name.str();
  spec.layer = layer;
  for (Dim dim : row.shape) {
    if (dim == Dim::None)
      continue;
    spec.shape.push_back(paddedExtent(dim, config));
    spec.logical.push_back(logicalExtent(dim, config));
  }
  spec.halves = row.shape[0] == Dim::TwoAlignedI ? 2 : 1;
  return spec;
}
} // namespace

std::vector<TensorSpec> ckjit::weightTensors(const ModelConfig &config, const WeightTypes &types) {
  std::vector<TensorSpec> tensors;
  for (StringRef name : kFirst)
    tensors.push_back(specOf(name, -1, config));
  std::vector<TensorSpec> layer;
  for (StringRef name : kPerLayer)
    layer.push_back(specOf(name, 0, config));
  for (int64_t l = 0; l < config.numLayers; ++l)
    for (const TensorSpec &spec : layer) {
      tensors.push_back(spec);
      tensors.back().layer = static_cast<int>(l);
    }
  for (StringRef name : kLast)
    tensors.push_back(specOf(name, -1, config));
  for (auto [spec, type] : zip(tensors, types))
    if (spec.name == "wo" && formatOf(type).isQuantized()) {
      spec.shape = {config.alignedHidden(), config.numHeads * config.alignedHead()};
      spec.logical = {config.hiddenSize, config.headDim()};
      spec.heads = config.numHeads;
    }
  return tensors;
}

std::string ckjit::tensorLabel(const TensorSpec &spec) {
  return spec.layer < 0 ? spec.name : formatv("layer {0} {1}", spec.layer, spec.name).str();
}

std::string ckjit::describeTypes(const ModelConfig &config, const WeightTypes &types) {
  if (types.empty())
    return dtypeName(DType::FP32).str();
  DType embedding = DType::FP32;
  std::map<DType, size_t> counts;
  for (auto [spec, type] : zip_equal(weightTensors(config), types)) {
    if (spec.name == "token_emb")
      embedding = type;
    else if (mayBeQuantized(spec.name))
      ++counts[type];
  }
  std::vector<std::pair<DType, size_t>> sorted(counts.begin(), counts.end());
  llvm::stable_sort(sorted, [](const auto &a, const auto &b) { return a.second > b.second; });
  std::string text = sorted.size() > 1 ? "mixed: " : "";
  for (auto [index, entry] : enumerate(sorted))
    text += (index ? ", " : "") + (sorted.size() > 1 ? std::to_string(entry.second) + " " : "") +
            dtypeName(entry.first).str();
  if (sorted.size() > 1 || sorted.front().first != embedding)
    text += ", embedding " + dtypeName(embedding).str();
  return text;
}

Error ckjit::checkWeightTypes(const ModelConfig &config, const WeightTypes &types, StringRef where) {
  if (types.empty())
    return Error::success();
  std::vector<TensorSpec> tensors = weightTensors(config);
  if (types.size() != tensors.size())
    return createStringError(
        formatv("{0}: found types of {1} weights, expected {2}, one a tensor", where, types.size(), tensors.size()));
  for (auto [spec, type] : zip_equal(tensors, types)) {
    if (type == DType::FP32)
      continue;
    if (!findWeightFormat(static_cast<uint8_t>(type)) || !mayBeQuantized(spec.name))
      return createStringError(formatv("{0}: {1} is {2}, expected {3}", where, tensorLabel(spec), dtypeName(type),
                                       mayBeQuantized(spec.name) ? "a format that weights have" : "fp32"));
    int64_t row = spec.name == "wo" ? config.numHeads * config.alignedHead() : spec.shape.back();
    const WeightFormat &format = formatOf(type);
    if (row % format.elements != 0)
      return createStringError(
          formatv("{0}: {1} is {2}, whose blocks are {3} weights, and its rows are {4}, {5} blocks and {6} weights; "
                  "choose another type for it",
                  where, tensorLabel(spec), format.name, format.elements, row, row / format.elements,
                  row % format.elements));
  }
  return Error::success();
}

int64_t TensorSpec::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

void TensorSpec::forEachLogicalRun(function_ref<void(int64_t first, int64_t count)> run) const {
  // Seen as [halves][outer][rows][heads][cols]; missing axes count 1. A vector's axis 0 is its columns.
  size_t rank = shape.size();
  int64_t cols = rank == 1 ? shape[0] / halves : shape[rank - 1] / heads;
  int64_t rows = rank == 1 ? 1 : shape[rank - 2] / (rank == 2 ? halves : 1);
  int64_t outer = halves * (rank == 3 ? shape[0] : 1);
  int64_t logicalRows = rank == 1 ? 1 : logical[rank - 2];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t r = 0; r < logicalRows; ++r)
      for (int64_t h = 0; h < heads; ++h)
        run(((o * rows + r) * heads + h) * cols, logical[rank - 1]);
}
