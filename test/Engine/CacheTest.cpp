//===- CacheTest.cpp - A model whose program comes from the cache ---------===//
#include "ModelRun.h"
#include "Support/TempDir.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

TEST_CASE("a program from the cache gives the bits of the one that was compiled") {
  const TempDir dir;
  const ObjectCache cache(dir.path);
  const TestModel weights(tinyConfig());
  const CKIRGraph graph = buildForwardGraph(tinyConfig());
  const std::vector<int32_t> tokens = makeTokens(tinyConfig(), 19);
  for (uint64_t mode : {0, 1, 2}) {
    INFO("mode " << mode);
    CompileOptions options = modeOptions(mode);
    options.decode = !options.pipeline.materialize;
    std::vector<float> whole, steps;
    for (bool cached : {false, true}) {
      const std::unique_ptr<Model> model =
          must(Model::create(graph, "test", {.compile = options, .threads = 2, .cache = &cache}));
      model->fillWeights([&](const TensorSpec &spec, float *dst) { weights.copyTensor(spec, dst); });
      CHECK(model->compiled().cached == cached);
      CHECK(model->compiled().cacheNote == "");
      CHECK(model->hasDecode() == options.decode);
      const std::vector<float> logits = runLogits(*model, tokens), stepped = runSteps(*model, tokens, 1);
      if (!cached)
        whole = logits, steps = stepped;
      CHECK(sameBits(logits, whole));
      CHECK(sameBits(stepped, steps));
    }
  }
}
