//===- CrossEntropyTest.cpp - Loss of a row of logits ---------------------===//
#include "KernelRun.h"
#include "Support/SplitMix.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

using namespace ckjit::test;

namespace {

constexpr int64_t kContext = 9;
constexpr int32_t kIgnored = -100;

KernelText crossEntropy(int64_t vocab) {
  KernelText text;
  text.in("x", {kContext, vocab}).in("targets", {kContext}, "i32").out("loss", {kContext});
  text.op("ck.cross_entropy ins(%x, %targets : $x, $targets) outs(%loss : $loss)");
  return text;
}

double lossOf(const float *row, int64_t vocab, int32_t target) {
  const double top = *std::max_element(row, row + vocab);
  double sum = 0;
  for (int64_t v = 0; v < vocab; ++v)
    sum += std::exp(static_cast<double>(row[v]) - top);
  return std::log(sum) + top - static_cast<double>(row[target]);
}

/// The sum holds V terms with exp's 2 ulp and the rounding of x - max, of at most the size of the logits; log + max is
/// rounded at the size of the largest logit.
double allowed(const float *row, int64_t vocab, bool strict) {
  double top = 0;
  for (int64_t v = 0; v < vocab; ++v)
    top = std::max(top, std::abs(static_cast<double>(row[v])));
  const double chain = static_cast<double>(vocab) / static_cast<double>(hostLanes()) + static_cast<double>(hostLanes());
  return (chain + (strict ? 4 : 8) + 3 * top) * kRounding;
}

void checkLosses(KernelRun &run, int64_t vocab, int64_t tokens, int64_t first, bool strict) {
  run.poisonOutputs();
  run.run(tokens, first, 2);
  WorstElement worst;
  int64_t touched = 0;
  for (int64_t t = 0; t < kContext; ++t) {
    const float *row = run.floats("x") + t * vocab, found = run.floats("loss")[t];
    const int32_t target = run.ints("targets")[t];
    if (t < first || t >= tokens) {
      touched += !std::isnan(found);
      continue;
    }
    const double exact = target == kIgnored ? 0 : lossOf(row, vocab, target);
    worst.compare(found, exact, target == kIgnored ? 0 : allowed(row, vocab, strict), t, target);
  }
  INFO("V " << vocab << ", tokens " << tokens << ", first row " << first << ", " << worst.text());
  CHECK(worst.fits());
  CHECK(touched == 0);
}

} // namespace

TEST_CASE("cross entropy over any vocabulary") {
  const int64_t l = hostLanes();
  for (int64_t vocab : {int64_t{1}, int64_t{2}, l - 1, l, l + 1, 2 * l - 1, 2 * l, int64_t{127}, int64_t{1009}})
    for (bool strict : {false, true}) {
      KernelRun run(crossEntropy(vocab), strict);
      for (float scale : {0.0f, 1.0f, 10.0f, 1e4f}) {
        run.fill("x", static_cast<uint64_t>(vocab), scale);
        SplitMix rng(5);
        for (int64_t t = 0; t < kContext; ++t)
          run.ints("targets")[t] =
              t % 3 == 1 ? kIgnored : static_cast<int32_t>(rng.below(static_cast<uint64_t>(vocab)));
        INFO("scale " << scale << ", strict " << strict);
        checkLosses(run, vocab, kContext, 0, strict);
        checkLosses(run, vocab, 4, 3, strict);
      }
    }
}

TEST_CASE("cross entropy where one logit stands alone") {
  constexpr int64_t vocab = 37;
  KernelRun run(crossEntropy(vocab));
  for (int64_t t = 0; t < kContext; ++t) {
    std::fill_n(run.floats("x") + t * vocab, vocab, t % 2 ? -1e4f : 1e4f);
    run.floats("x")[t * vocab + 4 * t] = t % 2 ? 1e4f : -1e4f; // also in the lanes behind the last full vector
    run.ints("targets")[t] = static_cast<int32_t>(t % 3 == 0 ? 4 * t : 36 - 4 * t);
  }
  checkLosses(run, vocab, kContext, 0, false);
  CHECK(run.floats("loss")[3] == 0.0f);                                            // the lone high logit is the target
  CHECK(run.floats("loss")[0] == Approx(2e4 + std::log(vocab - 1)).epsilon(1e-6)); // the lone low one
}

TEST_CASE("cross entropy never looks up an ignored target") {
  constexpr int64_t vocab = 5;
  KernelRun run(crossEntropy(vocab));
  run.fill("x", 1);
  std::fill_n(run.ints("targets"), kContext, kIgnored);
  run.run(kContext);
  for (int64_t t = 0; t < kContext; ++t)
    CHECK(run.floats("loss")[t] == 0.0f);
}

TEST_CASE("cross entropy gives the same bits on any number of threads") {
  constexpr int64_t vocab = 1009;
  KernelRun run(crossEntropy(vocab));
  run.fill("x", 1, 3.0f);
  for (int64_t t = 0; t < kContext; ++t)
    run.ints("targets")[t] = static_cast<int32_t>(t * 100);
  run.run(kContext);
  const std::vector<float> alone(run.floats("loss"), run.floats("loss") + kContext);
  for (unsigned threads : {2u, 3u, 5u, 8u}) {
    run.poisonOutputs();
    run.run(kContext, 0, threads);
    CHECK(std::memcmp(alone.data(), run.floats("loss"), kContext * sizeof(float)) == 0);
  }
}

TEST_CASE("a NaN among the logits is a NaN loss, wherever it stands") {
  const int64_t vocab = 2 * hostLanes() + 3;
  for (bool strict : {false, true})
    for (int64_t place : {int64_t{0}, hostLanes(), vocab - 1}) {
      KernelRun run(crossEntropy(vocab), strict);
      run.fill("x", 1, 1.0f);
      std::fill_n(run.ints("targets"), kContext, 1);
      run.floats("x")[2 * vocab + place] = std::numeric_limits<float>::quiet_NaN();
      run.run(kContext);
      INFO("place " << place << ", strict " << strict);
      CHECK(std::isnan(run.floats("loss")[2]));
      CHECK(std::isfinite(run.floats("loss")[1]));
      CHECK(std::isfinite(run.floats("loss")[3]));
    }
}
