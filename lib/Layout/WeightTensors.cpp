//===- WeightTensors.cpp - The weight file's tensors, in its order --------===//
#include "BufferTable.h"
#include "llvm/ADT/STLExtras.h"

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

std::vector<TensorSpec> ckjit::weightTensors(const ModelConfig &config) {
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
  return tensors;
}

int64_t TensorSpec::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

void TensorSpec::forEachLogicalRun(function_ref<void(int64_t first, int64_t count)> run) const {
  // Seen as [halves][outer][rows][cols]; missing leading axes count 1. A vector's axis 0 is its columns.
  size_t rank = shape.size();
  int64_t cols = rank == 1 ? shape[0] / halves : shape[rank - 1];
  int64_t rows = rank == 1 ? 1 : shape[rank - 2] / (rank == 2 ? halves : 1);
  int64_t outer = halves * (rank == 3 ? shape[0] : 1);
  int64_t logicalRows = rank == 1 ? 1 : logical[rank - 2];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t r = 0; r < logicalRows; ++r)
      run((o * rows + r) * cols, logical[rank - 1]);
}
