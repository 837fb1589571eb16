//===- CodegenTest.cpp - The seed's graph and skeleton --------------------===//
#include "ApiTest.h"

using namespace ckjit_test;

namespace {

/// The nodes of one layer as the seed builds them (SPEC 1.2).
std::vector<CKIRNode> layerNodes(uint16_t layer) {
  const uint16_t in = 0xFFFF;
  struct Shape {
    CKOpType op;
    std::vector<std::pair<uint16_t, uint8_t>> inputs;
    uint8_t outputs;
  };
  const std::vector<Shape> shapes = {
      {CK_OP_RMSNORM, {{in, 0}}, 1},        {CK_OP_LINEAR_QKV, {{0, 0}}, 1},     {CK_OP_ATTENTION, {{1, 0}}, 1},
      {CK_OP_ADD, {{in, 0}, {2, 0}}, 1},    {CK_OP_RMSNORM, {{3, 0}}, 1},        {CK_OP_LINEAR, {{4, 0}}, 1},
      {CK_OP_SPLIT, {{5, 0}}, 2},           {CK_OP_SWIGLU, {{6, 0}, {6, 1}}, 1}, {CK_OP_LINEAR, {{7, 0}}, 1},
      {CK_OP_ADD, {{3, 0}, {8, 0}}, 1}};
  std::vector<CKIRNode> nodes;
  for (const Shape &shape : shapes) {
    CKIRNode node = {};
    node.id = {layer, static_cast<uint16_t>(nodes.size())};
    node.op = shape.op;
    for (const auto &[producer, output] : shape.inputs)
      node.inputs[node.n_inputs++] = {{layer, producer}, output};
    node.n_outputs = shape.outputs;
    nodes.push_back(node);
  }
  return nodes;
}

struct Graph {
  std::vector<CKIRNode> nodes;
  CKIRGraph graph = {};
  explicit Graph(int layers) {
    graph.config = {layers, 40, 56, 4, 2, 67, 600, 1e-5f, 10000.0f};
    for (int layer = 0; layer < layers; ++layer)
      for (const CKIRNode &node : layerNodes(static_cast<uint16_t>(layer)))
        nodes.push_back(node);
    graph.nodes = nodes.data();
    graph.num_nodes = static_cast<int>(nodes.size());
  }
};

/// The same graph backwards (SPEC 1.2).
Graph backwardOf(const Graph &forward) {
  Graph result(0);
  result.graph.config = forward.graph.config;
  for (auto node = forward.nodes.rbegin(); node != forward.nodes.rend(); ++node) {
    CKIRNode back = *node;
    back.op = static_cast<CKOpType>(back.op + CK_OP_RMSNORM_BWD);
    std::swap(back.n_inputs, back.n_outputs);
    result.nodes.push_back(back);
  }
  result.graph.nodes = result.nodes.data();
  result.graph.num_nodes = static_cast<int>(result.nodes.size());
  return result;
}

std::string skeleton(const CKIRGraph *forward, const CKIRGraph *backward) {
  const TemporaryFolder folder;
  FILE *file = std::fopen((folder / "s.c").c_str(), "wb");
  REQUIRE(file);
  ck_codegen_c_skeleton(forward, backward, file);
  std::fclose(file);
  return readText(folder / "s.c");
}
} // namespace

TEST_CASE("the skeleton is the seed's text") {
  const Graph forward(2);
  const Graph backward = backwardOf(forward);
  const std::string text = skeleton(&forward.graph, &backward.graph);
  // From the seed's page.
  CHECK(text.rfind("/* Auto-generated skeleton from CKIRGraph.\n * This file sketches", 0) == 0);
  CHECK_THAT(text, Catch::Contains("        /* This layer has 10 IR nodes */\n"
                                   "        // L%d: RMSNORM\n"
                                   "        //   outputs: [L%d:N0:0]\n"
                                   "        //   inputs : [IN]\n"));
  CHECK_THAT(text, Catch::Contains("        // L%d: SWIGLU\n"
                                   "        //   outputs: [L%d:N7:0]\n"
                                   "        //   inputs : [L%d:N6:0, L%d:N6:1]\n"));
  CHECK_THAT(text, Catch::Contains("        /* This layer has 10 backward IR nodes */\n        // L%d: ADD_BWD\n"));
  CHECK_THAT(text, Catch::Contains("    model.cfg.rms_norm_eps      = 9.99999975e-06;\n"));
  CHECK_THAT(skeleton(&forward.graph, nullptr), !Catch::Contains("run_decoder_backward(TransformerModel"));
  // And byte for byte what the tool prints for the same config, behind its list of the nodes.
  const TemporaryFolder folder;
  std::ofstream(folder / "config.json") << kConfig;
  REQUIRE(std::system((CKJIT_TOOL " ir " + (folder / "config.json") + " --backward --skeleton -o " + (folder / "s.c") + " > /dev/null").c_str()) == 0);
  CHECK_THAT(readText(folder / "s.c"), Catch::EndsWith(text));
}

TEST_CASE("a graph that can't be one writes nothing") {
  Graph graph(1);
  graph.nodes[3].n_inputs = 5;
  CHECK(skeleton(&graph.graph, nullptr).empty());
  CHECK_THAT(ckjit_last_error(), Catch::Contains("forward, node 3: n_inputs is 5, expected at most 4"));
  graph.nodes[3].n_inputs = 2;
  const int wrong = 99;
  std::memcpy(&graph.nodes[4].op, &wrong, sizeof wrong);
  CHECK(skeleton(&graph.graph, nullptr).empty());
  CHECK_THAT(ckjit_last_error(), Catch::Contains("forward, node 4: op is 99"));
  graph.graph.num_nodes = -1;
  CHECK(skeleton(&graph.graph, nullptr).empty());
  CHECK_THAT(ckjit_last_error(), Catch::Contains("num_nodes is -1"));
}
