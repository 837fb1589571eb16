//===- ForwardTest.cpp - The canonical decoder in every small shape -------===//
#include "ModelRun.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// One, two, around a panel, and the whole context.
std::set<int64_t> tokenCounts(int64_t context) {
  std::set<int64_t> counts;
  for (int64_t count : {int64_t{1}, int64_t{2}, hostLanes() - 1, hostLanes(), hostLanes() + 1, context})
    if (count <= context)
      counts.insert(count);
  return counts;
}

/// All bytes of the rows from `tokens` on, padding included, of [K][C][ad] or [C][V] are zero.
bool zeroBeyond(Model &model, const char *name, int layer, int64_t tokens) {
  const Buffer &slot = *model.plan().find(name, layer);
  const int64_t heads = slot.shape.size() == 3 ? slot.shape[0] : 1;
  const int64_t context = slot.shape[slot.shape.size() - 2], width = slot.shape.back();
  const uint32_t *bits = reinterpret_cast<const uint32_t *>(model.buffer(name, layer));
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = (h * context + tokens) * width; i < (h + 1) * context * width; ++i)
      if (bits[i] != 0)
        return false;
  return true;
}

/// Logits for every number of tokens, the fewest first, so that rows beyond have never been computed.
void checkCounts(Model &model, llvm::ArrayRef<int32_t> tokens, llvm::ArrayRef<double> expected, double tolerance) {
  const size_t vocab = static_cast<size_t>(model.config().vocabSize);
  for (int64_t count : tokenCounts(static_cast<int64_t>(tokens.size()))) {
    INFO("tokens " << count);
    const size_t rows = static_cast<size_t>(count);
    const Distance distance =
        distanceOf(runLogits(model, tokens.take_front(rows)), expected.take_front(rows * vocab), vocab);
    INFO(distance.text() << ", tolerance " << tolerance);
    CHECK(distance.worst <= tolerance);
    CHECK(zeroBeyond(model, "logits", -1, count));
    for (int layer = 0; layer < model.config().numLayers; ++layer)
      for (const char *name : {"k", "v"}) {
        INFO(name << " of layer " << layer);
        CHECK(zeroBeyond(model, name, layer, count));
      }
  }
}

/// From any first row on the logits are the same bits, and the rows before it aren't written.
void checkFirstRow(Model &model, llvm::ArrayRef<int32_t> tokens) {
  const std::vector<float> all = runLogits(model, tokens);
  const int64_t vocab = model.config().vocabSize, count = static_cast<int64_t>(tokens.size());
  for (int64_t first : {int64_t{1}, hostLanes() - 1, hostLanes(), count - 1}) {
    if (first >= count)
      continue;
    INFO("first row " << first);
    float *logits = model.buffer("logits");
    std::fill_n(logits, count * vocab, -7.0f);
    must(model.prefill(tokens, first));
    CHECK(std::all_of(logits, logits + first * vocab, [](float v) { return v == -7.0f; }));
    CHECK(sameBits({logits + first * vocab, logits + count * vocab},
                   llvm::ArrayRef(all).drop_front(static_cast<size_t>(first * vocab))));
  }
}

void checkConfig(const NamedConfig &named, bool strict) {
  INFO(named.name << ", strict " << strict);
  const CKIRGraph graph = buildForwardGraph(named.config);
  // A read of padding, or of a weight's surplus row, is a NaN in the logits.
  const TestModel weights(named.config, {.padding = Padding::NaN});
  const std::unique_ptr<Model> model = makeModel(graph, hostOptions(strict), weights);
  const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow, 3);
  const std::vector<double> expected = referenceLogits(graph, weights, tokens);
  checkCounts(*model, tokens, expected, toleranceFor(expected, strict));
  checkFirstRow(*model, tokens);
  const std::vector<float> withNaN = runLogits(*model, tokens);
  for (Padding padding : {Padding::Zero, Padding::Junk}) {
    const TestModel same(named.config, {.padding = padding});
    model->fillWeights([&](const TensorSpec &spec, float *dst) { same.copyTensor(spec, dst); });
    CHECK(sameBits(withNaN, runLogits(*model, tokens)));
  }
}

} // namespace

TEST_CASE("logits of every small config agree with the reference") {
  for (const NamedConfig &named : smallConfigs())
    checkConfig(named, false);
}

TEST_CASE("logits of every small config agree with the reference in strict mode") {
  for (const NamedConfig &named : smallConfigs())
    checkConfig(named, true);
}

TEST_CASE("a shorter prompt after a longer one gives what it gives alone") {
  const ModelConfig config = goldenConfigs()[1].config;
  const TestModel weights(config);
  const std::unique_ptr<Model> model = makeModel(buildForwardGraph(config), hostOptions(), weights);
  const std::vector<int32_t> tokens = makeTokens(config, config.contextWindow, 8);
  const llvm::ArrayRef<int32_t> part = llvm::ArrayRef(tokens).take_front(5);
  const std::vector<float> alone = runLogits(*model, part);
  runLogits(*model, tokens);
  CHECK(sameBits(alone, runLogits(*model, part)));
}

TEST_CASE("losses are the cross entropy of the reference's logits, zero where the target is ignored") {
  for (bool strict : {false, true}) {
    const ModelConfig config = goldenConfigs()[3].config;
    const CKIRGraph graph = buildForwardGraph(config);
    const TestModel weights(config);
    const std::unique_ptr<Model> model = makeModel(graph, hostOptions(strict), weights);
    const std::vector<int32_t> tokens = makeTokens(config, 13, 4);
    std::vector<int32_t> targets = makeTokens(config, 13, 5);
    targets[0] = targets[7] = kIgnoredTarget;
    must(model->prefill(tokens, 0, targets));
    REQUIRE(model->losses().size() == tokens.size());
    const std::vector<double> logits = referenceLogits(graph, weights, tokens);
    for (size_t t = 0; t < tokens.size(); ++t) {
      const double *row = logits.data() + t * static_cast<size_t>(config.vocabSize);
      double sum = 0;
      for (int64_t v = 0; v < config.vocabSize; ++v)
        sum += std::exp(row[v]);
      const double expected = targets[t] == kIgnoredTarget ? 0 : std::log(sum) - row[targets[t]];
      INFO("token " << t << ", strict " << strict);
      CHECK(std::abs(static_cast<double>(model->losses()[t]) - expected) <= 2 * toleranceFor(logits, strict));
    }
    must(model->prefill(tokens, 0));
    for (float loss : model->losses())
      CHECK(loss == 0.0f);
  }
}
