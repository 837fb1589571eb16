//===- VerifyTest.cpp - A broken kernel is named --------------------------===//
#include "ckjit/Engine/Verify.h"
#include "ModelRun.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

namespace {

/// Runs the tiny decoder, with one kernel broken if a name is given, and verifies it.
VerifyResult verifyTiny(const std::string &faultyKernel, bool strict = false) {
  const CKIRGraph graph = buildForwardGraph(tinyConfig());
  const TestModel weights(tinyConfig());
  CompileOptions options = hostOptions(strict, /*materialize=*/true);
  options.pipeline.faultyKernel = faultyKernel;
  const std::unique_ptr<Model> model = makeModel(graph, options, weights);
  const std::vector<int32_t> tokens = makeTokens(tinyConfig(), 19);
  must(model->prefill(tokens, 0));
  return must(verify(*model, graph, tokens, strict ? kVerifyToleranceStrict : kVerifyTolerance));
}

} // namespace

TEST_CASE("verify finds nothing in a sound program and looks at every op") {
  for (bool strict : {false, true}) {
    const VerifyResult result = verifyTiny("", strict);
    CHECK_FALSE(result.first.has_value());
    CHECK(result.values == 4 + 2 * 14); // embedding, final norm and its rstd, logits; fourteen slots a layer
    CHECK(result.worstShare > 0);
    CHECK(result.worstShare < 1e-5);
  }
}

TEST_CASE("verify names the op of a broken kernel, where it runs first") {
  const std::tuple<const char *, const char *, int> faults[] = {
      {"embed", "embed", -1},        {"rmsnorm", "rmsnorm", 0},
      {"attention", "attention", 0}, {"attn_project", "attn_project", 0},
      {"add", "residual_add", 0},    {"swiglu", "swiglu", 0},
      {"lm_head", "lm_head", -1}};
  for (const auto &[kernel, op, layer] : faults) {
    INFO("broken kernel " << kernel);
    const VerifyResult result = verifyTiny(kernel);
    REQUIRE(result.first.has_value());
    INFO(result.first->message());
    CHECK(result.first->op == op);
    CHECK(result.first->layer == layer);
    CHECK(result.first->found != Approx(result.first->expected).epsilon(1e-4).margin(0));
    CHECK_THAT(result.first->message(), Contains(op) && Contains("row") && Contains("element"));
    if (layer >= 0)
      CHECK_THAT(result.first->message(), Contains("layer 0"));
  }
}

TEST_CASE("verify refuses a model whose ops don't write their slots") {
  const CKIRGraph graph = buildForwardGraph(tinyConfig());
  const std::unique_ptr<Model> model = makeModel(graph, hostOptions(), TestModel(tinyConfig()));
  must(model->prefill({1, 2}, 0));
  llvm::Expected<VerifyResult> result = verify(*model, graph, {1, 2}, kVerifyTolerance);
  REQUIRE_FALSE(static_cast<bool>(result));
  CHECK_THAT(llvm::toString(result.takeError()), Contains("materialize"));
}
