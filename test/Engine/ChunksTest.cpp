//===- ChunksTest.cpp - Tokens at a position of the cache -----------------===//
#include "ModelRun.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

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
