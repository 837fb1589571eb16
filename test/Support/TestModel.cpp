//===- TestModel.cpp - A seeded model in memory ---------------------------===//
#include "Support/TestModel.h"
#include "Support/SplitMix.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace ckjit::test {
namespace {

struct Axis {
  int64_t padded;
  int64_t logical;
};

/// Axes of a tensor, outermost first. Finer than the file's shape where padding stands between (w1: gate and up).
SmallVector<Axis, 3> axesOf(StringRef name, const ModelConfig &c) {
  const Axis hidden{c.alignedHidden(), c.hiddenSize}, head{c.alignedHead(), c.headDim()};
  const Axis half{c.alignedIntermediate(), c.intermediateSize}, pair{2, 2};
  const Axis heads{c.numHeads, c.numHeads}, kvHeads{c.numKVHeads, c.numKVHeads};
  if (name == "token_emb")
    return {{c.vocabSize, c.vocabSize}, hidden};
  if (name == "pos_emb")
    return {{c.contextWindow, c.contextWindow}, hidden};
  if (name == "wq")
    return {heads, head, hidden};
  if (name == "wk" || name == "wv")
    return {kvHeads, head, hidden};
  if (name == "bq")
    return {heads, head};
  if (name == "bk" || name == "bv")
    return {kvHeads, head};
  if (name == "wo")
    return {heads, hidden, head};
  if (name == "w1")
    return {pair, half, hidden};
  if (name == "b1")
    return {pair, half};
  if (name == "w2")
    return {hidden, half};
  return {hidden}; // norm weights, bo, b2
}

bool isLogical(ArrayRef<Axis> axes, int64_t index) {
  for (const Axis &axis : reverse(axes)) {
    if (index % axis.padded >= axis.logical)
      return false;
    index /= axis.padded;
  }
  return true;
}

/// Values are (offset + noise) * scale.
struct Distribution {
  double offset;
  double noise;
  double scale;

  /// In double, where the product is exact, so a fused multiply-add can't change the result.
  float draw(SplitMix &rng) const {
    return static_cast<float>((offset + noise * static_cast<double>(rng.normal())) * scale);
  }
};

Distribution distributionOf(StringRef name, const ModelConfig &c) {
  const double hidden = std::sqrt(static_cast<double>(c.hiddenSize));
  const double half = std::sqrt(static_cast<double>(c.intermediateSize));
  return StringSwitch<Distribution>(name)
      .Case("token_emb", {0.0, 1.0, 1.0})
      .Case("pos_emb", {0.0, 0.5, 1.0})
      .Cases({"ln1_gamma", "ln2_gamma"}, {1.0, 0.2, 1.0})
      .Cases({"wq", "wk", "wv", "wo", "w1"}, {0.0, 1.5, 1.0 / hidden})
      .Case("w2", {0.0, 1.5, 1.0 / half})
      .Case("final_ln_weight", {1.0, 0.2, 3.0 / hidden})
      .Case("final_ln_bias", {0.0, 0.3, 1.0})
      .Default({0.0, 0.1, 1.0});
}

float paddingValue(Padding padding, SplitMix &rng) {
  switch (padding) {
  case Padding::Zero: return 0.0f;
  case Padding::NaN: return std::numeric_limits<float>::quiet_NaN();
  case Padding::Junk: break;
  }
  const float size = static_cast<float>(1 + rng.below(1000));
  return rng.chance(50) ? size : -size;
}

std::vector<float> makeTensor(const TensorSpec &spec, const ModelConfig &config, uint64_t seed, Padding padding) {
  const SmallVector<Axis, 3> axes = axesOf(spec.name, config);
  const Distribution d = distributionOf(spec.name, config);
  SplitMix rng(seed), paddingRng(~seed);
  std::vector<float> values(static_cast<size_t>(spec.elements()));
  for (auto [index, value] : enumerate(values))
    value = isLogical(axes, static_cast<int64_t>(index)) ? d.draw(rng) : paddingValue(padding, paddingRng);
  return values;
}

constexpr float kTheta = 10000.0f;

ModelConfig shape(int64_t layers, int64_t hidden, int64_t intermediate, int64_t heads, int64_t kvHeads, int64_t vocab,
                  int64_t context, float theta = kTheta, float eps = 1e-5f) {
  ModelConfig c;
  c.numLayers = layers;
  c.hiddenSize = hidden;
  c.intermediateSize = intermediate;
  c.numHeads = heads;
  c.numKVHeads = kvHeads;
  c.vocabSize = vocab;
  c.contextWindow = context;
  c.rmsNormEps = eps;
  c.ropeTheta = theta;
  return c;
}

} // namespace

TestModel::TestModel(const ModelConfig &config, const TestModelOptions &options)
    : modelConfig(config), tensorSpecs(weightTensors(config)) {
  SplitMix seeds(options.seed);
  for (const TensorSpec &spec : tensorSpecs)
    values.push_back(makeTensor(spec, config, seeds.next(), options.padding));
}

ArrayRef<float> TestModel::tensor(StringRef name, int layer) const {
  for (auto [spec, data] : zip_equal(tensorSpecs, values))
    if (spec.layer == layer && spec.name == name)
      return data;
  return {};
}

MutableArrayRef<float> TestModel::tensor(StringRef name, int layer) {
  ArrayRef<float> found = std::as_const(*this).tensor(name, layer);
  return {const_cast<float *>(found.data()), found.size()};
}

const float *TestModel::operator()(StringRef name, int layer) const { return tensor(name, layer).data(); }

void TestModel::copyTensor(const TensorSpec &spec, float *dst) const {
  ArrayRef<float> found = tensor(spec.name, spec.layer);
  std::copy(found.begin(), found.end(), dst);
}

std::vector<int32_t> makeTokens(const ModelConfig &config, int64_t count, uint64_t seed) {
  SplitMix rng(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t &id : tokens)
    id = static_cast<int32_t>(rng.below(static_cast<uint64_t>(config.vocabSize)));
  return tokens;
}

std::vector<NamedConfig> goldenConfigs() {
  return {{"a_mha", shape(2, 64, 128, 4, 4, 256, 32)},
          {"b_gqa", shape(1, 96, 168, 8, 2, 200, 48)},
          {"b_gqa_full", shape(1, 128, 344, 8, 2, 300, 48)},
          {"c_awkward_dims", shape(2, 60, 100, 3, 3, 257, 17, 500000.0f, 1e-6f)},
          {"d_learned_positions", shape(2, 64, 128, 4, 2, 200, 24, 0.0f)},
          {"i_decode", shape(2, 64, 128, 4, 2, 256, 40)}};
}

std::vector<NamedConfig> awkwardConfigs() {
  return {{"head_dim_20_gqa", shape(1, 120, 100, 6, 3, 257, 17)},
          {"mqa", shape(2, 48, 80, 4, 1, 101, 19)},
          {"one_head_one_layer", shape(1, 22, 37, 1, 1, 65, 9)},
          {"seven_heads", shape(2, 70, 95, 7, 7, 131, 15)},
          {"odd_head_no_rope", shape(2, 63, 61, 9, 3, 127, 13, 0.0f)},
          {"odd_hidden_head_1", shape(1, 7, 5, 7, 1, 11, 6, 0.0f)},
          {"head_dim_2", shape(3, 6, 10, 3, 3, 33, 12)},
          {"head_dim_72", shape(1, 144, 50, 2, 1, 90, 21)},
          {"one_position", shape(2, 32, 48, 4, 2, 40, 1)},
          {"vocab_1", shape(1, 32, 48, 4, 4, 1, 5)},
          {"intermediate_1", shape(1, 16, 1, 2, 2, 17, 8)},
          {"intermediate_below_hidden", shape(2, 80, 24, 5, 1, 50, 10)},
          {"long_context", shape(1, 32, 32, 2, 1, 64, 150)},
          {"five_layers", shape(5, 32, 40, 2, 2, 31, 7, 100.0f, 1e-3f)}};
}

std::vector<NamedConfig> smallConfigs() {
  std::vector<NamedConfig> all = goldenConfigs();
  append_range(all, awkwardConfigs());
  return all;
}

} // namespace ckjit::test
