//===- RandomGraphTest.cpp - The nodes decide what is compiled ------------===//
#include "ModelRun.h"
#include "Support/RandomGraph.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

using namespace ckjit;
using namespace ckjit::test;

namespace {

constexpr uint64_t kSeeds = 200;
/// A graph may square or exponentiate what it likes: beyond this fp32 has no digits left to compare.
constexpr double kLargestCompared = 1e4;
/// Share of the largest |logit|: edited graphs feed norms and softmax with values many times the usual size, which
/// magnifies a rounding (6e-8) by the same factor.
constexpr double kShare = 1e-4;

/// Small, nothing a multiple of 16, two panels at most.
ModelConfig tinyConfig() {
  ModelConfig c;
  c.numLayers = 2;
  c.hiddenSize = 24;
  c.intermediateSize = 20;
  c.numHeads = 4;
  c.numKVHeads = 2;
  c.vocabSize = 33;
  c.contextWindow = 20;
  c.ropeTheta = 10000.0f;
  return c;
}

struct Outcome {
  enum Kind { Refused, Agrees, Differs, NotComparable, Broken } kind = Broken;
  std::string text;
};

/// The modes take turns, so that each graph shape meets each of them somewhere.
CompileOptions optionsFor(uint64_t seed) {
  CompileOptions options = hostOptions(seed % 4 == 1, seed % 4 == 2);
  options.pipeline.fuse = seed % 4 != 3;
  return options;
}

Outcome compareWithReference(const CKIRGraph &graph, const CompileOptions &options, const TestModel &weights) {
  const std::vector<int32_t> tokens = makeTokens(graph.config, hostLanes() + 1 > 17 ? 17 : hostLanes() + 1, 11);
  double largest = 0;
  std::vector<double> expected;
  for (const ReferenceValue &value : referenceValues(graph, weights, tokens)) {
    largest = std::max(largest, largestOf(value.data));
    expected = value.data; // logits come last
  }
  const std::unique_ptr<Model> model = makeModel(graph, options, weights);
  const std::vector<float> found = runLogits(*model, tokens);
  if (largest > kLargestCompared)
    return {Outcome::NotComparable, ""};
  const Distance distance = distanceOf(found, expected, static_cast<size_t>(graph.config.vocabSize));
  const double share = distance.worst / largestOf(expected);
  return {share <= kShare ? Outcome::Agrees : Outcome::Differs, distance.text()};
}

Outcome tryGraph(const CKIRGraph &graph, const CompileOptions &options, const TestModel &weights) {
  llvm::Expected<std::vector<ValueKind>> kinds = validateGraph(graph, "random");
  if (kinds)
    return compareWithReference(graph, options, weights);
  std::string reason = llvm::toString(kinds.takeError());
  llvm::Expected<CompiledObject> compiled = compileGraph(graph, "random", options);
  if (compiled)
    return {Outcome::Broken, "compiles although validateGraph says: " + reason};
  const std::string message = llvm::toString(compiled.takeError());
  return {message == reason && !message.empty() ? Outcome::Refused : Outcome::Broken, message};
}

/// Every seed's outcome. Catch2's checks aren't for several threads, so these only collect.
std::vector<Outcome> tryAllSeeds(const ModelConfig &config) {
  const TestModel weights(config, {.padding = Padding::NaN});
  std::vector<Outcome> outcomes(kSeeds);
  std::atomic<uint64_t> next = 0;
  const auto work = [&] {
    for (uint64_t seed = next++; seed < kSeeds; seed = next++)
      try {
        outcomes[seed] = tryGraph(makeRandomGraph(config, seed), optionsFor(seed), weights);
      } catch (const std::exception &error) {
        outcomes[seed] = {Outcome::Broken, error.what()};
      }
  };
  std::thread other(work);
  work();
  other.join();
  return outcomes;
}

/// Checks one graph, made by hand, in all modes.
void checkGraph(const CKIRGraph &graph, double share) {
  const TestModel weights(graph.config, {.padding = Padding::NaN});
  const std::vector<int32_t> tokens = makeTokens(graph.config, graph.config.contextWindow, 12);
  const std::vector<double> expected = referenceLogits(graph, weights, tokens);
  for (uint64_t mode = 0; mode < 4; ++mode) {
    const std::unique_ptr<Model> model = makeModel(graph, optionsFor(mode), weights);
    const Distance distance = distanceOf(runLogits(*model, tokens), expected, static_cast<size_t>(graph.config.vocabSize));
    INFO("mode " << mode << ", " << distance.text() << "\n" << dumpGraph(graph));
    CHECK(distance.worst <= share * largestOf(expected));
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

/// Without surprises in the graph fp32 keeps to 1e-4 of logits of 25.
constexpr double kTameShare = kLogitTolerance / kLogitSize;

} // namespace

TEST_CASE("200 random graphs are refused with a message or agree with the reference") {
  const std::vector<Outcome> outcomes = tryAllSeeds(tinyConfig());
  int counts[5] = {};
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome &outcome = outcomes[seed];
    ++counts[outcome.kind];
    if (outcome.kind == Outcome::Differs || outcome.kind == Outcome::Broken) {
      const CKIRGraph graph = makeRandomGraph(tinyConfig(), seed);
      FAIL_CHECK("seed " << seed << ": " << outcome.text << "\n" << dumpGraph(graph));
    }
  }
  INFO("refused " << counts[Outcome::Refused] << ", agree " << counts[Outcome::Agrees] << ", not comparable "
                  << counts[Outcome::NotComparable]);
  CHECK(counts[Outcome::Refused] == 93); // RandomGraph.h: 107 of 200 are programs
  CHECK(counts[Outcome::NotComparable] <= 10);
  CHECK(counts[Outcome::Agrees] >= 97);
}

TEST_CASE("a graph without its MLP nodes") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  for (uint16_t layer : {0, 1})
    dropMLP(graph, layer);
  checkGraph(graph, kTameShare);
  checkDiffersFromCanonical(graph);
}

TEST_CASE("the second residual taken from IN") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  for (uint16_t layer : {0, 1})
    nodeAt(graph, layer, 9)->inputs[0] = {{layer, kLayerInput}, 0};
  checkGraph(graph, kTameShare);
  checkDiffersFromCanonical(graph);
}

TEST_CASE("two layers of different shape of graph") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  dropMLP(graph, 0);
  nodeAt(graph, 1, 9)->inputs[0] = {{1, kLayerInput}, 0};
  checkGraph(graph, kTameShare);
  checkDiffersFromCanonical(graph);
}

TEST_CASE("a layer without attention, and one that reads a value of the layer before") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  llvm::erase_if(graph.nodes, [](const CKIRNode &node) { return node.id.layer == 0 && node.id.node < 4; });
  nodeAt(graph, 0, 4)->inputs[0] = {{0, kLayerInput}, 0};
  nodeAt(graph, 0, 9)->inputs[0] = {{0, kLayerInput}, 0};
  nodeAt(graph, 1, 9)->inputs[0] = {{0, 8}, 0}; // the MLP's result before its residual
  checkGraph(graph, kTameShare);
}

TEST_CASE("values that fusion would hide are kept where another node reads them") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  // Gate and up are read twice: SWIGLU(gate, up) and again SWIGLU(up, gate) added to it.
  const auto down = nodeAt(graph, 0, 8);
  CKIRNode swapped{{0, 10}, NodeOp::SwiGLU, {{{0, 6}, 1}, {{0, 6}, 0}}, 1}, sum{{0, 11}, NodeOp::Add, {{{0, 7}, 0}, {{0, 10}, 0}}, 1};
  down->inputs[0] = {{0, 11}, 0};
  graph.nodes.insert(graph.nodes.insert(down, sum), swapped);
  // The projection is added to itself, and the residual once more at the end.
  nodeAt(graph, 1, 3)->inputs[0] = {{1, 2}, 0};
  nodeAt(graph, 1, 9)->inputs[0] = {{1, 2}, 0};
  checkGraph(graph, kTameShare);
}
