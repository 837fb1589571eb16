//===- AttentionTest.cpp - Causal attention against a plain double loop ---===//
#include "KernelRun.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace ckjit::test;
using llvm::formatv;

namespace {

constexpr int64_t kContext = 100;

struct Heads {
  int64_t query, kv, dim;
  bool strict = false;
  int64_t padded() const { return (dim + 15) / 16 * 16; }
};

KernelText attention(const Heads &h, int64_t context = kContext) {
  const int64_t panels = panelsFor(context);
  KernelText text;
  text.in("q", {panels, h.query * h.dim, hostLanes()}).out("y", {panels, h.query * h.dim, hostLanes()});
  text.in("k", {h.kv, context, h.padded()}).in("v", {h.kv, context, h.padded()});
  text.op(
      formatv("ck.attention ins(%q, %k, %v : $q, $k, $v) outs(%y : $y) heads {0} head_dim {1}", h.query, h.dim).str());
  return text;
}

/// A query row's scores and what one of them may be off by: hd products, the scale, and that scale's own rounding.
struct Scores {
  std::vector<double> values;
  double worst = 0;
};

Scores scoresOf(KernelRun &run, const Heads &h, int64_t head, int64_t token) {
  const float *keys = run.floats("k") + head * h.kv / h.query * kContext * h.padded();
  const Panels q = run.panels("q", h.query * h.dim);
  const double scale = 1 / std::sqrt(static_cast<double>(h.dim));
  Scores scores;
  for (int64_t j = 0; j <= token; ++j) {
    Exact dot;
    for (int64_t d = 0; d < h.dim; ++d)
      dot.addProduct(q.at(token, head * h.dim + d), keys[j * h.padded() + d]);
    scores.values.push_back(dot.value * scale);
    scores.worst = std::max(scores.worst, scale * dot.allowed((h.strict ? 0 : h.dim) + 3));
  }
  return scores;
}

/// One row of one head. The result is a mean of values, so a weight that is off by a share moves it by that share of
/// the mean magnitude: twice the scores' error (numerator and sum), exp's 2 ulp, and the sums over the keys.
void checkRow(KernelRun &run, const Heads &h, int64_t head, int64_t token, WorstElement &worst) {
  const float *values = run.floats("v") + head * h.kv / h.query * kContext * h.padded();
  const Panels y = run.panels("y", h.query * h.dim);
  const Scores scores = scoresOf(run, h, head, token);
  const double top = *std::max_element(scores.values.begin(), scores.values.end());
  double sum = 0;
  for (double score : scores.values)
    sum += std::exp(score - top);
  const double share = 2 * scores.worst + static_cast<double>(2 * token + 16) * kRounding;
  for (int64_t d = 0; d < h.dim; ++d) {
    Exact mean;
    for (int64_t j = 0; j <= token; ++j)
      mean.add(std::exp(scores.values[j] - top) / sum * static_cast<double>(values[j * h.padded() + d]));
    worst.compare(y.at(token, head * h.dim + d), mean.value, share * mean.magnitude + 1e-30, token, head * h.dim + d);
  }
}

/// Keys and values of tokens that don't exist are NaN, so that touching one shows.
void fillCache(KernelRun &run, const Heads &h, int64_t tokens) {
  for (const char *name : {"k", "v"}) {
    std::fill_n(run.floats(name), run.size(name), std::nanf(""));
    for (int64_t g = 0; g < h.kv; ++g)
      for (int64_t t = 0; t < tokens; ++t)
        run.fillPart(name, (g * kContext + t) * h.padded(), h.dim, static_cast<uint64_t>(g * 1000 + t + *name));
  }
}

void checkAttention(const Heads &h) {
  KernelRun run(attention(h), h.strict);
  std::fill_n(run.floats("q"), run.size("q"), std::nanf(""));
  run.fillPanels("q", h.query * h.dim, kContext, 1, 2.0f);
  for (int64_t tokens : {1, 15, 16, 17, 64, 65, 100}) {
    fillCache(run, h, tokens);
    run.poisonOutputs();
    run.run(tokens, 0, 3);
    WorstElement worst;
    for (int64_t head = 0; head < h.query; ++head)
      for (int64_t t = 0; t < tokens; ++t)
        checkRow(run, h, head, t, worst);
    INFO("heads " << h.query << " of " << h.kv << " x " << h.dim << ", tokens " << tokens << ", strict " << h.strict
                  << ", " << worst.text());
    CHECK(worst.fits());
    CHECK(worst.count() == h.query * h.dim * tokens);
  }
}

} // namespace

TEST_CASE("attention for any grouping of heads") {
  const Heads cases[] = {{1, 1, 2},       {1, 1, 64},       {2, 1, 8},       {2, 2, 20},      {3, 1, 20},
                         {3, 3, 2},       {6, 1, 8},        {6, 2, 20},      {6, 3, 2},       {8, 1, 2},
                         {8, 2, 64},      {8, 4, 8},        {8, 8, 20},      {6, 6, 64},      {1, 1, 20, true},
                         {3, 3, 8, true}, {6, 2, 20, true}, {8, 2, 2, true}, {2, 1, 64, true}};
  for (const Heads &heads : cases)
    checkAttention(heads);
}

TEST_CASE("attention gives the same bits on any number of threads and for any number of tokens after a query") {
  const Heads heads{6, 2, 20};
  KernelRun run(attention(heads));
  run.fillPanels("q", heads.query * heads.dim, kContext, 1);
  fillCache(run, heads, kContext);
  run.run(kContext);
  const std::vector<float> alone(run.floats("y"), run.floats("y") + run.size("y"));
  for (unsigned threads : {2u, 3u, 5u, 8u}) {
    INFO("threads " << threads);
    run.poisonOutputs();
    run.run(kContext, 0, threads);
    CHECK(std::memcmp(alone.data(), run.floats("y"), alone.size() * sizeof(float)) == 0);
  }
  run.poisonOutputs();
  run.run(65, 0, 2);
  int64_t different = 0;
  const Panels full(const_cast<float *>(alone.data()), heads.query * heads.dim),
      part = run.panels("y", heads.query * heads.dim);
  for (int64_t t = 0; t < 65; ++t)
    for (int64_t f = 0; f < heads.query * heads.dim; ++f)
      different += full.at(t, f) != part.at(t, f);
  CHECK(different == 0);
}

TEST_CASE("attention survives scores far apart") {
  const Heads heads{1, 1, 4};
  KernelRun run(attention(heads));
  run.fillPanels("q", heads.dim, kContext, 1, 1000.0f);
  fillCache(run, heads, kContext);
  for (int64_t t = 0; t < kContext; ++t)
    for (int64_t d = 0; d < heads.dim; ++d)
      run.floats("k")[t * heads.padded() + d] *= 10.0f;
  run.run(kContext);
  // Scores of several 10^4: one key has all the weight, so a result is that key's value.
  int64_t wrong = 0;
  for (int64_t t = 0; t < kContext; ++t) {
    const Scores scores = scoresOf(run, heads, 0, t);
    const int64_t best = std::max_element(scores.values.begin(), scores.values.end()) - scores.values.begin();
    for (int64_t d = 0; d < heads.dim; ++d) {
      double mean = 0, sum = 0;
      for (int64_t j = 0; j <= t; ++j)
        sum += std::exp(scores.values[j] - scores.values[best]);
      for (int64_t j = 0; j <= t; ++j)
        mean += std::exp(scores.values[j] - scores.values[best]) / sum *
                static_cast<double>(run.floats("v")[j * heads.padded() + d]);
      // A score of 3e4 is known to 2e-3 at best, and with it a weight.
      wrong += !(std::abs(static_cast<double>(run.panels("y", heads.dim).at(t, d)) - mean) <= 0.05);
    }
  }
  CHECK(wrong == 0);
}
