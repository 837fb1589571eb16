//===- GoldenTest.cpp - Vectors of the seed system and a trained model ----===//
//
// Where the shared data is absent these cases say so and pass; ForwardTest.cpp and LoadTest.cpp hold the same against
// models that the project makes itself.
//
//===----------------------------------------------------------------------===//
#include "ModelRun.h"
#include "Support/SharedData.h"
#include "llvm/Support/JSON.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

namespace {
CompileOptions decodeOptions(bool strict) {
  CompileOptions options = hostOptions(strict);
  options.decode = true;
  return options;
}
} // namespace

TEST_CASE("golden logits of the seed system's cases") {
  for (const char *name : {"a_mha_fp32", "b_gqa_fp32", "b_gqa_full", "c_awkward_dims", "d_nope_pos", "i_decode"}) {
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      continue;
    for (bool strict : {false, true}) {
      const std::unique_ptr<Model> model = loadModel(folder, decodeOptions(strict));
      const ModelConfig &config = model->config();
      // As the seed does, ids out of range count as 0: case c holds two.
      const std::vector<int32_t> tokens =
          must(readTokens(folder + "/tokens.bin", config.vocabSize, config.contextWindow, true));
      const std::vector<double> expected = readFloats(folder + "/logits_fp64.bin");
      // All at once, then token by token through the cache, then as many at a time as @decode takes.
      for (int64_t length : {config.contextWindow, int64_t{1}, int64_t{4}}) {
        const Distance distance =
            distanceOf(runSteps(*model, tokens, length), expected, static_cast<size_t>(config.vocabSize));
        INFO(name << ", strict " << strict << ", tokens at a time " << length << ", " << distance.text());
        CHECK(distance.worst <= (strict ? kLogitToleranceStrict : kLogitTolerance));
      }
    }
  }
}

TEST_CASE("a trained model's greedy text comes out token by token") {
  const std::string folder = sharedPath("data/stories260K");
  if (folder.empty())
    return;
  const llvm::json::Value greedy = must(llvm::json::parse(readFile(folder + "/greedy.json")));
  for (bool strict : {false, true}) {
    const std::unique_ptr<Model> model = loadModel(folder, hostOptions(strict));
    const ModelConfig &config = model->config();
    for (const char *name : {"empty", "once", "lily", "dog"}) {
      const std::vector<int32_t> tokens =
          must(readTokens(folder + "/" + name + ".tokens.bin", config.vocabSize, config.contextWindow, false));
      must(model->prefill(tokens, 0));
      const size_t from = static_cast<size_t>(greedy.getAsObject()->getObject(name)->getInteger("greedy_from").value());
      REQUIRE(from >= 1);
      REQUIRE(from < tokens.size());
      size_t wrong = 0, first = 0;
      for (size_t t = from - 1; t + 1 < tokens.size(); ++t) {
        const llvm::ArrayRef<float> row = model->logits(static_cast<int64_t>(t));
        if (std::max_element(row.begin(), row.end()) - row.begin() == tokens[t + 1])
          continue;
        first = wrong++ ? first : t;
      }
      INFO(name << ", strict " << strict << ", first at position " << first);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a trained model writes the greedy text, each token from the one before") {
  const std::string folder = sharedPath("data/stories260K");
  if (folder.empty())
    return;
  const llvm::json::Value greedy = must(llvm::json::parse(readFile(folder + "/greedy.json")));
  for (bool strict : {false, true}) {
    const std::unique_ptr<Model> model = loadModel(folder, decodeOptions(strict));
    const ModelConfig &config = model->config();
    for (const char *name : {"empty", "once", "lily", "dog"}) {
      const std::vector<int32_t> expected =
          must(readTokens(folder + "/" + name + ".tokens.bin", config.vocabSize, config.contextWindow, false));
      const size_t from = static_cast<size_t>(greedy.getAsObject()->getObject(name)->getInteger("greedy_from").value());
      std::vector<int32_t> text(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(from));
      must(model->prefill(text, static_cast<int64_t>(from) - 1));
      int64_t row = static_cast<int64_t>(from) - 1;
      while (text.size() < expected.size()) {
        const llvm::ArrayRef<float> logits = model->logits(row);
        text.push_back(static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
        must(model->prefill({text.back()}, 0, {}, static_cast<int64_t>(text.size()) - 1));
        row = 0;
      }
      INFO(name << ", strict " << strict << ", " << expected.size() - from << " tokens");
      CHECK(text == expected);
    }
  }
}
