//===- RowsAttentionTest.cpp - Attention of few tokens, in double loops ---===//
#include "RowsRun.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using llvm::formatv;

namespace {

/// Floats behind the weighted sum in a part: the maximum and the sum (ck.attention_part).
constexpr int64_t kState = 16;

struct Heads {
  int64_t query, kv, dim;
  const TargetDescription &target;
  bool strict;
  int64_t keys = 128;
  int64_t padded() const { return (dim + 15) / 16 * 16; }
  int64_t blocks() const { return (kRowsContext + keys - 1) / keys; }
  int64_t width() const { return query * dim; }
  std::string text() const {
    return formatv("{0}: heads {1} of {2} x {3}, blocks of {4} keys, strict {5}", target.cpu, query, kv, dim, keys,
                   strict)
        .str();
  }
};

KernelText inputs(const Heads &h) {
  KernelText text;
  text.in("q", {kMostRows, h.width()}).out("y", {kMostRows, h.width()});
  text.in("k", {h.kv, kRowsContext, h.padded()}).in("v", {h.kv, kRowsContext, h.padded()});
  return text;
}

/// The two halves, with the parts in between to be looked at.
KernelText halves(const Heads &h) {
  KernelText text = inputs(h);
  text.out("parts", {kMostRows, h.query, h.blocks(), h.padded() + kState});
  const std::string attributes = formatv("heads {0} head_dim {1} keys {2}", h.query, h.dim, h.keys).str();
  text.op("ck.attention_part ins(%q, %k, %v : $q, $k, $v) outs(%parts : $parts) " + attributes);
  text.op("ck.attention_merge ins(%parts : $parts) outs(%y : $y) " + attributes);
  return text;
}

/// A query row's scores and what one of them may be off by: hd products, the scale, and that scale's own rounding.
struct Scores {
  std::vector<double> values;
  double worst = 0;
};

Scores scoresOf(KernelRun &run, const Heads &h, int64_t head, int64_t token, int64_t position) {
  const float *keys = run.floats("k") + head * h.kv / h.query * kRowsContext * h.padded();
  const float *q = run.floats("q") + token * h.width() + head * h.dim;
  const double scale = 1 / std::sqrt(static_cast<double>(h.dim));
  Scores scores;
  for (int64_t j = 0; j <= position; ++j) {
    Exact dot;
    for (int64_t d = 0; d < h.dim; ++d)
      dot.addProduct(q[d], keys[j * h.padded() + d]);
    scores.values.push_back(dot.value * scale);
    scores.worst = std::max(scores.worst, scale * dot.allowed((h.strict ? 0 : h.dim) + 3));
  }
  return scores;
}

/// One row of one head. The result is a mean of values, so a weight that is off by a share moves it by that share of
/// the mean magnitude: twice the scores' error (numerator and sum), two exps of 2 ulp, and the sums over the keys.
void checkRow(KernelRun &run, const Heads &h, int64_t head, int64_t token, int64_t position, WorstElement &worst) {
  const float *values = run.floats("v") + head * h.kv / h.query * kRowsContext * h.padded();
  const Scores scores = scoresOf(run, h, head, token, position);
  const double top = *std::max_element(scores.values.begin(), scores.values.end());
  double sum = 0;
  for (double score : scores.values)
    sum += std::exp(score - top);
  const double share = 2 * scores.worst + static_cast<double>(2 * position + 16) * kRounding;
  for (int64_t d = 0; d < h.dim; ++d) {
    Exact mean;
    for (int64_t j = 0; j <= position; ++j)
      mean.add(std::exp(scores.values[static_cast<size_t>(j)] - top) / sum *
               static_cast<double>(values[j * h.padded() + d]));
    worst.compare(run.floats("y")[token * h.width() + head * h.dim + d], mean.value, share * mean.magnitude + 1e-30,
                  token, head * h.dim + d);
  }
}

/// Keys and values from `tokens` on, and the padding of all, are NaN, so that touching one shows.
void fillCache(KernelRun &run, const Heads &h, int64_t tokens) {
  for (const char *name : {"k", "v"}) {
    std::fill_n(run.floats(name), run.size(name), std::nanf(""));
    for (int64_t g = 0; g < h.kv; ++g)
      for (int64_t t = 0; t < tokens; ++t)
        run.fillPart(name, (g * kRowsContext + t) * h.padded(), h.dim, static_cast<uint64_t>(g * 1000 + t + *name));
  }
}

void checkResults(KernelRun &run, const Heads &h, int64_t tokens, int64_t position) {
  fillCache(run, h, position + tokens);
  run.poisonOutputs();
  run.run(tokens, 0, 3, position);
  WorstElement worst;
  for (int64_t head = 0; head < h.query; ++head)
    for (int64_t t = 0; t < tokens; ++t)
      checkRow(run, h, head, t, position + t, worst);
  const float *y = run.floats("y");
  INFO("tokens " << tokens << ", position " << position << ", " << worst.text());
  CHECK(worst.fits());
  CHECK(worst.count() == h.width() * tokens);
  CHECK(std::count_if(y, y + run.size("y"), [](float v) { return !std::isnan(v); }) == h.width() * tokens);
}

/// Maximum and sum of exp(s - maximum) of each block that a token sees; of the others nothing is written.
void checkParts(KernelRun &run, const Heads &h, int64_t tokens, int64_t position) {
  WorstElement worst;
  int64_t touched = 0;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t head = 0; head < h.query; ++head) {
      const Scores scores = scoresOf(run, h, head, t, position + t);
      for (int64_t c = 0; c < h.blocks(); ++c) {
        const int64_t row = (t * h.query + head) * h.blocks() + c;
        const float *state = run.floats("parts") + row * (h.padded() + kState) + h.padded();
        const auto first = std::min(scores.values.size(), static_cast<size_t>(c * h.keys));
        const auto last = std::min(scores.values.size(), static_cast<size_t>((c + 1) * h.keys));
        const llvm::ArrayRef<double> block = llvm::ArrayRef(scores.values).slice(first, last - first);
        if (block.empty()) {
          touched += std::count_if(state, state + 2, [](float v) { return !std::isnan(v); });
          continue;
        }
        const double top = *std::max_element(block.begin(), block.end());
        double sum = 0;
        for (double score : block)
          sum += std::exp(score - top);
        worst.compare(state[0], top, scores.worst, row, 0);
        worst.compare(state[1], sum, (2 * scores.worst + static_cast<double>(h.keys + 8) * kRounding) * sum, row, 1);
      }
    }
  INFO("parts: tokens " << tokens << ", position " << position << ", " << worst.text());
  CHECK(worst.fits());
  CHECK(touched == 0);
}

std::vector<float> resultOf(KernelRun &run, const Heads &h, int64_t row) {
  const float *y = run.floats("y") + row * h.width();
  return std::vector<float>(y, y + h.width());
}

void checkAttention(const Heads &h) {
  INFO(h.text());
  KernelRun run(halves(h), h.strict, h.target);
  run.fill("q", 1, 2.0f);
  int64_t tokens = 0;
  for (int64_t position : kPositions) {
    tokens = tokens % kMostRows + 1;
    checkResults(run, h, tokens, position);
    checkParts(run, h, tokens, position);
  }
  // Tokens 127 to 130: the block of the last two begins between them.
  fillCache(run, h, 127 + kMostRows);
  checkSameBits(run, {{"q", h.width()}}, kMostRows, 127, [&](int64_t row, int64_t) { return resultOf(run, h, row); });
}

} // namespace

TEST_CASE("rows: attention for any grouping and size of heads") {
  for (const TargetDescription &target : rowsTargets())
    for (bool strict : {false, true})
      for (int64_t group : {1, 3, 8})
        for (int64_t dim : {1, 2, 7, 20, 33, 64, 128, 256})
          checkAttention({group * (dim < 64 ? 2 : 1), dim < 64 ? 2 : 1, dim, target, strict});
}

TEST_CASE("rows: attention over blocks of any number of keys") {
  for (const TargetDescription &target : rowsTargets())
    for (int64_t keys : {1, 3, 7, 16, 100, 200})
      checkAttention({6, 2, 20, target, keys == 7, keys});
}

TEST_CASE("rows: attention splits itself and needs no buffer for its parts") {
  for (const TargetDescription &target : rowsTargets()) {
    const Heads h{6, 2, 20, target, false};
    KernelText text = inputs(h).rows();
    text.op("ck.attention ins(%q, %k, %v : $q, $k, $v) outs(%y : $y) heads 6 head_dim 20");
    KernelRun run(text, false, target);
    run.fill("q", 1, 2.0f);
    for (int64_t position : kPositions)
      checkResults(run, h, kMostRows, position);
    checkSameBits(run, {{"q", h.width()}}, kMostRows, 127, [&](int64_t row, int64_t) { return resultOf(run, h, row); });
  }
}

TEST_CASE("rows: attention survives scores far apart, also between blocks") {
  for (const TargetDescription &target : rowsTargets()) {
    const Heads h{1, 1, 4, target, false, 16};
    KernelRun run(halves(h), false, target);
    run.fill("q", 1, 1000.0f);
    const int64_t position = kRowsContext - kMostRows;
    fillCache(run, h, kRowsContext);
    for (int64_t t = 0; t < kRowsContext; ++t)
      for (int64_t d = 0; d < h.dim; ++d)
        run.floats("k")[t * h.padded() + d] *= 10.0f;
    run.run(kMostRows, 0, 2, position);
    // Scores of several 10^4: one key has all the weight, so a result is that key's value.
    int64_t wrong = 0;
    for (int64_t t = 0; t < kMostRows; ++t) {
      const Scores scores = scoresOf(run, h, 0, t, position + t);
      const auto best = std::max_element(scores.values.begin(), scores.values.end());
      for (int64_t d = 0; d < h.dim; ++d) {
        double mean = 0, sum = 0;
        for (size_t j = 0; j < scores.values.size(); ++j) {
          const double weight = std::exp(scores.values[j] - *best);
          sum += weight;
          mean += weight * static_cast<double>(run.floats("v")[static_cast<int64_t>(j) * h.padded() + d]);
        }
        // A score of 3e4 is known to 2e-3 at best, and with it a weight.
        wrong += !(std::abs(static_cast<double>(run.floats("y")[t * h.dim + d]) - mean / sum) <= 0.05);
      }
    }
    INFO(target.cpu);
    CHECK(wrong == 0);
  }
}
