//===- OpsTest.cpp - Each op against numbers worked out by hand -----------===//
#include "Capture.h"
#include "Support/TestModel.h"
#include <cmath>

using namespace ckjit;
using namespace ckjit::test;

namespace {

// All dims here are at most 16, so every padded row is this long.
constexpr int64_t kPad = 16;

// sigmoid(1), sigmoid(-1), sigmoid(4), cos(1), sin(1), 1 / sqrt(12.5), to more digits than a double has.
constexpr double kSigmoid1 = 0.73105857863000487926;
constexpr double kSigmoidMinus1 = 0.26894142136999512075;
constexpr double kSigmoid4 = 0.98201379003790844197;
constexpr double kCos1 = 0.54030230586813971740;
constexpr double kSin1 = 0.84147098480789650665;
constexpr double kInverseRootOfEps = 0.28284271247461900976;

ModelConfig tinyConfig(int64_t hidden, int64_t heads, int64_t kvHeads, float theta) {
  ModelConfig c;
  c.numLayers = 1;
  c.hiddenSize = hidden;
  c.intermediateSize = 2;
  c.numHeads = heads;
  c.numKVHeads = kvHeads;
  c.vocabSize = 3;
  c.contextWindow = 512;
  c.rmsNormEps = 12.5f;
  c.ropeTheta = theta;
  return c;
}

/// Every logical value 0, every padding lane NaN.
TestModel blankModel(const ModelConfig &config) {
  TestModel model(config, {.padding = Padding::NaN});
  for (const TensorSpec &spec : model.specs())
    for (float &value : model.tensor(spec.name, spec.layer))
      if (!std::isnan(value))
        value = 0.0f;
  return model;
}

void setRow(TestModel &model, llvm::StringRef name, int layer, int64_t row, std::initializer_list<float> values) {
  std::copy(values.begin(), values.end(), model.tensor(name, layer).begin() + row * kPad);
}

InputRef in() { return {{0, kLayerInput}, 0}; }
InputRef out(uint16_t node, uint8_t slot = 0) { return {{0, node}, slot}; }

CKIRNode node(uint16_t number, NodeOp op, std::initializer_list<InputRef> inputs) {
  return {{0, number}, op, inputs, static_cast<uint8_t>(op == NodeOp::Split ? 2 : 1)};
}

CKIRGraph attentionGraph(const ModelConfig &config) {
  return {config, {node(1, NodeOp::LinearQKV, {in()}), node(2, NodeOp::Attention, {out(1)})}};
}

CKIRGraph mlpGraph(const ModelConfig &config) {
  return {config,
          {node(5, NodeOp::Linear, {in()}), node(6, NodeOp::Split, {out(5)}),
           node(7, NodeOp::SwiGLU, {out(6, 0), out(6, 1)}), node(8, NodeOp::Linear, {out(7)})}};
}

void requireData(const ReferenceValue &value, const std::vector<double> &expected) {
  INFO(value.name << " layer " << value.layer);
  REQUIRE(value.data.size() == expected.size());
  REQUIRE(value.rows * value.cols == static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(value.data[i] == Approx(expected[i]).epsilon(0).margin(1e-14));
  }
}

} // namespace

TEST_CASE("rmsnorm puts eps inside the root and scales by gamma") {
  TestModel model = blankModel(tinyConfig(2, 1, 1, 10000.0f));
  setRow(model, "token_emb", -1, 1, {3, 4}); // mean of squares 12.5, plus eps 12.5: root 5
  setRow(model, "ln1_gamma", 0, 0, {2, -1});
  setRow(model, "ln2_gamma", 0, 0, {10, 5});

  const CKIRGraph first{model.config(), {node(0, NodeOp::RMSNorm, {in()})}};
  const Capture firstRun = capture(first, model, {1, 0});
  requireData(firstRun.at("ln1_rstd"), {0.2, kInverseRootOfEps});
  requireData(firstRun.at("ln1_out"), {1.2, -0.8, 0, 0});
  const CKIRGraph second{model.config(), {node(4, NodeOp::RMSNorm, {in()})}};
  const Capture secondRun = capture(second, model, {1});
  requireData(secondRun.at("ln2_rstd"), {0.2});
  requireData(secondRun.at("ln2_out"), {6, 4});
}

TEST_CASE("embedding adds learned positions only without RoPE") {
  for (const float theta : {0.0f, 10000.0f}) {
    TestModel model = blankModel(tinyConfig(2, 1, 1, theta));
    setRow(model, "token_emb", -1, 1, {3, 4});
    setRow(model, "token_emb", -1, 2, {5, 6});
    setRow(model, "pos_emb", -1, 0, {0.5f, 0.25f});
    setRow(model, "pos_emb", -1, 1, {-1, 1});
    const CKIRGraph graph{model.config(), {node(9, NodeOp::Add, {in(), in()})}};
    const Capture run = capture(graph, model, {2, 1});
    const std::vector<double> expected =
        theta > 0 ? std::vector<double>{5, 6, 3, 4} : std::vector<double>{5.5, 6.25, 2, 5};
    requireData(run.at("embedded_input"), expected);
  }
}

TEST_CASE("qkv projection takes each head's rows and bias") {
  TestModel model = blankModel(tinyConfig(4, 2, 1, 0.0f));
  setRow(model, "token_emb", -1, 1, {1, 2, 3, 4});
  setRow(model, "wq", 0, 0, {1, 0, 0, 0});        // head 0, lane 0
  setRow(model, "wq", 0, 1, {0, 1, 0, 1});        // head 0, lane 1
  setRow(model, "wq", 0, kPad, {0, 0, 2, 0});     // head 1, lane 0
  setRow(model, "wq", 0, kPad + 1, {1, 1, 1, 1}); // head 1, lane 1
  setRow(model, "bq", 0, 0, {0.5f, -0.5f});
  setRow(model, "bq", 0, 1, {0.25f, 8});
  setRow(model, "wk", 0, 1, {0, 0, 0, 3});
  setRow(model, "bv", 0, 0, {7, 9});

  const Capture run = capture(attentionGraph(model.config()), model, {1, 0});
  CHECK(run.at("q").rows == 4);
  CHECK(run.at("q").op == "qkv_project");
  requireData(run.at("q"), {1.5, 5.5, 0.5, -0.5, 6.25, 18, 0.25, 8});
  requireData(run.at("k"), {0, 12, 0, 0});
  requireData(run.at("v"), {7, 9, 7, 9});
}

TEST_CASE("rope rotates lane i with lane i + hd/2 by the position") {
  TestModel model = blankModel(tinyConfig(2, 1, 1, 10000.0f));
  setRow(model, "bq", 0, 0, {3, 5});
  setRow(model, "bk", 0, 0, {0, 2});
  setRow(model, "bv", 0, 0, {3, 5});
  const Capture run = capture(attentionGraph(model.config()), model, {0, 0});
  CHECK(run.at("q").op == "rope");
  CHECK(run.at("v").op == "qkv_project");
  requireData(run.at("q"), {3, 5, 3 * kCos1 - 5 * kSin1, 3 * kSin1 + 5 * kCos1});
  requireData(run.at("k"), {0, 2, -2 * kSin1, 2 * kCos1});
  requireData(run.at("v"), {3, 5, 3, 5});
}

TEST_CASE("rope rounds frequency and angle to fp32") {
  // cos and sin of the fp32 angle; those of the exact angle differ from the 9th digit on.
  struct Case {
    float theta;
    int64_t headDim, lane, position;
    double c, s;
  };
  const Case cases[] = {{10000.0f, 4, 1, 3, 0.99955003376910106631, 0.029995499532245132922},
                        {500000.0f, 4, 1, 300, 0.91134192406544081745, 0.41165021248713124285},
                        {10000.0f, 6, 1, 7, 0.94767907507662115176, 0.31922463981014975929}};
  for (const Case &rotation : cases) {
    TestModel model = blankModel(tinyConfig(rotation.headDim, 1, 1, rotation.theta));
    model.tensor("bq", 0)[static_cast<size_t>(rotation.lane)] = 1.0f;
    const std::vector<int32_t> tokens(static_cast<size_t>(rotation.position + 1), 0);
    const Capture run = capture(attentionGraph(model.config()), model, tokens);
    const double *last = run.at("q").data.data() + rotation.position * rotation.headDim;
    CHECK(last[rotation.lane] == Approx(rotation.c).epsilon(0).margin(1e-14));
    CHECK(last[rotation.lane + rotation.headDim / 2] == Approx(rotation.s).epsilon(0).margin(1e-14));
  }
}

TEST_CASE("attention over equal scores is the mean of the values so far") {
  // Four query heads on two KV heads: heads 0 and 1 read KV head 0, heads 2 and 3 KV head 1.
  TestModel model = blankModel(tinyConfig(4, 4, 2, 0.0f));
  setRow(model, "token_emb", -1, 1, {6, 0, 0, 0});
  setRow(model, "token_emb", -1, 2, {0, 3, 0, 0});
  setRow(model, "wv", 0, 0, {1, 1, 0, 0});
  setRow(model, "wv", 0, kPad, {10, 20, 0, 0});
  const Capture run = capture(attentionGraph(model.config()), model, {1, 2, 0});
  requireData(run.at("v"), {6, 3, 0, 60, 60, 0});
  requireData(run.at("attn_out"), {6, 4.5, 3, 6, 4.5, 3, 60, 60, 40, 60, 60, 40});
}

TEST_CASE("attention weighs by the softmax of scaled scores") {
  // hd = 4, so scores are q.k / 2: token 0 has k = 2, token 1 has k = 4 (lane 0), q = 1.
  TestModel model = blankModel(tinyConfig(4, 1, 1, 0.0f));
  setRow(model, "token_emb", -1, 1, {2, 1, 0, 0});
  setRow(model, "token_emb", -1, 2, {4, 0, 0, 0});
  setRow(model, "bq", 0, 0, {1, 0, 0, 0});
  setRow(model, "wk", 0, 0, {1, 0, 0, 0});
  setRow(model, "wv", 0, 2, {0, 1, 0, 0});
  const Capture run = capture(attentionGraph(model.config()), model, {1, 2});
  requireData(run.at("attn_out"), {0, 0, 1, 0, 0, 0, kSigmoidMinus1, 0});
}

TEST_CASE("attention survives scores far beyond the range of exp") {
  TestModel model = blankModel(tinyConfig(4, 1, 1, 0.0f));
  setRow(model, "token_emb", -1, 1, {10000, 1, 0, 0});
  setRow(model, "token_emb", -1, 2, {10002, 0, 0, 0});
  setRow(model, "bq", 0, 0, {1, 0, 0, 0});
  setRow(model, "wk", 0, 0, {1, 0, 0, 0});
  setRow(model, "wv", 0, 2, {0, 1, 0, 0});
  const Capture run = capture(attentionGraph(model.config()), model, {1, 2});
  requireData(run.at("attn_out"), {0, 0, 1, 0, 0, 0, kSigmoidMinus1, 0});
}

TEST_CASE("output projection sums the heads' slabs onto the bias") {
  TestModel model = blankModel(tinyConfig(4, 2, 2, 0.0f));
  setRow(model, "bv", 0, 0, {1, 2});
  setRow(model, "bv", 0, 1, {3, 4});
  setRow(model, "bo", 0, 0, {0.5f, 0, 0, -1});
  setRow(model, "wo", 0, 0, {1, 10});            // head 0, out 0
  setRow(model, "wo", 0, 3, {2, 0});             // head 0, out 3
  setRow(model, "wo", 0, kPad, {100, 1000});     // head 1, out 0
  setRow(model, "wo", 0, kPad + 1, {0, 5});      // head 1, out 1
  const Capture run = capture(attentionGraph(model.config()), model, {0});
  requireData(run.at("attn_out"), {1, 2, 3, 4});
  requireData(run.at("proj_tmp"), {0.5 + 1 + 20 + 300 + 4000, 20, 0, 1});
}

TEST_CASE("add adds") {
  TestModel model = blankModel(tinyConfig(2, 1, 1, 10000.0f));
  setRow(model, "token_emb", -1, 1, {3, 4});
  setRow(model, "ln1_gamma", 0, 0, {2, -1});
  const CKIRGraph graph{model.config(), {node(0, NodeOp::RMSNorm, {in()}), node(3, NodeOp::Add, {in(), out(0)})}};
  requireData(capture(graph, model, {1}).at("residual1"), {4.2, 3.2});
}

TEST_CASE("the MLP keeps gate and up apart and multiplies by silu") {
  TestModel model = blankModel(tinyConfig(2, 1, 1, 10000.0f));
  setRow(model, "token_emb", -1, 1, {1, 2});
  setRow(model, "w1", 0, 0, {1, 0});        // gate 0
  setRow(model, "w1", 0, 1, {0, 2});        // gate 1
  setRow(model, "w1", 0, kPad, {3, 0});     // up 0
  setRow(model, "w1", 0, kPad + 1, {0, 0}); // up 1
  setRow(model, "b1", 0, 1, {0, 0.5f});
  setRow(model, "w2", 0, 0, {1, 2});
  setRow(model, "w2", 0, 1, {-2, 0});
  setRow(model, "b2", 0, 0, {1, 0});
  const Capture run = capture(mlpGraph(model.config()), model, {1});
  requireData(run.at("fc1_out"), {1, 4, 3, 0.5});
  requireData(run.at("swiglu_out"), {3 * kSigmoid1, 2 * kSigmoid4});
  requireData(run.at("mlp_out"), {1 + 3 * kSigmoid1 + 4 * kSigmoid4, -6 * kSigmoid1});
}

TEST_CASE("swiglu of a hugely negative gate is zero") {
  TestModel model = blankModel(tinyConfig(2, 1, 1, 10000.0f));
  setRow(model, "b1", 0, 0, {-2000, 2000});
  setRow(model, "b1", 0, 1, {3, 3});
  const Capture run = capture(mlpGraph(model.config()), model, {1});
  requireData(run.at("swiglu_out"), {0, 6000});
}

TEST_CASE("final norm and tied head") {
  TestModel model = blankModel(tinyConfig(2, 1, 1, 10000.0f));
  setRow(model, "token_emb", -1, 0, {1, 1});
  setRow(model, "token_emb", -1, 1, {1.5f, 2}); // doubled by the ADD: 3, 4
  setRow(model, "token_emb", -1, 2, {-10, 5});
  setRow(model, "final_ln_weight", -1, 0, {5, 10});
  setRow(model, "final_ln_bias", -1, 0, {100, 100}); // loaded, never used
  const CKIRGraph graph{model.config(), {node(9, NodeOp::Add, {in(), in()})}};
  const Capture run = capture(graph, model, {1});
  requireData(run.at("output"), {3, 4});
  requireData(run.at("final_ln_rstd"), {0.2});
  requireData(run.at("final_output"), {3, 8});
  requireData(run.at("logits"), {11, 20.5, 10});
}

TEST_CASE("cross entropy is the log of the sum of exponentials minus the target's logit") {
  // exp(ln 1), exp(ln 2), exp(ln 5): shares 1/8, 2/8 and 5/8. The second row is too large for exp alone.
  ReferenceValue logits{"logits", -1, -1, "lm_head", 3, 3, {0, std::log(2.0), std::log(5.0), 1000, 1000, 0, 1, 2, 3}};
  const std::vector<double> losses = referenceLosses(logits, {2, 0, -100});
  REQUIRE(losses.size() == 3);
  CHECK(losses[0] == Approx(std::log(8.0 / 5.0)).epsilon(1e-14));
  CHECK(losses[1] == Approx(std::log(2.0)).epsilon(1e-14));
  CHECK(losses[2] == 0);
  // An infinite logit takes the whole sum; as the target it leaves inf - inf.
  logits.data = {0, INFINITY, 0, 0, INFINITY, 0, 0, NAN, INFINITY};
  const std::vector<double> infinite = referenceLosses(logits, {0, 1, 0});
  CHECK(infinite[0] == INFINITY);
  CHECK(std::isnan(infinite[1]));
  CHECK(std::isnan(infinite[2]));
}
