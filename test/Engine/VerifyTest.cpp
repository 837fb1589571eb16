//===- VerifyTest.cpp - A broken kernel is named --------------------------===//
#include "ckjit/Engine/Verify.h"
#include "ModelRun.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

struct Faults {
  std::string run, materialized; ///< kernels to break, by the start of their names
};

double toleranceOf(bool strict) { return strict ? kVerifyToleranceStrict : kVerifyTolerance; }

/// What a program of `graph` with broken kernels gives for `tokens`.
ProgramOutput runOutput(const CKIRGraph &graph, const TestModel &weights, const std::vector<int32_t> &tokens,
                        const std::string &fault, bool strict) {
  CompileOptions options = hostOptions(strict);
  options.pipeline.faultyKernel = fault;
  const std::unique_ptr<Model> model = makeModel(graph, options, weights);
  must(model->prefill(tokens, 0, nextTokens(tokens)));
  return outputOf(*model, tokens.size());
}

/// Runs `graph`, with kernels broken where names are given, and verifies it as `ck-jit run --verify` does.
VerifyResult verifyGraph(const CKIRGraph &graph, const TestModel &weights, const Faults &faults = {},
                         bool strict = false) {
  const std::vector<int32_t> tokens = makeTokens(graph.config, graph.config.contextWindow - 1);
  const ProgramOutput run = runOutput(graph, weights, tokens, faults.run, strict);
  CompileOptions options = hostOptions(strict, /*materialize=*/true);
  options.pipeline.faultyKernel = faults.materialized;
  const std::unique_ptr<Model> model = makeModel(graph, options, weights);
  return must(verify(*model, graph, tokens, toleranceOf(strict), &run));
}

VerifyResult verifyTiny(const Faults &faults = {}, bool strict = false) {
  return verifyGraph(buildForwardGraph(tinyConfig()), TestModel(tinyConfig()), faults, strict);
}

/// The kernels of the program that runs whose names hold `part`.
std::vector<std::string> kernelsWith(const std::string &part) {
  const CKIRGraph graph = buildForwardGraph(tinyConfig());
  std::vector<std::string> names = must(compileGraph(graph, "test", hostOptions())).kernels;
  llvm::erase_if(names, [&](const std::string &name) { return name.find(part) == std::string::npos; });
  return names;
}

void dropNodes(CKIRGraph &graph, uint16_t layer, uint16_t first) {
  llvm::erase_if(graph.nodes,
                 [&](const CKIRNode &node) { return node.id.layer == layer && node.id.node >= first; });
}

} // namespace

TEST_CASE("verify finds nothing in sound programs and looks at every slot, the losses and what the run gave") {
  for (bool strict : {false, true}) {
    const VerifyResult result = verifyTiny({}, strict);
    INFO(result.message());
    CHECK(result.agrees());
    CHECK(result.message().empty());
    // Embedding, final norm and its rstd, logits, losses; fourteen slots a layer; logits and losses of the run.
    CHECK(result.values == 5 + 2 * 14 + 2);
    CHECK(result.worstShare > 0);
    CHECK(result.worstShare < 1e-5);
  }
}

TEST_CASE("verify names the op of each kernel of the materialized program that can be broken, or two it lies between") {
  struct Case {
    const char *kernel, *op, *name;
    int layer;
    std::vector<std::string> suspects, behind;
  };
  const Case cases[] = {
      {"embed", "embed", "embedded_input", -1, {"embed"}, {}},
      {"rmsnorm", "rmsnorm", "ln1_rstd", 0, {"rmsnorm"}, {"embedded_input"}},
      {"linear", "rope", "q", 0, {"pack", "qkv_project", "rope"}, {"ln1_out of layer 0"}},
      {"pack", "rope", "q", 0, {"pack", "qkv_project", "rope"}, {"ln1_out of layer 0"}},
      {"attention", "attention", "attn_out", 0, {"attention"}, {"q of layer 0", "k of layer 0", "v of layer 0"}},
      {"attn_project", "attn_project", "proj_tmp", 0, {"attn_project"}, {"attn_out of layer 0"}},
      {"add", "residual_add", "residual1", 0, {"residual_add"}, {"embedded_input", "proj_tmp of layer 0"}},
      {"split", "swiglu", "swiglu_out", 0, {"split", "swiglu"}, {"fc1_out of layer 0"}},
      {"swiglu", "swiglu", "swiglu_out", 0, {"split", "swiglu"}, {"fc1_out of layer 0"}},
      {"unpack", "embed", "embedded_input", -1, {"embed", "unpack"}, {}},
      {"lm_head", "lm_head", "logits", -1, {"lm_head"}, {"final_output"}},
      {"cross_entropy", "cross_entropy", "loss", -1, {"cross_entropy"}, {"logits"}},
  };
  for (const Case &c : cases) {
    INFO("broken kernel " << c.kernel);
    const VerifyResult result = verifyTiny({.run = "", .materialized = c.kernel});
    REQUIRE(result.first.has_value());
    const Mismatch &first = *result.first;
    INFO(result.message());
    CHECK(first.op == c.op);
    CHECK(first.name == c.name);
    CHECK(first.layer == c.layer);
    CHECK(first.suspects == c.suspects);
    CHECK(first.behind == c.behind);
    CHECK(first.found != Approx(first.expected).epsilon(1e-4).margin(0));
    CHECK_FALSE(result.run.has_value());
    CHECK_THAT(result.message(), Contains(c.op) && Contains("row") && Contains("element") &&
                                     Contains("the logits and losses of the program that runs agree"));
    if (c.layer >= 0)
      CHECK_THAT(result.message(), Contains("layer 0"));
  }
  CHECK_THAT(verifyTiny({.run = "", .materialized = "split"}).message(),
             Contains("; the fault lies behind fc1_out of layer 0, in split or swiglu"));
}

TEST_CASE("verify names each linear kernel by the result it gives") {
  const ModelConfig c = tinyConfig();
  const std::string up = "linear.2x" + std::to_string(c.alignedIntermediate());
  const std::string down = "linear." + std::to_string(c.alignedHidden()) + "x";
  CHECK(verifyTiny({.run = "", .materialized = up}).first->name == "fc1_out");
  CHECK(verifyTiny({.run = "", .materialized = down}).first->name == "mlp_out");
}

TEST_CASE("verify finds broken kernels that only the program that runs has") {
  for (const char *part : {"gated_linear", "linear.32x32.residual", "attn_project"}) {
    const std::vector<std::string> broken = kernelsWith(part);
    INFO("kernels with " << part << ": " << broken.size());
    REQUIRE_FALSE(broken.empty());
    const VerifyResult result = verifyTiny({.run = broken.front(), .materialized = ""});
    INFO(result.message());
    CHECK_FALSE(result.first.has_value());
    REQUIRE(result.run.has_value());
    CHECK(result.run->op == "");
    CHECK(result.run->name == "logits");
    CHECK(result.run->found != Approx(result.run->expected).epsilon(1e-4).margin(0));
    CHECK_THAT(result.message(), Contains("in the program that runs, logits, row") && Contains("element") &&
                                     Contains("only the program that runs has") && Contains(broken.front()));
    CHECK(llvm::is_contained(result.runOnly, broken.front()));
  }
}

TEST_CASE("verify compares the losses of the program that runs") {
  const VerifyResult result = verifyTiny({.run = "cross_entropy", .materialized = ""});
  CHECK_FALSE(result.first.has_value());
  REQUIRE(result.run.has_value());
  CHECK(result.run->op == "cross_entropy");
  CHECK(result.run->name == "loss");
}

TEST_CASE("verify names the layer of a fault behind the first") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  dropNodes(graph, 0, 4); // no MLP: swiglu runs in layer 1 only
  const VerifyResult result = verifyGraph(graph, TestModel(tinyConfig()), {.run = "", .materialized = "swiglu"});
  REQUIRE(result.first.has_value());
  INFO(result.message());
  CHECK(result.first->layer == 1);
  CHECK_THAT(result.message(), Contains("layer 1, node 7 swiglu") && Contains("behind fc1_out of layer 1"));
}

TEST_CASE("verify looks through nodes without a slot") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  // Node 7 stands elsewhere, and a sum of its result with itself behind it.
  for (CKIRNode &node : graph.nodes)
    if (node.id == NodeId{0, 7})
      node.id.node = 17;
  const auto down = llvm::find_if(graph.nodes, [](const CKIRNode &node) { return node.id == NodeId{0, 8}; });
  down->inputs[0] = {{0, 18}, 0};
  graph.nodes.insert(down, CKIRNode{{0, 18}, NodeOp::Add, {{{0, 17}, 0}, {{0, 17}, 0}}, 1});
  const TestModel weights(tinyConfig());
  CHECK(verifyGraph(graph, weights).agrees());
  const VerifyResult result = verifyGraph(graph, weights, {.run = "", .materialized = "swiglu"});
  REQUIRE(result.first.has_value());
  INFO(result.message());
  CHECK(result.first->name == "mlp_out");
  CHECK(result.first->behind == std::vector<std::string>{"fc1_out of layer 0"});
  CHECK(result.first->suspects == std::vector<std::string>{"split", "swiglu", "residual_add", "linear"});
}

TEST_CASE("values that are not finite on both sides agree") {
  const CKIRGraph graph = buildForwardGraph(tinyConfig());
  for (float value : {kNaN, kInfinity, -kInfinity}) {
    TestModel weights(tinyConfig());
    weights.tensor("final_ln_weight", -1)[3] = value;
    const VerifyResult result = verifyGraph(graph, weights);
    INFO("final_ln_weight[3] is " << value << ": " << result.message());
    CHECK(result.agrees());
  }
  TestModel weights(tinyConfig());
  weights.tensor("final_ln_weight", -1)[3] = kNaN;
  CHECK_FALSE(verifyGraph(graph, weights, {.run = "", .materialized = "attention"}).agrees());
}

TEST_CASE("verify refuses a model whose ops don't write their slots") {
  const CKIRGraph graph = buildForwardGraph(tinyConfig());
  const std::unique_ptr<Model> model = makeModel(graph, hostOptions(), TestModel(tinyConfig()));
  llvm::Expected<VerifyResult> result = verify(*model, graph, {1, 2}, kVerifyTolerance);
  REQUIRE_FALSE(static_cast<bool>(result));
  CHECK_THAT(llvm::toString(result.takeError()), Contains("materialize"));
}
