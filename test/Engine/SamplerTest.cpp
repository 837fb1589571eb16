//===- SamplerTest.cpp - The next token from logits -----------------------===//
#include "ModelRun.h"
#include "ckjit/Engine/Sampler.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <random>
#include <set>

using namespace ckjit;
using namespace ckjit::test;

namespace {

constexpr int kDraws = 20000;

/// How often each id is drawn, as a share.
std::map<int32_t, double> shares(const SamplerOptions &options, llvm::ArrayRef<float> logits,
                                 llvm::ArrayRef<int32_t> history = {}) {
  Sampler sampler(options);
  std::map<int32_t, double> found;
  for (int i = 0; i < kDraws; ++i)
    found[must(sampler.next(logits, history))] += 1.0 / kDraws;
  return found;
}

/// Five standard deviations of a share of kDraws draws.
double margin(double share) { return 5 * std::sqrt(share * (1 - share) / kDraws); }

float logOf(double p) { return static_cast<float>(std::log(p)); }

/// Probabilities 0.5, 0.2, 0.15, 0.1, 0.05.
const std::vector<float> kLogits = {logOf(0.1), logOf(0.5), logOf(0.05), logOf(0.2), logOf(0.15)};

} // namespace

TEST_CASE("greedy takes the largest logit, the lowest id of equals") {
  Sampler sampler({});
  CHECK(must(sampler.next({0.5f, 2.0f, -1.0f, 2.0f}, {})) == 1);
  CHECK(must(sampler.next({-3.0f}, {})) == 0);
}

TEST_CASE("greedy takes the lowest of the largest wherever they stand, and finds what isn't finite there") {
  Sampler sampler({});
  for (size_t count : {1023u, 1024u, 1025u, 2048u, 5000u})
    for (size_t at : {size_t{0}, size_t{1}, count / 2, count - 2, count - 1}) {
      INFO(at << " of " << count);
      for (float largest : {3.5f, 0.0f, -0.0f, -2.0f, -1e30f}) {
        std::vector<float> logits(count);
        for (size_t i = 0; i < count; ++i)
          logits[i] = (largest > 0 ? -largest : 2 * largest - 1e-3f) - 1e-3f * static_cast<float>(i * 7 % 11);
        logits[at] = largest;
        if (at + 1 < count)
          logits[count - 1] = largest == 0 ? 0.0f : largest; // the zeros are equal
        CHECK(must(sampler.next(logits, {})) == static_cast<int32_t>(at));
        CHECK(must(sampler.next(logits, {})) == std::max_element(logits.begin(), logits.end()) - logits.begin());
      }
      for (float bad : {NAN, -NAN, INFINITY, -INFINITY}) {
        std::vector<float> logits(count, 1.0f);
        logits[at] = bad;
        CHECK_THAT(llvm::toString(sampler.next(logits, {}).takeError()),
                   Catch::Contains("logit of id " + std::to_string(at) + " is"));
      }
    }
}

TEST_CASE("draws follow the softmax at temperature 1, and its power otherwise") {
  for (double temperature : {1.0, 0.5, 2.0}) {
    SamplerOptions options;
    options.temperature = temperature;
    options.seed = 42;
    const std::map<int32_t, double> found = shares(options, kLogits);
    double sum = 0;
    for (float logit : kLogits)
      sum += std::exp(logit / temperature);
    for (int32_t id = 0; id < 5; ++id) {
      const double expected = std::exp(kLogits[static_cast<size_t>(id)] / temperature) / sum;
      INFO("temperature " << temperature << ", id " << id);
      CHECK(std::abs(found.at(id) - expected) <= margin(expected));
    }
  }
}

TEST_CASE("top-k, top-p and min-p cut the tail and keep the proportions") {
  SamplerOptions options;
  options.temperature = 1;
  SamplerOptions k = options, p = options, m = options, one = options;
  k.topK = 2;      // 0.5 and 0.2
  p.topP = 0.71;   // 0.5 + 0.2 < 0.71, so 0.15 too
  m.minP = 0.25;   // at least 0.125
  one.topP = 1e-9; // the likeliest always stays
  CHECK(shares(one, kLogits) == std::map<int32_t, double>{{1, shares(one, kLogits).at(1)}});
  const std::map<int32_t, double> ofK = shares(k, kLogits), ofP = shares(p, kLogits), ofM = shares(m, kLogits);
  CHECK(ofK.size() == 2);
  CHECK(std::abs(ofK.at(1) - 0.5 / 0.7) <= margin(0.5 / 0.7));
  CHECK(ofP.size() == 3);
  CHECK(std::abs(ofP.at(4) - 0.15 / 0.85) <= margin(0.15 / 0.85));
  CHECK(ofM.size() == 3);
  CHECK(std::abs(ofM.at(3) - 0.2 / 0.85) <= margin(0.2 / 0.85));
}

namespace {
/// Logits of a large vocabulary, a few of them far above the others as a trained model's are.
std::vector<float> manyLogits(size_t count) {
  std::mt19937 random(5);
  std::vector<float> logits(count);
  for (size_t id = 0; id < count; ++id)
    logits[id] = static_cast<float>(random() % 4096) / 512.0f + (random() % 256 == 0 ? 6.0f : 0.0f);
  return logits;
}

/// The ids that may be drawn, found by sorting all of them.
std::set<int32_t> keptPlainly(const SamplerOptions &o, const std::vector<float> &logits) {
  std::vector<std::pair<double, int32_t>> all; // negated logit: the likeliest first, the lower id of equals
  for (size_t id = 0; id < logits.size(); ++id)
    all.push_back({-static_cast<double>(logits[id]), static_cast<int32_t>(id)});
  std::sort(all.begin(), all.end());
  if (o.topK > 0 && static_cast<size_t>(o.topK) < all.size())
    all.resize(static_cast<size_t>(o.topK));
  double sum = 0, reached = 0;
  for (const auto &[negated, id] : all)
    sum += std::exp(all.front().first - negated);
  std::set<int32_t> kept;
  for (const auto &[negated, id] : all) {
    const double probability = std::exp(all.front().first - negated);
    if (o.topP < 1 && !kept.empty() && reached >= o.topP * sum)
      break;
    reached += probability;
    if (probability >= o.minP)
      kept.insert(id);
  }
  return kept;
}
} // namespace

TEST_CASE("the cuts of a large vocabulary keep what sorting all of it does") {
  const std::vector<float> logits = manyLogits(3000);
  for (int64_t topK : {0, 1, 64, 65, 300, 5000})
    for (double topP : {1.0, 0.97, 0.6, 0.01})
      for (double minP : {0.0, 0.002, 0.5, 1.0}) {
        INFO("top-k " << topK << ", top-p " << topP << ", min-p " << minP);
        SamplerOptions options;
        options.topK = topK, options.topP = topP, options.minP = minP;
        options.temperature = 1e6; // all that are left are equally likely
        const std::set<int32_t> kept = keptPlainly(options, logits);
        Sampler sampler(options);
        std::set<int32_t> drawn;
        for (size_t i = 0; i < 12 * kept.size() + 20 && (i < 400 || drawn.size() < kept.size()); ++i)
          drawn.insert(must(sampler.next(logits, {})));
        CHECK(std::includes(kept.begin(), kept.end(), drawn.begin(), drawn.end()));
        if (kept.size() <= 100)
          CHECK(drawn == kept);
      }
}

TEST_CASE("a draw from a large vocabulary takes less than sorting it") {
  const std::vector<float> logits = manyLogits(49152);
  constexpr int kTimes = 10;
  std::clock_t start = std::clock();
  for (int i = 0; i < kTimes; ++i) {
    std::vector<std::pair<double, int32_t>> all;
    for (size_t id = 0; id < logits.size(); ++id)
      all.push_back({-static_cast<double>(logits[id]), static_cast<int32_t>(id)});
    std::sort(all.begin(), all.end());
    CHECK(all.front().first <= all.back().first);
  }
  const std::clock_t sorting = std::clock() - start;
  for (auto [topP, minP] : {std::pair(1.0, 0.0), std::pair(0.5, 0.0), std::pair(1.0, 0.05)}) {
    INFO("top-p " << topP << ", min-p " << minP);
    SamplerOptions options;
    options.temperature = 0.8, options.topP = topP, options.minP = minP;
    Sampler sampler(options);
    start = std::clock();
    for (int i = 0; i < kTimes; ++i)
      must(sampler.next(logits, {}));
    CHECK(std::clock() - start < sorting / 2);
  }
}

TEST_CASE("recent ids become less likely, positive and negative logits alike") {
  SamplerOptions options;
  options.repeatPenalty = 2;
  options.repeatLast = 2;
  Sampler sampler(options);
  CHECK(must(sampler.next({3.0f, 2.0f}, {0})) == 1);  // 1.5 against 2
  CHECK(must(sampler.next({-1.0f, -1.5f}, {0})) == 1); // -2 against -1.5
  CHECK(must(sampler.next({3.0f, 2.0f}, {0, 1, 1})) == 0); // id 0 is too long ago
  CHECK(must(sampler.next({3.0f, 2.0f}, {0, 0})) == 1);    // twice counts once: 1.5, not 0.75, but still less
  CHECK(must(sampler.next({3.9f, 1.2f}, {0, 0})) == 0);    // 1.95 against 1.2; twice would be 0.975
}

TEST_CASE("the seed decides the draws") {
  SamplerOptions options;
  options.temperature = 1;
  auto draw = [&](uint64_t seed) {
    options.seed = seed;
    Sampler sampler(options);
    std::vector<int32_t> ids;
    for (int i = 0; i < 50; ++i)
      ids.push_back(must(sampler.next(kLogits, {})));
    return ids;
  };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
}

TEST_CASE("logits that aren't finite and options out of range are refused") {
  Sampler sampler({});
  CHECK_THAT(llvm::toString(sampler.next({0.0f, std::numeric_limits<float>::quiet_NaN()}, {}).takeError()),
             Catch::Contains("logit of id 1 is") && Catch::Contains("finite"));
  auto message = [](auto change) {
    SamplerOptions options;
    change(options);
    return llvm::toString(checkSampler(options));
  };
  CHECK_FALSE(static_cast<bool>(checkSampler({})));
  CHECK_THAT(message([](SamplerOptions &o) { o.temperature = -1; }), Catch::Contains("temp is -1"));
  CHECK_THAT(message([](SamplerOptions &o) { o.temperature = std::nan(""); }), Catch::Contains("temp is"));
  CHECK_THAT(message([](SamplerOptions &o) { o.topP = 0; }), Catch::Contains("top-p is 0"));
  CHECK_THAT(message([](SamplerOptions &o) { o.topP = 1.5; }), Catch::Contains("top-p is 1.5"));
  CHECK_THAT(message([](SamplerOptions &o) { o.topP = 1.001; }), Catch::Contains("top-p is 1.001,"));
  CHECK_THAT(message([](SamplerOptions &o) { o.minP = 2; }), Catch::Contains("min-p is 2"));
  CHECK_THAT(message([](SamplerOptions &o) { o.topK = -3; }), Catch::Contains("top-k is -3,"));
  CHECK_THAT(message([](SamplerOptions &o) { o.repeatPenalty = 0; }), Catch::Contains("repeat-penalty is 0"));
}
