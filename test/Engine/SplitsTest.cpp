//===- SplitsTest.cpp - The same tokens in pieces, through the cache ------===//
#include "EverySplit.h"
#include "Support/SharedData.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// More positions than panels or blocks divide, and a vocabulary and heads that nothing divides.
std::vector<NamedConfig> splitConfigs() {
  std::vector<NamedConfig> all = smallConfigs();
  ModelConfig c;
  c.numLayers = 1;
  c.hiddenSize = 100;
  c.intermediateSize = 75;
  c.numHeads = 5;
  c.numKVHeads = 1;
  c.vocabSize = 257;
  c.contextWindow = 67;
  c.ropeTheta = 10000.0f;
  all.push_back({"mqa_head_dim_20_context_67", c});
  c.numLayers = 2;
  c.hiddenSize = 80;
  c.numHeads = 4;
  c.numKVHeads = 2;
  c.ropeTheta = 0;
  all.push_back({"no_rope_head_dim_20_context_67", c});
  c.numLayers = 1;
  c.contextWindow = 17;
  all.push_back({"no_rope_head_dim_20_context_17", c});
  return all;
}

CompileOptions splitOptions(bool strict, bool decode) {
  CompileOptions options = hostOptions(strict);
  options.decode = decode;
  return options;
}

WholeLogits checkConfig(const NamedConfig &named, bool strict, bool decode, unsigned threads) {
  INFO(named.name << ", strict " << strict << ", decode " << decode << ", threads " << threads);
  const CKIRGraph graph = buildForwardGraph(named.config);
  const TestModel weights(named.config, {.padding = Padding::NaN});
  const std::unique_ptr<Model> model = makeModel(graph, splitOptions(strict, decode), weights, threads);
  const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow, 3);
  const std::vector<double> expected = referenceLogits(graph, weights, tokens);
  return checkEverySplit(*model, tokens, expected,
                         std::min(toleranceFor(expected, strict), 1e-5 * largestOf(expected)));
}

} // namespace

TEST_CASE("any split of the tokens gives the logits of one run") {
  const std::vector<NamedConfig> all = splitConfigs();
  for (size_t i = 0; i < all.size(); ++i)
    for (bool strict : {false, true}) {
      const WholeLogits few = checkConfig(all[i], strict, /*decode=*/true, 2);
      if (strict != (i % 2 == 1)) // compiling takes most of the time: one of the two
        continue;
      const WholeLogits alone = checkConfig(all[i], strict, /*decode=*/false, 2);
      CHECK(sameBits(alone.atOnce, alone.singles));
      // @prefill is the same whether @decode stands beside it or not.
      if (all[i].config.contextWindow > 4)
        CHECK(sameBits(alone.atOnce, few.atOnce));
    }
}

TEST_CASE("the splits give the same bits for 1, 2 and 3 threads") {
  for (const NamedConfig &named : splitConfigs()) {
    if (named.name != "b_gqa" && named.name != "mqa_head_dim_20_context_67" && named.name != "head_dim_20_gqa")
      continue;
    const WholeLogits one = checkConfig(named, /*strict=*/false, /*decode=*/true, 1);
    for (unsigned threads : {2u, 3u}) {
      const WholeLogits more = checkConfig(named, false, true, threads);
      CHECK(sameBits(one.atOnce, more.atOnce));
      CHECK(sameBits(one.singles, more.singles));
    }
  }
}

TEST_CASE("the seed system's cases, split in every way") {
  for (const char *name : {"a_mha_fp32", "b_gqa_fp32", "b_gqa_full", "c_awkward_dims", "d_nope_pos", "i_decode"}) {
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      continue;
    for (bool strict : {false, true}) {
      INFO(name << ", strict " << strict);
      const std::unique_ptr<Model> model = loadModel(folder, splitOptions(strict, /*decode=*/true));
      const ModelConfig &config = model->config();
      const std::vector<int32_t> tokens =
          must(readTokens(folder + "/tokens.bin", config.vocabSize, config.contextWindow, true));
      checkEverySplit(*model, tokens, readFloats(folder + "/logits_fp64.bin"),
                      strict ? kLogitToleranceStrict : kLogitTolerance);
    }
  }
}
