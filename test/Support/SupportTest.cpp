//===- SupportTest.cpp - The tests' own models and graphs -----------------===//
#include "Support/RandomGraph.h"
#include "Support/SplitMix.h"
#include "Support/TestModel.h"
#include "llvm/Support/Error.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace ckjit;
using namespace ckjit::test;

namespace {

int64_t countNan(llvm::ArrayRef<float> values) {
  return std::count_if(values.begin(), values.end(), [](float v) { return std::isnan(v); });
}

/// A number that any change of a graph changes.
uint64_t fingerprint(const CKIRGraph &graph) {
  uint64_t mixed = graph.nodes.size();
  const auto fold = [&](uint64_t value) { mixed = SplitMix(mixed ^ value).next(); };
  for (const CKIRNode &node : graph.nodes) {
    fold(uint64_t(node.id.layer) << 32 | uint64_t(node.id.node) << 16 | uint64_t(node.op) << 8 | node.numOutputs);
    for (const InputRef &ref : node.inputs)
      fold(uint64_t(ref.producer.layer) << 32 | uint64_t(ref.producer.node) << 8 | ref.outIndex);
  }
  return mixed;
}

} // namespace

TEST_CASE("splitmix64 gives the published sequence") {
  SplitMix rng(1234567); // the sequence that the reference C code prints for this seed
  for (uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                            16408922859458223821u})
    CHECK(rng.next() == expected);
}

TEST_CASE("normal numbers have mean 0, variance 1 and bounded size") {
  SplitMix rng(3);
  double sum = 0, squares = 0, largest = 0;
  const int count = 200000;
  for (int i = 0; i < count; ++i) {
    const double value = rng.normal();
    sum += value;
    squares += value * value;
    largest = std::max(largest, std::abs(value));
  }
  CHECK(sum / count == Approx(0).margin(0.01));
  CHECK(squares / count == Approx(1).margin(0.01));
  CHECK(largest < 3.5);
}

TEST_CASE("padding stands exactly in the lanes beyond the dims") {
  const ModelConfig c = goldenConfigs()[3].config; // D 60, hd 20, I 100, H 3, K 3, V 257, C 17
  const TestModel model(c, {.padding = Padding::NaN});
  const auto check = [&](const char *name, int layer, int64_t elements, int64_t logical) {
    INFO(name);
    const llvm::ArrayRef<float> tensor = model.tensor(name, layer);
    CHECK(tensor.size() == static_cast<size_t>(elements));
    CHECK(countNan(tensor) == elements - logical);
  };
  check("token_emb", -1, 257 * 64, 257 * 60);
  check("pos_emb", -1, 17 * 64, 17 * 60);
  check("ln1_gamma", 1, 64, 60);
  check("wq", 0, 3 * 32 * 64, 60 * 60);
  check("bk", 0, 3 * 32, 60);
  check("wo", 1, 3 * 64 * 32, 60 * 60);
  check("w1", 0, 2 * 112 * 64, 200 * 60);
  check("b1", 0, 2 * 112, 200);
  check("w2", 0, 64 * 112, 60 * 100);
  check("final_ln_bias", -1, 64, 60);
  CHECK(std::isnan(model.tensor("b1", 0)[100]));
  CHECK_FALSE(std::isnan(model.tensor("b1", 0)[112]));
}

TEST_CASE("padding agrees with the layout's logical runs") {
  for (const NamedConfig &named : smallConfigs()) {
    const TestModel model(named.config, {.padding = Padding::NaN});
    for (const TensorSpec &spec : model.specs()) {
      INFO(named.name << " " << spec.name);
      std::vector<bool> logical(static_cast<size_t>(spec.elements()), false);
      spec.forEachLogicalRun([&](int64_t first, int64_t count) {
        std::fill_n(logical.begin() + first, count, true);
      });
      const llvm::ArrayRef<float> tensor = model.tensor(spec.name, spec.layer);
      REQUIRE(tensor.size() == logical.size());
      size_t differing = 0;
      for (size_t i = 0; i < tensor.size(); ++i)
        differing += std::isnan(tensor[i]) == logical[i];
      CHECK(differing == 0);
    }
  }
}

TEST_CASE("logical values don't depend on the padding, and zero padding is zero") {
  const ModelConfig config = goldenConfigs()[3].config;
  const TestModel zero(config, {.seed = 5}), junk(config, {.seed = 5, .padding = Padding::Junk}),
      nan(config, {.seed = 5, .padding = Padding::NaN});
  for (const TensorSpec &spec : zero.specs()) {
    const llvm::ArrayRef<float> a = zero.tensor(spec.name, spec.layer), b = junk.tensor(spec.name, spec.layer),
                                c = nan.tensor(spec.name, spec.layer);
    size_t wrong = 0, zeros = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      wrong += std::isnan(c[i]) ? a[i] != 0 || std::abs(b[i]) < 1 : a[i] != b[i] || a[i] != c[i];
      zeros += !std::isnan(c[i]) && a[i] == 0;
    }
    INFO(spec.name);
    CHECK(wrong == 0);
    CHECK(zeros <= a.size() / 1000);
  }
}

TEST_CASE("a seed is the same model everywhere, and another seed is another one") {
  const ModelConfig config = goldenConfigs()[0].config;
  const TestModel model(config, {.seed = 1}), other(config, {.seed = 2});
  CHECK(model.tensor("token_emb", -1)[0] == -0.2257566601f);
  CHECK(model.tensor("w2", 1)[77] == -0.2829045355f);
  CHECK(model.tensor("wq", 0)[0] != other.tensor("wq", 0)[0]);
  CHECK(model.tensor("wq", 0)[0] != model.tensor("wq", 1)[0]);
  CHECK(makeTokens(config, 4, 1) == std::vector<int32_t>{193, 103, 94, 11});
}

TEST_CASE("lookup and copy give the tensors, null for an unknown one") {
  const TestModel model(goldenConfigs()[1].config);
  CHECK(model("nothing", 0) == nullptr);
  CHECK(model("wq", 1) == nullptr); // one layer only
  CHECK(model("wq", 0) == model.tensor("wq", 0).data());
  for (const TensorSpec &spec : model.specs()) {
    std::vector<float> copy(static_cast<size_t>(spec.elements()));
    model.copyTensor(spec, copy.data());
    CHECK(llvm::ArrayRef<float>(copy) == model.tensor(spec.name, spec.layer));
  }
}

TEST_CASE("small configs are valid and differently named") {
  std::set<std::string> names;
  for (const NamedConfig &named : smallConfigs()) {
    INFO(named.name);
    CHECK(names.insert(named.name).second);
    CHECK(toString(validateConfig(named.config, named.name)).empty());
  }
}

TEST_CASE("about half of the random graphs are programs, and both judges say the same") {
  for (const NamedConfig &named : smallConfigs()) {
    int programs = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const CKIRGraph graph = makeRandomGraph(named.config, seed);
      llvm::Expected<std::vector<ValueKind>> kinds = validateGraph(graph, "random");
      const bool accepted = static_cast<bool>(kinds);
      const std::string message = kinds ? "" : toString(kinds.takeError());
      INFO(named.name << " seed " << seed << ": " << message << "\n" << dumpGraph(graph));
      CHECK(accepted == isProgram(graph));
      if (accepted)
        CHECK(kinds->size() == graph.nodes.size());
      programs += accepted;
    }
    INFO(named.name);
    CHECK(programs >= 100);
    CHECK(programs <= 120);
  }
}

TEST_CASE("random graphs are varied and the same everywhere") {
  const ModelConfig config = goldenConfigs()[0].config;
  std::set<uint64_t> distinct;
  uint64_t all = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const uint64_t one = fingerprint(makeRandomGraph(config, seed));
    CHECK(one == fingerprint(makeRandomGraph(config, seed)));
    distinct.insert(one);
    all = SplitMix(all ^ one).next();
  }
  CHECK(distinct.size() >= 170);
  CHECK(all == 14822098959551653849u);
}
