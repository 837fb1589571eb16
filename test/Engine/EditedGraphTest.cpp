//===- EditedGraphTest.cpp - The nodes decide what is compiled ------------===//
#include "ModelRun.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// Without surprises in the graph fp32 keeps to 1e-4 of logits of 25.
constexpr double kTameShare = kLogitTolerance / kLogitSize;

/// Checks one graph, made by hand, in all modes.
void checkGraph(const CKIRGraph &graph) {
  const TestModel weights(graph.config, {.padding = Padding::NaN});
  const std::vector<int32_t> tokens = makeTokens(graph.config, graph.config.contextWindow, 12);
  const std::vector<double> expected = referenceLogits(graph, weights, tokens);
  for (uint64_t mode = 0; mode < 4; ++mode) {
    const std::unique_ptr<Model> model = makeModel(graph, modeOptions(mode), weights);
    const Distance distance =
        distanceOf(runLogits(*model, tokens), expected, static_cast<size_t>(graph.config.vocabSize));
    INFO("mode " << mode << ", " << distance.text() << "\n" << dumpGraph(graph));
    CHECK(distance.worst <= kTameShare * largestOf(expected));
  }
}

/// Node `number` of `layer`, or the end.
std::vector<CKIRNode>::iterator nodeAt(CKIRGraph &graph, uint16_t layer, uint16_t number) {
  return llvm::find_if(graph.nodes, [&](const CKIRNode &node) { return node.id == NodeId{layer, number}; });
}

void dropMLP(CKIRGraph &graph, uint16_t layer) {
  llvm::erase_if(graph.nodes, [&](const CKIRNode &node) { return node.id.layer == layer && node.id.node >= 4; });
}

/// An edited graph must not be compiled as the canonical one.
void checkDiffersFromCanonical(const CKIRGraph &graph) {
  const TestModel weights(graph.config);
  const std::vector<int32_t> tokens = makeTokens(graph.config, 5, 12);
  const std::unique_ptr<Model> canonical = makeModel(buildForwardGraph(graph.config), hostOptions(), weights);
  const std::unique_ptr<Model> edited = makeModel(graph, hostOptions(), weights);
  CHECK_FALSE(sameBits(runLogits(*canonical, tokens), runLogits(*edited, tokens)));
}

} // namespace

TEST_CASE("a graph without its MLP nodes") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  for (uint16_t layer : {0, 1})
    dropMLP(graph, layer);
  checkGraph(graph);
  checkDiffersFromCanonical(graph);
}

TEST_CASE("the second residual taken from IN") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  for (uint16_t layer : {0, 1})
    nodeAt(graph, layer, 9)->inputs[0] = {{layer, kLayerInput}, 0};
  checkGraph(graph);
  checkDiffersFromCanonical(graph);
}

TEST_CASE("two layers of different shape of graph") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  dropMLP(graph, 0);
  nodeAt(graph, 1, 9)->inputs[0] = {{1, kLayerInput}, 0};
  checkGraph(graph);
  checkDiffersFromCanonical(graph);
}

TEST_CASE("a layer without attention, and one that reads a value of the layer before") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  llvm::erase_if(graph.nodes, [](const CKIRNode &node) { return node.id.layer == 0 && node.id.node < 4; });
  nodeAt(graph, 0, 4)->inputs[0] = {{0, kLayerInput}, 0};
  nodeAt(graph, 0, 9)->inputs[0] = {{0, kLayerInput}, 0};
  nodeAt(graph, 1, 9)->inputs[0] = {{0, 8}, 0}; // the MLP's result before its residual
  checkGraph(graph);
}

TEST_CASE("values that fusion would hide are kept where another node reads them") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  // Gate and up are read twice: SWIGLU(gate, up) and again SWIGLU(up, gate) added to it.
  const auto down = nodeAt(graph, 0, 8);
  CKIRNode swapped{{0, 10}, NodeOp::SwiGLU, {{{0, 6}, 1}, {{0, 6}, 0}}, 1},
      sum{{0, 11}, NodeOp::Add, {{{0, 7}, 0}, {{0, 10}, 0}}, 1};
  down->inputs[0] = {{0, 11}, 0};
  graph.nodes.insert(graph.nodes.insert(down, sum), swapped);
  // The projection is added to itself, and the residual once more at the end.
  nodeAt(graph, 1, 3)->inputs[0] = {{1, 2}, 0};
  nodeAt(graph, 1, 9)->inputs[0] = {{1, 2}, 0};
  checkGraph(graph);
}
