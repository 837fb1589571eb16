//===- ChunksTest.cpp - The same tokens in pieces, through the cache ------===//
#include "ModelRun.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// Logits of all rows when `tokens` come in pieces of the given lengths, the last repeated to the end.
std::vector<float> runPieces(Model &model, llvm::ArrayRef<int32_t> tokens, llvm::ArrayRef<int64_t> lengths) {
  const int64_t count = static_cast<int64_t>(tokens.size()), vocab = model.config().vocabSize;
  std::vector<float> all;
  size_t piece = 0;
  for (int64_t position = 0; position < count; ++piece) {
    const int64_t length = std::min(lengths[std::min(piece, lengths.size() - 1)], count - position);
    must(model.prefill(tokens.slice(static_cast<size_t>(position), static_cast<size_t>(length)), 0, {}, position));
    position += length;
    CHECK(model.cached() == position);
    const float *rows = model.logits(0).data();
    all.insert(all.end(), rows, rows + length * vocab);
  }
  return all;
}

/// Ones, a long piece and single steps, pieces around a panel, primes.
std::vector<std::vector<int64_t>> splits(int64_t context) {
  const int64_t lanes = hostLanes();
  return {{1}, {2}, {context - 1, 1}, {lanes - 1}, {lanes, 1}, {lanes + 1, 3}, {5, 7, 11}, {1, context}};
}

} // namespace

TEST_CASE("any split of the tokens gives the logits of one run") {
  for (const NamedConfig &named : smallConfigs())
    for (bool strict : {false, true}) {
      const TestModel weights(named.config);
      const std::unique_ptr<Model> model = makeModel(buildForwardGraph(named.config), hostOptions(strict), weights);
      const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow, 3);
      const std::vector<float> whole = runLogits(*model, tokens);
      for (const std::vector<int64_t> &lengths : splits(named.config.contextWindow)) {
        if (lengths[0] < 1)
          continue;
        INFO(named.name << ", strict " << strict << ", pieces from " << lengths[0]);
        CHECK(sameBits(whole, runPieces(*model, tokens, lengths)));
      }
    }
}

TEST_CASE("pieces that the program for few tokens runs agree within 1e-5 of the largest logit") {
  for (const NamedConfig &named : smallConfigs())
    for (bool strict : {false, true}) {
      const CKIRGraph graph = buildForwardGraph(named.config);
      const TestModel weights(named.config, {.padding = Padding::NaN});
      CompileOptions options = hostOptions(strict);
      options.decode = true;
      const std::unique_ptr<Model> model = makeModel(graph, options, weights);
      const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow, 3);
      const std::vector<double> expected = referenceLogits(graph, weights, tokens);
      std::vector<float> singles;
      for (const std::vector<int64_t> &lengths : splits(named.config.contextWindow)) {
        if (lengths[0] < 1)
          continue;
        INFO(named.name << ", strict " << strict << ", pieces from " << lengths[0]);
        const std::vector<float> found = runPieces(*model, tokens, lengths);
        const Distance distance = distanceOf(found, expected, static_cast<size_t>(named.config.vocabSize));
        INFO(distance.text());
        CHECK(distance.worst <= std::min(toleranceFor(expected, strict), 1e-5 * largestOf(expected)));
        // One or two tokens at a time are the same kernels: the same bits.
        if (lengths[0] == 1 && lengths.size() == 1)
          singles = found;
        if (lengths[0] == 2)
          CHECK(sameBits(singles, found));
      }
    }
}

TEST_CASE("tokens from a position on replace what the cache held there") {
  const ModelConfig config = goldenConfigs()[1].config;
  const TestModel weights(config);
  const std::unique_ptr<Model> model = makeModel(buildForwardGraph(config), hostOptions(), weights);
  const std::vector<int32_t> first = makeTokens(config, 20, 3);
  std::vector<int32_t> second = makeTokens(config, 20, 4);
  std::copy_n(first.begin(), 9, second.begin());
  runLogits(*model, first);
  must(model->prefill(llvm::ArrayRef(second).drop_front(9), 10, {}, 9));
  const std::vector<float> last(model->logits(10).begin(), model->logits(10).end());
  const std::vector<float> alone = runLogits(*model, second);
  CHECK(sameBits(last, llvm::ArrayRef(alone).take_back(last.size())));
}

TEST_CASE("a position beyond the cache, or tokens beyond the context, change nothing") {
  const ModelConfig config = tinyConfig();
  const TestModel weights(config);
  const std::unique_ptr<Model> model = makeModel(buildForwardGraph(config), hostOptions(), weights);
  const std::vector<int32_t> tokens = makeTokens(config, config.contextWindow, 3);
  const llvm::ArrayRef<int32_t> all(tokens);
  must(model->prefill(all.take_front(4), 0));
  const std::vector<float> before(model->logits(0).begin(), model->logits(3).end());
  CHECK_THAT(llvm::toString(model->prefill(all.take_front(1), 0, {}, 5)),
             Catch::Contains("position is 5") && Catch::Contains("0 to 4"));
  CHECK_THAT(llvm::toString(model->prefill(all.take_front(1), 0, {}, -1)), Catch::Contains("position is -1"));
  CHECK_THAT(llvm::toString(model->prefill(tokens, 0, {}, 1)),
             Catch::Contains("the cache is full: it holds 1 of"));
  CHECK(model->cached() == 4);
  CHECK(sameBits(before, llvm::ArrayRef(model->logits(0).begin(), model->logits(3).end())));
}
