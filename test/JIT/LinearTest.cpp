//===- LinearTest.cpp - Matrix kernels against plain double loops ---------===//
#include "KernelRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace ckjit::test;
using llvm::formatv;

namespace {

struct Shape {
  int64_t rows, depth, tokens, extraRows = 0, extraDepth = 0;
  int64_t paddedRows() const { return rows + extraRows; }
  int64_t paddedDepth() const { return depth + extraDepth; }
};

/// Odd in every direction: one of all, primes, one beside the panel, tiles and blocks that don't divide.
std::vector<Shape> awkwardShapes() {
  const int64_t lanes = hostLanes();
  return {{1, 1, 1},
          {1, 3, 2, 15, 13},
          {3, 1, lanes - 1},
          {7, 5, lanes, 9, 11},
          {16, 16, lanes + 1},
          {17, 33, 2 * lanes + 3, 15, 15},
          {31, 64, 3 * lanes},
          {5, 129, 3 * lanes + 1, 0, 15},
          {64, 48, 4 * lanes - 1},
          {37, 257, 7 * lanes + 5, 11, 15}};
}

/// x[t] . w, from feature `first` on.
Exact dot(Panels x, int64_t token, const float *row, int64_t depth, int64_t first = 0) {
  Exact sum;
  for (int64_t k = 0; k < depth; ++k)
    sum.addProduct(x.at(token, first + k), row[k]);
  return sum;
}

/// Roundings on the way to a result: the sum's (none when it is taken in double) and `after` more.
int64_t roundings(int64_t depth, bool strict, int64_t after = 3) { return (strict ? 0 : depth) + after; }

std::string describe(const Shape &s, bool strict) {
  return formatv("rows {0}, depth {1}, tokens {2}, strict {3}", s.rows, s.depth, s.tokens, strict).str();
}

template <typename Check> void forShapes(Check check) {
  for (const Shape &shape : awkwardShapes())
    for (bool strict : {false, true}) {
      INFO(describe(shape, strict));
      check(shape, strict);
    }
}

void checkLinear(const Shape &s, bool strict, bool residual) {
  const int64_t panels = panelsFor(s.tokens), lanes = hostLanes();
  KernelText text;
  text.in("x", {panels, s.depth, lanes}).in("w", {s.paddedRows(), s.paddedDepth()}).in("b", {s.paddedRows()});
  text.in("r", {panels, s.rows, lanes}).out("y", {panels, s.rows, lanes});
  text.op(formatv("ck.linear ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) rows {1} depth {2}",
                  residual ? "residual(%r : $r)" : "", s.rows, s.depth)
              .str());
  KernelRun run(text, strict);
  run.fillPanels("x", s.depth, s.tokens, 1);
  run.fillWeight("w", {1, s.paddedRows(), s.paddedDepth()}, s.rows, s.depth, 2);
  run.fillWeight("b", {1, 1, s.paddedRows()}, 1, s.rows, 3);
  run.fillPanels("r", s.rows, s.tokens, 4);
  run.run(s.tokens, 0, 2);
  WorstElement worst;
  const Panels x = run.panels("x", s.depth), y = run.panels("y", s.rows), r = run.panels("r", s.rows);
  for (int64_t t = 0; t < s.tokens; ++t)
    for (int64_t n = 0; n < s.rows; ++n) {
      Exact exact = dot(x, t, run.floats("w") + n * s.paddedDepth(), s.depth);
      exact.add(run.floats("b")[n]);
      if (residual)
        exact.add(r.at(t, n));
      worst.compare(y.at(t, n), exact.value, exact.allowed(roundings(s.depth, strict)), t, n);
    }
  INFO(worst.text());
  CHECK(worst.fits());
}

/// Rotates (a, b) of one head: (a c - b s, a s + b c).
std::pair<Exact, Exact> rotated(const Exact &a, const Exact &b, double c, double s) {
  const double magnitude = std::abs(c) * a.magnitude + std::abs(s) * b.magnitude;
  const double other = std::abs(s) * a.magnitude + std::abs(c) * b.magnitude;
  return {{a.value * c - b.value * s, magnitude}, {a.value * s + b.value * c, other}};
}

struct Heads {
  int64_t groups, dim, padded, depth, paddedDepth, tokens, context;
};

std::vector<Heads> awkwardHeads() {
  const int64_t lanes = hostLanes();
  return {{1, 2, 16, 2, 16, 1, 1},
          {3, 2, 16, 7, 16, lanes + 1, lanes + 5},
          {2, 6, 16, 33, 48, 2 * lanes - 1, 2 * lanes},
          {5, 20, 32, 60, 64, lanes, 2 * lanes + 3},
          {1, 64, 64, 48, 48, 3 * lanes + 2, 3 * lanes + 2}};
}

/// What head `g` holds at `token`, bias added and rotated when the tables are there.
std::vector<Exact> headOf(KernelRun &run, const Heads &h, int64_t g, int64_t token, bool rope) {
  std::vector<Exact> values;
  for (int64_t i = 0; i < h.dim; ++i) {
    const float *row = run.floats("w") + (g * h.padded + i) * h.paddedDepth;
    values.push_back(dot(run.panels("x", h.depth), token, row, h.depth));
    values.back().add(run.floats("b")[g * h.padded + i]);
  }
  const int64_t half = h.dim / 2;
  for (int64_t i = 0; rope && i < half; ++i) {
    const int64_t angle = token * half + i;
    std::tie(values[i], values[i + half]) =
        rotated(values[i], values[i + half], run.floats("cos")[angle], run.floats("sin")[angle]);
  }
  return values;
}

/// Projections to heads: panels of heads (q) or a cache of rows (k, v), rotated or not.
void checkHeads(const Heads &h, bool strict, bool headMajor, bool rope) {
  const int64_t panels = panelsFor(h.context), lanes = hostLanes();
  KernelText text;
  text.in("x", {panels, h.depth, lanes}).in("w", {h.groups, h.padded, h.paddedDepth}).in("b", {h.groups, h.padded});
  text.in("cos", {h.context, h.dim / 2}).in("sin", {h.context, h.dim / 2});
  if (headMajor)
    text.out("y", {h.groups, h.context, h.padded});
  else
    text.out("y", {panels, h.groups * h.dim, lanes});
  text.op(formatv("ck.linear ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) {1} rows {2} depth {3}",
                  rope ? "rope(%cos, %sin : $cos, $sin)" : "", headMajor ? "head_major" : "", h.dim, h.depth)
              .str());
  KernelRun run(text, strict);
  run.fillPanels("x", h.depth, h.tokens, 1);
  run.fillWeight("w", {h.groups, h.padded, h.paddedDepth}, h.dim, h.depth, 2);
  run.fillWeight("b", {1, h.groups, h.padded}, h.groups, h.dim, 3);
  run.fill("cos", 4);
  run.fill("sin", 5);
  run.run(h.tokens, 0, 2);
  WorstElement worst;
  int64_t untouched = 0;
  for (int64_t g = 0; g < h.groups; ++g)
    for (int64_t t = 0; t < h.context; ++t) {
      const float *slot = run.floats("y") + (g * h.context + t) * h.padded;
      if (t >= h.tokens) {
        untouched += !headMajor || std::all_of(slot, slot + h.padded, [](float v) { return std::isnan(v); });
        continue;
      }
      for (auto [i, exact] : llvm::enumerate(headOf(run, h, g, t, rope))) {
        const int64_t column = static_cast<int64_t>(i), feature = g * h.dim + column;
        const float found = headMajor ? slot[i] : run.panels("y", h.groups * h.dim).at(t, feature);
        worst.compare(found, exact.value, exact.allowed(roundings(h.depth, strict, 6)), t, feature);
      }
    }
  INFO(worst.text());
  CHECK(worst.fits());
  CHECK(untouched == h.groups * (h.context - h.tokens)); // rows beyond T are not computed
}

double silu(double x) { return x / (1 + std::exp(-x)); }

void checkGated(const Shape &s, bool strict) {
  const int64_t panels = panelsFor(s.tokens), lanes = hostLanes();
  KernelText text;
  text.in("x", {panels, s.depth, lanes}).in("w", {2, s.paddedRows(), s.paddedDepth()}).in("b", {2, s.paddedRows()});
  text.out("y", {panels, s.rows, lanes});
  text.op(
      formatv("ck.gated_linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows {0} depth {1}", s.rows, s.depth).str());
  KernelRun run(text, strict);
  run.fillPanels("x", s.depth, s.tokens, 1);
  run.fillWeight("w", {2, s.paddedRows(), s.paddedDepth()}, s.rows, s.depth, 2);
  run.fillWeight("b", {1, 2, s.paddedRows()}, 2, s.rows, 3);
  run.run(s.tokens, 0, 2);
  WorstElement worst;
  for (int64_t t = 0; t < s.tokens; ++t)
    for (int64_t n = 0; n < s.rows; ++n) {
      Exact part[2];
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t row = half * s.paddedRows() + n;
        part[half] = dot(run.panels("x", s.depth), t, run.floats("w") + row * s.paddedDepth(), s.depth);
        part[half].add(run.floats("b")[row]);
      }
      const double gate = silu(part[0].value), up = part[1].value;
      // silu's slope is below 1.1; exp, the division and the product add a few steps of the result.
      const int64_t steps = roundings(s.depth, strict);
      const double limit = 1.1 * part[0].allowed(steps) * std::abs(up) + part[1].allowed(steps) * std::abs(gate) +
                           8 * kRounding * std::abs(gate * up) + 1e-30;
      worst.compare(run.panels("y", s.rows).at(t, n), gate * up, limit, t, n);
    }
  INFO(worst.text());
  CHECK(worst.fits());
}

void checkAttnProject(int64_t heads, int64_t dim, const Shape &s, bool strict, bool residual) {
  const int64_t panels = panelsFor(s.tokens), lanes = hostLanes(), padded = (dim + 15) / 16 * 16;
  KernelText text;
  text.in("x", {panels, heads * dim, lanes}).in("w", {heads, s.paddedRows(), padded}).in("b", {s.paddedRows()});
  text.in("r", {panels, s.rows, lanes}).out("y", {panels, s.rows, lanes});
  text.op(formatv("ck.attn_project ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) rows {1} depth {2}",
                  residual ? "residual(%r : $r)" : "", s.rows, dim)
              .str());
  KernelRun run(text, strict);
  run.fillPanels("x", heads * dim, s.tokens, 1);
  run.fillWeight("w", {heads, s.paddedRows(), padded}, s.rows, dim, 2);
  run.fillWeight("b", {1, 1, s.paddedRows()}, 1, s.rows, 3);
  run.fillPanels("r", s.rows, s.tokens, 4);
  run.run(s.tokens, 0, 2);
  WorstElement worst;
  for (int64_t t = 0; t < s.tokens; ++t)
    for (int64_t n = 0; n < s.rows; ++n) {
      Exact exact;
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t d = 0; d < dim; ++d)
          exact.addProduct(run.panels("x", heads * dim).at(t, h * dim + d),
                           run.floats("w")[(h * s.paddedRows() + n) * padded + d]);
      exact.add(run.floats("b")[n]);
      if (residual)
        exact.add(run.panels("r", s.rows).at(t, n));
      worst.compare(run.panels("y", s.rows).at(t, n), exact.value, exact.allowed(roundings(heads * dim, strict)), t, n);
    }
  INFO(worst.text());
  CHECK(worst.fits());
}

/// Logits of the rows from `first` to T; all others stay as they were.
void checkLogits(KernelRun &run, const Shape &s, int64_t context, int64_t first, bool strict) {
  run.poisonOutputs();
  run.run(s.tokens, first, 2);
  const float *logits = run.floats("y"), *table = run.floats("w");
  const Panels x = run.panels("x", s.depth);
  WorstElement worst;
  int64_t touched = 0;
  for (int64_t t = 0; t < context; ++t)
    for (int64_t v = 0; v < s.rows; ++v) {
      const float found = logits[t * s.rows + v];
      if (t < first || t >= s.tokens) {
        touched += !std::isnan(found);
        continue;
      }
      const Exact exact = dot(x, t, table + v * s.paddedDepth(), s.depth);
      worst.compare(found, exact.value, exact.allowed(roundings(s.depth, strict)), t, v);
    }
  INFO("first row " << first << ", context " << context << ", " << worst.text());
  CHECK(worst.fits());
  CHECK(touched == 0);
}

void checkLMHead(const Shape &s, int64_t context, bool strict) {
  KernelText text;
  text.in("x", {panelsFor(context), s.depth, hostLanes()})
      .in("w", {s.rows, s.paddedDepth()})
      .out("y", {context, s.rows});
  text.op(formatv("ck.lm_head ins(%x, %w : $x, $w) outs(%y : $y) depth {0}", s.depth).str());
  KernelRun run(text, strict);
  run.fillPanels("x", s.depth, s.tokens, 1);
  run.fillWeight("w", {1, s.rows, s.paddedDepth()}, s.rows, s.depth, 2);
  for (int64_t first : {int64_t{0}, int64_t{1}, hostLanes() - 1, hostLanes(), s.tokens - 1})
    checkLogits(run, s, context, first, strict);
}

} // namespace

TEST_CASE("linear") {
  forShapes([](const Shape &shape, bool strict) { checkLinear(shape, strict, false); });
}

TEST_CASE("linear with residual") {
  forShapes([](const Shape &shape, bool strict) { checkLinear(shape, strict, true); });
}

TEST_CASE("linear to heads, in panels and head-major, with and without RoPE") {
  for (const Heads &heads : awkwardHeads())
    for (bool strict : {false, true})
      for (bool headMajor : {false, true})
        for (bool rope : {false, true}) {
          INFO("heads " << heads.groups << " x " << heads.dim << ", depth " << heads.depth << ", tokens "
                        << heads.tokens << ", strict " << strict << ", head-major " << headMajor << ", rope " << rope);
          checkHeads(heads, strict, headMajor, rope);
        }
}

TEST_CASE("gated linear") { forShapes(checkGated); }

TEST_CASE("attention projection, with and without residual") {
  const int64_t lanes = hostLanes();
  const std::tuple<int64_t, int64_t, Shape> cases[] = {{1, 1, {1, 0, 1}},
                                                       {7, 1, {7, 0, lanes - 1, 9}},
                                                       {3, 20, {60, 0, lanes + 1, 4}},
                                                       {6, 8, {37, 0, 2 * lanes + 3, 11}},
                                                       {2, 64, {65, 0, 4 * lanes}}};
  for (const auto &[heads, dim, shape] : cases)
    for (bool strict : {false, true})
      for (bool residual : {false, true}) {
        INFO("heads " << heads << " x " << dim << ", residual " << residual << ", " << describe(shape, strict));
        checkAttnProject(heads, dim, shape, strict, residual);
      }
}

TEST_CASE("lm_head computes the rows from the first one wanted") {
  const int64_t lanes = hostLanes(), tokens = 2 * lanes + 3;
  for (int64_t vocab : {int64_t{1}, lanes - 1, lanes, lanes + 1, int64_t{131}})
    for (bool strict : {false, true}) {
      const Shape shape{vocab, 37, tokens, 0, 11};
      INFO(describe(shape, strict));
      checkLMHead(shape, tokens + 2, strict);
    }
}

TEST_CASE("matrix kernels give the same bits on any number of threads") {
  const int64_t lanes = hostLanes(), tokens = 2 * lanes + 3;
  KernelText text;
  text.in("x", {panelsFor(tokens), 61, lanes})
      .in("w", {2, 53, 64})
      .in("b", {2, 53})
      .out("y", {panelsFor(tokens), 53, lanes});
  text.op("ck.gated_linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows 53 depth 61");
  KernelRun run(text);
  for (const char *name : {"x", "w", "b"})
    run.fill(name, 7, 0.1f);
  run.run(tokens);
  const std::vector<float> alone(run.floats("y"), run.floats("y") + run.size("y"));
  for (unsigned threads : {2u, 3u, 5u, 8u}) {
    INFO("threads " << threads);
    run.poisonOutputs();
    run.run(tokens, 0, threads);
    CHECK(std::memcmp(alone.data(), run.floats("y"), alone.size() * sizeof(float)) == 0);
  }
}
