//===- RandomGraphTest.cpp - Seeded graphs against the reference ----------===//
#include "Support/RandomGraph.h"
#include "ModelRun.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace ckjit;
using namespace ckjit::test;

namespace {

constexpr uint64_t kSeeds = 200;
/// A graph may square or exponentiate what it likes: beyond this fp32 has no digits left to compare.
constexpr double kLargestCompared = 1e4;
/// Share of the largest |logit|: edited graphs feed norms and softmax with values several times the usual size, which
/// magnifies roundings (6e-8 each) by the same factor. 4e-6 is the most seen.
constexpr double kShare = 2e-5;

struct Outcome {
  enum Kind { Refused, Agrees, Differs, NotComparable, Broken } kind = Broken;
  std::string text;
  double share = 0; ///< largest difference, of the largest |logit|
};

Outcome compareWithReference(const CKIRGraph &graph, const CompileOptions &options, const TestModel &weights) {
  const std::vector<int32_t> tokens = makeTokens(graph.config, hostLanes() + 1, 11);
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
  return {share <= kShare ? Outcome::Agrees : Outcome::Differs, distance.text(), share};
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
        outcomes[seed] = tryGraph(makeRandomGraph(config, seed), modeOptions(seed), weights);
      } catch (const std::exception &error) {
        outcomes[seed] = {Outcome::Broken, error.what()};
      }
  };
  std::thread other(work);
  work();
  other.join();
  return outcomes;
}

} // namespace

TEST_CASE("200 random graphs are refused with a message or agree with the reference") {
  const std::vector<Outcome> outcomes = tryAllSeeds(tinyConfig());
  int counts[5] = {};
  double worst = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome &outcome = outcomes[seed];
    ++counts[outcome.kind];
    worst = std::max(worst, outcome.share);
    if (outcome.kind == Outcome::Differs || outcome.kind == Outcome::Broken) {
      const CKIRGraph graph = makeRandomGraph(tinyConfig(), seed);
      FAIL_CHECK("seed " << seed << ": " << outcome.text << "\n" << dumpGraph(graph));
    }
  }
  INFO("refused " << counts[Outcome::Refused] << ", agree " << counts[Outcome::Agrees] << ", not comparable "
                  << counts[Outcome::NotComparable] << ", worst share " << worst);
  CHECK(counts[Outcome::Refused] == 93); // RandomGraph.h: 107 of 200 are programs
  CHECK(counts[Outcome::NotComparable] <= 2);
  CHECK(counts[Outcome::Agrees] >= 105);
}
