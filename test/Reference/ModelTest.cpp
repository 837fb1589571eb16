//===- ModelTest.cpp - Whole models against a second formulation ----------===//
#include "Capture.h"
#include "PullModel.h"
#include "Support/RandomGraph.h"
#include "Support/TestModel.h"
#include <cmath>

using namespace ckjit;
using namespace ckjit::test;

namespace {

// Doubles against long doubles: rounding of a few hundred terms, relative to the row's largest logit.
constexpr double kTolerance = 1e-11;

/// Compares the logits of token t, naming the worst element.
void compareRow(const ReferenceValue &logits, PullModel &second, size_t t) {
  const PullModel::Row expected = second.logits(t);
  REQUIRE(expected.size() == static_cast<size_t>(logits.cols));
  double worst = 0, largest = 0;
  size_t where = 0;
  for (size_t v = 0; v < expected.size(); ++v) {
    const double want = static_cast<double>(expected[v]);
    const double distance = std::abs(logits.data[t * expected.size() + v] - want);
    largest = std::max(largest, std::abs(want));
    if (!(distance <= worst)) {
      worst = distance;
      where = v;
    }
  }
  INFO("token " << t << ", logit " << where << " is " << worst << " away; largest " << largest);
  REQUIRE(std::isfinite(largest));
  CHECK(worst <= kTolerance * std::max(largest, 1.0));
}

/// A graph can square its values layer by layer; past this size exp overflows in the form without shift.
bool staysModest(const Capture &run) {
  for (const ReferenceValue &value : run.values)
    for (double element : value.data)
      if (!(std::abs(element) < 1e3))
        return false;
  return true;
}

} // namespace

TEST_CASE("canonical graphs agree with the pulled form on every small config") {
  for (const NamedConfig &named : smallConfigs()) {
    INFO(named.name);
    const TestModel model(named.config, {.seed = 7});
    const CKIRGraph graph = buildForwardGraph(named.config);
    const std::vector<int32_t> tokens = makeTokens(named.config, std::min<int64_t>(named.config.contextWindow, 12));
    const Capture run = capture(graph, model, tokens);
    PullModel second(graph, model, tokens);
    for (size_t t = 0; t < tokens.size(); ++t)
      compareRow(run.at("logits"), second, t);
  }
}

TEST_CASE("a long context agrees with the pulled form") {
  for (const NamedConfig &named : smallConfigs()) {
    if (named.name != "long_context")
      continue;
    const TestModel model(named.config, {.seed = 8});
    const CKIRGraph graph = buildForwardGraph(named.config);
    const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow);
    const Capture run = capture(graph, model, tokens);
    PullModel second(graph, model, tokens);
    for (size_t t : {size_t{0}, size_t{1}, tokens.size() / 2, tokens.size() - 1})
      compareRow(run.at("logits"), second, t);
  }
}

TEST_CASE("random graphs agree with the pulled form") {
  size_t compared = 0;
  for (const NamedConfig &named : awkwardConfigs()) {
    if (named.name != "mqa" && named.name != "head_dim_2" && named.name != "odd_head_no_rope")
      continue;
    const TestModel model(named.config, {.seed = 9});
    const std::vector<int32_t> tokens = makeTokens(named.config, 4);
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const CKIRGraph graph = makeRandomGraph(named.config, seed);
      if (!isProgram(graph))
        continue;
      INFO(named.name << " seed " << seed);
      const Capture run = capture(graph, model, tokens);
      if (!staysModest(run))
        continue;
      ++compared;
      PullModel second(graph, model, tokens);
      compareRow(run.at("logits"), second, 1);
      compareRow(run.at("logits"), second, tokens.size() - 1);
    }
  }
  CHECK(compared >= 250);
}

TEST_CASE("the graph is the program: without the MLP nodes, and with the second residual from IN") {
  const ModelConfig config = goldenConfigs().front().config;
  const TestModel model(config, {.seed = 10});
  const std::vector<int32_t> tokens = makeTokens(config, 6);
  const CKIRGraph whole = buildForwardGraph(config);
  CKIRGraph noMlp = whole, shortcut = whole;
  std::erase_if(noMlp.nodes, [](const CKIRNode &n) { return n.id.node >= 4; });
  shortcut.nodes[9].inputs[0] = {{0, kLayerInput}, 0};
  std::vector<std::vector<double>> results;
  for (const CKIRGraph &graph : {whole, noMlp, shortcut}) {
    const Capture run = capture(graph, model, tokens);
    PullModel second(graph, model, tokens);
    compareRow(run.at("logits"), second, 5);
    results.push_back(run.at("logits").data);
  }
  CHECK(std::abs(results[0][0] - results[1][0]) > 1e-3);
  CHECK(std::abs(results[0][0] - results[2][0]) > 1e-3);
}

TEST_CASE("no padding lane is read") {
  for (const NamedConfig &named : smallConfigs()) {
    INFO(named.name);
    const CKIRGraph graph = buildForwardGraph(named.config);
    const std::vector<int32_t> tokens = makeTokens(named.config, std::min<int64_t>(named.config.contextWindow, 5));
    std::vector<Capture> runs;
    for (const Padding padding : {Padding::Zero, Padding::Junk, Padding::NaN})
      runs.push_back(capture(graph, TestModel(named.config, {.seed = 11, .padding = padding}), tokens));
    for (size_t i = 0; i < runs[0].values.size(); ++i) {
      CHECK(runs[0].values[i].data == runs[1].values[i].data);
      CHECK(runs[0].values[i].data == runs[2].values[i].data);
    }
  }
}

TEST_CASE("a prefix of the tokens gives the same rows") {
  const ModelConfig config = goldenConfigs()[3].config;
  const TestModel model(config, {.seed = 12});
  const std::vector<int32_t> tokens = makeTokens(config, 17);
  const Capture whole = capture(buildForwardGraph(config), model, tokens);
  const Capture part = capture(buildForwardGraph(config), model, llvm::ArrayRef(tokens).take_front(7));
  const std::vector<double> &all = whole.at("logits").data, &first = part.at("logits").data;
  CHECK(std::vector<double>(all.begin(), all.begin() + static_cast<ptrdiff_t>(first.size())) == first);
}
