//===- GoldenTest.cpp - Vectors of the seed system and a trained model ----===//
//
// Where the shared data is absent these cases say so and pass; ForwardTest.cpp and LoadTest.cpp hold the same against
// models that the project makes itself.
//
//===----------------------------------------------------------------------===//
#include "ModelRun.h"
#include "Support/SharedData.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace ckjit;
using namespace ckjit::test;
using llvm::StringRef;

namespace {

std::string readFile(const std::string &path) {
  return must(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)))->getBuffer().str();
}

std::vector<double> readFloats(const std::string &path) {
  const std::string bytes = readFile(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return std::vector<double>(values.begin(), values.end());
}

/// A file's model, compiled and loaded.
std::unique_ptr<Model> loadModel(const std::string &folder, bool strict) {
  const std::unique_ptr<BumpFile> file = must(BumpFile::open(folder + "/model.bump"));
  std::unique_ptr<Model> model = must(Model::create(buildForwardGraph(file->config), folder, hostOptions(strict), 2));
  must(model->load(*file));
  return model;
}

} // namespace

TEST_CASE("golden logits of the seed system's cases") {
  for (const char *name : {"a_mha_fp32", "b_gqa_fp32", "b_gqa_full", "c_awkward_dims", "d_nope_pos", "i_decode"}) {
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      continue;
    for (bool strict : {false, true}) {
      const std::unique_ptr<Model> model = loadModel(folder, strict);
      const ModelConfig &config = model->config();
      // As the seed does, ids out of range count as 0: case c holds two.
      const std::vector<int32_t> tokens =
          must(readTokens(folder + "/tokens.bin", config.vocabSize, config.contextWindow, true));
      const Distance distance = distanceOf(runLogits(*model, tokens), readFloats(folder + "/logits_fp64.bin"),
                                           static_cast<size_t>(config.vocabSize));
      INFO(name << ", strict " << strict << ", " << distance.text());
      CHECK(distance.worst <= (strict ? kLogitToleranceStrict : kLogitTolerance));
    }
  }
}

TEST_CASE("a trained model's greedy text comes out token by token") {
  const std::string folder = sharedPath("data/stories260K");
  if (folder.empty())
    return;
  const llvm::json::Value greedy = must(llvm::json::parse(readFile(folder + "/greedy.json")));
  for (bool strict : {false, true}) {
    const std::unique_ptr<Model> model = loadModel(folder, strict);
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
