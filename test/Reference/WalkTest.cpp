//===- WalkTest.cpp - Order, names, and refusals of the graph walk --------===//
#include "Capture.h"
#include "Support/TestModel.h"

using namespace ckjit;
using namespace ckjit::test;
using llvm::StringRef;

namespace {

ModelConfig smallConfig(StringRef name) {
  for (const NamedConfig &known : smallConfigs())
    if (known.name == name)
      return known.config;
  FAIL("no config " << name.str());
  return {};
}

InputRef in(uint16_t layer = 0) { return {{layer, kLayerInput}, 0}; }
InputRef out(uint16_t node, uint8_t slot = 0, uint16_t layer = 0) { return {{layer, node}, slot}; }

std::string messageOf(const CKIRGraph &graph, WeightLookup weights, llvm::ArrayRef<int32_t> tokens) {
  return toString(runReference(graph, weights, tokens, [](const ReferenceValue &) { return true; }));
}

void requireContains(const std::string &text, std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    CHECK_THAT(text, Catch::Contains(part));
}

} // namespace

TEST_CASE("the canonical graph hands out every buffer in order") {
  const ModelConfig config = smallConfig("head_dim_20_gqa"); // D 120, hd 20, H 6, K 3, I 100, V 257
  const TestModel model(config);
  const Capture run = capture(buildForwardGraph(config), model, makeTokens(config, 4));

  struct Row {
    const char *name, *op;
    int layer, node;
    int64_t rows, cols;
  };
  const Row expected[] = {{"embedded_input", "embed", -1, -1, 4, 120}, {"ln1_rstd", "rmsnorm", 0, 0, 4, 1},
                          {"ln1_out", "rmsnorm", 0, 0, 4, 120},        {"q", "rope", 0, 1, 24, 20},
                          {"k", "rope", 0, 1, 12, 20},                 {"v", "qkv_project", 0, 1, 12, 20},
                          {"attn_out", "attention", 0, 2, 24, 20},     {"proj_tmp", "attn_project", 0, 2, 4, 120},
                          {"residual1", "residual_add", 0, 3, 4, 120}, {"ln2_rstd", "rmsnorm", 0, 4, 4, 1},
                          {"ln2_out", "rmsnorm", 0, 4, 4, 120},        {"fc1_out", "linear", 0, 5, 4, 200},
                          {"swiglu_out", "swiglu", 0, 7, 4, 100},      {"mlp_out", "linear", 0, 8, 4, 120},
                          {"output", "residual_add", 0, 9, 4, 120},    {"final_ln_rstd", "rmsnorm", -1, -1, 4, 1},
                          {"final_output", "rmsnorm", -1, -1, 4, 120}, {"logits", "lm_head", -1, -1, 4, 257}};
  REQUIRE(run.values.size() == std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const ReferenceValue &value = run.values[i];
    INFO("value " << i << ", " << value.name);
    CHECK(value.name == expected[i].name);
    CHECK(value.op == expected[i].op);
    CHECK(value.layer == expected[i].layer);
    CHECK(value.node == expected[i].node);
    CHECK(value.rows == expected[i].rows);
    CHECK(value.cols == expected[i].cols);
    CHECK(value.data.size() == static_cast<size_t>(value.rows * value.cols));
  }
}

TEST_CASE("a second layer reads the first one's last node") {
  const ModelConfig config = smallConfig("head_dim_2");
  const TestModel model(config);
  CKIRGraph graph = buildForwardGraph(config);
  std::erase_if(graph.nodes, [](const CKIRNode &n) { return n.id.layer > 0; });
  // Layer 0 without its MLP: its result is residual1. Layers 1 and 2 double and add back.
  std::erase_if(graph.nodes, [](const CKIRNode &n) { return n.id.node > 3; });
  graph.nodes.push_back({{1, 3}, NodeOp::Add, {in(1), in(1)}, 1});
  graph.nodes.push_back({{2, 9}, NodeOp::Add, {in(2), out(3, 0, 0)}, 1});
  const Capture run = capture(graph, model, makeTokens(config, 5));
  const ReferenceValue &first = run.at("residual1", 0), &second = run.at("residual1", 1), &third = run.at("output");
  for (size_t i = 0; i < first.data.size(); ++i) {
    CHECK(second.data[i] == 2 * first.data[i]);
    CHECK(third.data[i] == Approx(3 * first.data[i]).epsilon(1e-15));
  }
}

TEST_CASE("nodes that aren't canonical are named node") {
  const ModelConfig config = smallConfig("mqa");
  const TestModel model(config);
  CKIRGraph graph = buildForwardGraph(config);
  // A new SWIGLU, a moved SPLIT, an ADD of two halves under the number of the canonical residual.
  std::erase_if(graph.nodes, [](const CKIRNode &n) { return n.id.layer == 0 && n.id.node != 5; });
  graph.nodes[0].inputs = {in()};
  const std::vector<CKIRNode> added = {{{0, 11}, NodeOp::Split, {out(5)}, 2},
                                       {{0, 3}, NodeOp::Add, {out(11, 1), out(11, 0)}, 1},
                                       {{0, 8}, NodeOp::Linear, {out(3)}, 1},
                                       {{0, 12}, NodeOp::SwiGLU, {out(8), in()}, 1}};
  graph.nodes.insert(graph.nodes.begin() + 1, added.begin(), added.end());
  const Capture run = capture(graph, model, makeTokens(config, 3));

  std::vector<const ReferenceValue *> layer0;
  for (const ReferenceValue &value : run.values)
    if (value.layer == 0)
      layer0.push_back(&value);
  REQUIRE(layer0.size() == 6);
  const auto check = [&](size_t i, const char *name, const char *op, int node, int64_t cols) {
    CHECK(layer0[i]->name == name);
    CHECK(layer0[i]->op == op);
    CHECK(layer0[i]->node == node);
    CHECK(layer0[i]->cols == cols);
  };
  check(0, "fc1_out", "linear", 5, 160);
  check(1, "node", "split", 11, 80);
  check(2, "node", "split", 11, 80);
  check(3, "node", "residual_add", 3, 80);
  check(4, "mlp_out", "linear", 8, 48);
  check(5, "node", "swiglu", 12, 48);
  CHECK(layer0[1]->data[79] == layer0[0]->data[79]);
  CHECK(layer0[2]->data[0] == layer0[0]->data[80]);
  CHECK(layer0[3]->data[81] == layer0[0]->data[161] + layer0[0]->data[241]);
}

TEST_CASE("the sink can stop the walk at any value") {
  const ModelConfig config = smallConfig("one_head_one_layer");
  const TestModel model(config);
  const CKIRGraph graph = buildForwardGraph(config);
  for (size_t wanted = 1; wanted <= 18; ++wanted) {
    size_t seen = 0;
    llvm::Error error = runReference(graph, model, makeTokens(config, 3),
                                     [&](const ReferenceValue &) { return ++seen < wanted; });
    CHECK(toString(std::move(error)).empty());
    CHECK(seen == wanted);
  }
}

TEST_CASE("tokens outside vocabulary or context are refused with their place") {
  const ModelConfig config = smallConfig("one_head_one_layer"); // V 65, C 9
  const TestModel model(config);
  const CKIRGraph graph = buildForwardGraph(config);
  requireContains(messageOf(graph, model, {}), {"0 tokens", "1 to 9"});
  requireContains(messageOf(graph, model, std::vector<int32_t>(10, 0)), {"10 tokens", "1 to 9"});
  requireContains(messageOf(graph, model, {1, 2, 65}), {"id 65", "position 2", "0 to 64"});
  requireContains(messageOf(graph, model, {-1}), {"id -1", "position 0"});
  CHECK(messageOf(graph, model, std::vector<int32_t>(9, 64)).empty());
}

TEST_CASE("a tensor that the lookup lacks is named") {
  const ModelConfig config = smallConfig("mqa");
  const TestModel model(config);
  const CKIRGraph graph = buildForwardGraph(config);
  for (const TensorSpec &spec : model.specs()) {
    const auto without = [&](StringRef name, int layer) -> const float * {
      return name == spec.name && layer == spec.layer ? nullptr : model(name, layer);
    };
    const std::string message = messageOf(graph, without, {1, 2});
    INFO(spec.name << " layer " << spec.layer << ": " << message);
    const bool unused = spec.name == "pos_emb" || spec.name == "final_ln_bias";
    CHECK(message.empty() == unused);
    if (!unused)
      requireContains(message, {("'" + spec.name + "'").c_str()});
  }
}

TEST_CASE("a graph that isn't a program is refused") {
  const ModelConfig config = smallConfig("mqa");
  const TestModel model(config);
  CKIRGraph graph = buildForwardGraph(config);
  graph.nodes[3].inputs[1] = out(8); // defined later
  CHECK_FALSE(messageOf(graph, model, {1}).empty());
  graph = buildForwardGraph(config);
  graph.nodes.resize(10); // layer 1 is missing
  CHECK_FALSE(messageOf(graph, model, {1}).empty());
}
