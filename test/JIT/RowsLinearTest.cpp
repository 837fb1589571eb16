//===- RowsLinearTest.cpp - Matrix kernels on rows, in double loops -------===//
#include "RowsRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using llvm::formatv;

namespace {

/// A weight of `rows` x `depth` used, with `pad` more of each, for one target and mode.
struct Shape {
  int64_t rows, depth, pad;
  const TargetDescription &target;
  bool strict;
  int64_t paddedRows() const { return rows + pad; }
  int64_t paddedDepth() const { return depth + pad; }
  /// Roundings on the way to a result: the sum's (none when it is taken in double) and `after` more.
  int64_t roundings(int64_t terms, int64_t after = 3) const { return (strict ? 0 : terms) + after; }
  std::string text() const {
    return formatv("{0}: rows {1}, depth {2}, pad {3}, strict {4}", target.cpu, rows, depth, pad, strict).str();
  }
};

/// One, around a vector and a step of two, primes; rows below, at and beside a tile of four, and many tiles.
template <typename Check> void forShapes(Check check) {
  for (const TargetDescription &target : rowsTargets()) {
    const int64_t lanes = target.vectorBits / 32;
    uint64_t turn = 0;
    for (int64_t depth : {int64_t{1}, lanes - 1, lanes, lanes + 1, 2 * lanes - 1, 2 * lanes + 1, int64_t{131}})
      for (int64_t rows : {1, 3, 4, 5, 33}) {
        // Every other target and mode for a shape: all of them come up.
        const bool strict = ++turn % 2 == 0;
        const Shape shape{rows, depth, turn % 3 == 0 ? 7 : 0, target, strict};
        INFO(shape.text());
        check(shape);
      }
  }
}

Exact dot(const float *x, const float *row, int64_t depth) {
  Exact sum;
  for (int64_t k = 0; k < depth; ++k)
    sum.addProduct(x[k], row[k]);
  return sum;
}

std::vector<float> rowOf(const float *data, int64_t row, int64_t width) {
  return std::vector<float>(data + row * width, data + (row + 1) * width);
}

void checkLinear(const Shape &s, bool residual) {
  const int64_t xWidth = s.depth + s.pad;
  KernelText text;
  text.in("x", {kMostRows, xWidth}).in("w", {s.paddedRows(), s.paddedDepth()}).in("b", {s.paddedRows()});
  text.in("r", {kMostRows, s.rows}).out("y", {kMostRows, s.rows});
  text.op(formatv("ck.linear ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) rows {1} depth {2}",
                  residual ? "residual(%r : $r)" : "", s.rows, s.depth)
              .str());
  KernelRun run(text, s.strict, s.target);
  fillRows(run, "x", xWidth, s.depth, kMostRows, 1);
  run.fillWeight("w", {1, s.paddedRows(), s.paddedDepth()}, s.rows, s.depth, 2);
  run.fillWeight("b", {1, 1, s.paddedRows()}, 1, s.rows, 3);
  fillRows(run, "r", s.rows, s.rows, kMostRows, 4);
  for (int64_t tokens = 1; tokens <= kMostRows; ++tokens) {
    run.poisonOutputs();
    run.run(tokens, 0, 2);
    WorstElement worst;
    int64_t touched = 0;
    for (int64_t t = 0; t < kMostRows; ++t)
      for (int64_t n = 0; n < s.rows; ++n) {
        if (t >= tokens) {
          touched += !std::isnan(run.floats("y")[t * s.rows + n]);
          continue;
        }
        Exact exact = dot(run.floats("x") + t * xWidth, run.floats("w") + n * s.paddedDepth(), s.depth);
        exact.add(run.floats("b")[n]);
        if (residual)
          exact.add(run.floats("r")[t * s.rows + n]);
        worst.compare(run.floats("y")[t * s.rows + n], exact.value, exact.allowed(s.roundings(s.depth)), t, n);
      }
    INFO("tokens " << tokens << ", " << worst.text());
    CHECK(worst.fits());
    CHECK(touched == 0);
  }
  checkSameBits(run, {{"x", xWidth}, {"r", s.rows}}, kMostRows, 0,
                [&](int64_t row, int64_t) { return rowOf(run.floats("y"), row, s.rows); });
}

/// Rotates (a, b) of one head: (a c - b s, a s + b c).
std::pair<Exact, Exact> rotated(const Exact &a, const Exact &b, double c, double s) {
  return {{a.value * c - b.value * s, std::abs(c) * a.magnitude + std::abs(s) * b.magnitude},
          {a.value * s + b.value * c, std::abs(s) * a.magnitude + std::abs(c) * b.magnitude}};
}

/// A projection to heads of `dim` lanes, to rows or to the cache.
struct Heads {
  int64_t groups, dim, padded, depth;
  const TargetDescription &target;
  bool strict, headMajor, rope;
  std::string text() const {
    return formatv("{0}: heads {1} x {2}, depth {3}, strict {4}, head-major {5}, rope {6}", target.cpu, groups, dim,
                   depth, strict, headMajor, rope)
        .str();
  }
};

KernelText headsText(const Heads &h) {
  KernelText text;
  text.in("x", {kMostRows, h.depth}).in("w", {h.groups, h.padded, h.depth}).in("b", {h.groups, h.padded});
  const int64_t angles = std::max<int64_t>(1, h.dim / 2);
  text.in("cos", {kRowsContext, angles}).in("sin", {kRowsContext, angles});
  if (h.headMajor)
    text.out("y", {h.groups, kRowsContext, h.padded});
  else
    text.out("y", {kMostRows, h.groups * h.dim});
  text.op(formatv("ck.linear ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) {1} rows {2} depth {3}",
                  h.rope ? "rope(%cos, %sin : $cos, $sin)" : "", h.headMajor ? "head_major" : "", h.dim, h.depth)
              .str());
  return text.rows(); // which keeps the angles in rows
}

/// What head `g` holds for the token in row `t` at `position`.
std::vector<Exact> headOf(KernelRun &run, const Heads &h, int64_t g, int64_t t, int64_t position) {
  std::vector<Exact> values;
  for (int64_t i = 0; i < h.dim; ++i) {
    const int64_t row = g * h.padded + i;
    values.push_back(dot(run.floats("x") + t * h.depth, run.floats("w") + row * h.depth, h.depth));
    values.back().add(run.floats("b")[row]);
  }
  const int64_t half = h.dim / 2;
  for (int64_t i = 0; h.rope && i < half; ++i)
    std::tie(values[i], values[half + i]) =
        rotated(values[i], values[half + i], static_cast<double>(run.floats("cos")[position * half + i]),
                static_cast<double>(run.floats("sin")[position * half + i]));
  return values;
}

void checkHeads(const Heads &h) {
  KernelRun run(headsText(h), h.strict, h.target);
  run.fill("x", 1);
  for (int64_t g = 0; g < h.groups; ++g) {
    run.fillPart("b", g * h.padded, h.dim, 3 + static_cast<uint64_t>(g));
    run.fillPart("w", g * h.padded * h.depth, h.dim * h.depth, 50 + static_cast<uint64_t>(g));
  }
  run.fill("cos", 4);
  run.fill("sin", 5);
  const auto at = [&](int64_t g, int64_t row, int64_t position, int64_t i) {
    return run.floats("y")[h.headMajor ? (g * kRowsContext + position) * h.padded + i
                                       : row * h.groups * h.dim + g * h.dim + i];
  };
  const auto resultOf = [&](int64_t row, int64_t position) {
    std::vector<float> result;
    for (int64_t g = 0; g < h.groups; ++g)
      for (int64_t i = 0; i < h.dim; ++i)
        result.push_back(at(g, row, position, i));
    return result;
  };
  int64_t tokens = 0;
  for (int64_t position : kPositions) {
    tokens = tokens % kMostRows + 1;
    run.poisonOutputs();
    run.run(tokens, 0, 2, position);
    WorstElement worst;
    for (int64_t g = 0; g < h.groups; ++g)
      for (int64_t t = 0; t < tokens; ++t)
        for (auto [i, exact] : llvm::enumerate(headOf(run, h, g, t, position + t)))
          worst.compare(at(g, t, position + t, static_cast<int64_t>(i)), exact.value,
                        exact.allowed((h.strict ? 0 : h.depth) + 6), t, g * h.dim + static_cast<int64_t>(i));
    INFO("tokens " << tokens << ", position " << position << ", " << worst.text());
    CHECK(worst.fits());
    // The rows of the tokens, and in the cache neither their padding nor any other position.
    const float *y = run.floats("y");
    CHECK(std::count_if(y, y + run.size("y"), [](float v) { return !std::isnan(v); }) == tokens * h.groups * h.dim);
  }
  checkSameBits(run, {{"x", h.depth}}, kMostRows, 127, resultOf);
}

double silu(double x) { return x / (1 + std::exp(-x)); }

void checkGated(const Shape &s) {
  KernelText text;
  text.in("x", {kMostRows, s.depth}).in("w", {2, s.paddedRows(), s.paddedDepth()}).in("b", {2, s.paddedRows()});
  text.out("y", {kMostRows, s.rows});
  text.op(
      formatv("ck.gated_linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows {0} depth {1}", s.rows, s.depth).str());
  KernelRun run(text, s.strict, s.target);
  run.fill("x", 1);
  run.fillWeight("w", {2, s.paddedRows(), s.paddedDepth()}, s.rows, s.depth, 2);
  run.fillWeight("b", {1, 2, s.paddedRows()}, 2, s.rows, 3);
  run.run(kMostRows, 0, 2);
  WorstElement worst;
  for (int64_t t = 0; t < kMostRows; ++t)
    for (int64_t n = 0; n < s.rows; ++n) {
      Exact part[2];
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t row = half * s.paddedRows() + n;
        part[half] = dot(run.floats("x") + t * s.depth, run.floats("w") + row * s.paddedDepth(), s.depth);
        part[half].add(run.floats("b")[row]);
      }
      const double gate = silu(part[0].value), up = part[1].value;
      // silu's slope is below 1.1; exp, the division and the product add a few steps of the result.
      const int64_t steps = s.roundings(s.depth);
      const double limit = 1.1 * part[0].allowed(steps) * std::abs(up) + part[1].allowed(steps) * std::abs(gate) +
                           8 * kRounding * std::abs(gate * up) + 1e-30;
      worst.compare(run.floats("y")[t * s.rows + n], gate * up, limit, t, n);
    }
  INFO(worst.text());
  CHECK(worst.fits());
  checkSameBits(run, {{"x", s.depth}}, kMostRows, 0,
                [&](int64_t row, int64_t) { return rowOf(run.floats("y"), row, s.rows); });
}

/// The shape's depth is that of a head.
void checkAttnProject(int64_t heads, const Shape &s, bool residual) {
  const int64_t padded = (s.depth + 15) / 16 * 16, width = heads * s.depth;
  KernelText text;
  text.in("x", {kMostRows, width}).in("w", {heads, s.paddedRows(), padded}).in("b", {s.paddedRows()});
  text.in("r", {kMostRows, s.rows}).out("y", {kMostRows, s.rows});
  text.op(formatv("ck.attn_project ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) rows {1} depth {2}",
                  residual ? "residual(%r : $r)" : "", s.rows, s.depth)
              .str());
  KernelRun run(text, s.strict, s.target);
  run.fill("x", 1);
  run.fillWeight("w", {heads, s.paddedRows(), padded}, s.rows, s.depth, 2);
  run.fillWeight("b", {1, 1, s.paddedRows()}, 1, s.rows, 3);
  run.fill("r", 4);
  run.run(kMostRows, 0, 2);
  WorstElement worst;
  for (int64_t t = 0; t < kMostRows; ++t)
    for (int64_t n = 0; n < s.rows; ++n) {
      Exact exact;
      for (int64_t k = 0; k < width; ++k)
        exact.addProduct(run.floats("x")[t * width + k],
                         run.floats("w")[(k / s.depth * s.paddedRows() + n) * padded + k % s.depth]);
      exact.add(run.floats("b")[n]);
      if (residual)
        exact.add(run.floats("r")[t * s.rows + n]);
      worst.compare(run.floats("y")[t * s.rows + n], exact.value, exact.allowed(s.roundings(width)), t, n);
    }
  INFO(worst.text());
  CHECK(worst.fits());
  checkSameBits(run, {{"x", width}, {"r", s.rows}}, kMostRows, 0,
                [&](int64_t row, int64_t) { return rowOf(run.floats("y"), row, s.rows); });
}

/// Logits of the rows from the first one wanted to T; all others stay as they were.
void checkLMHead(const Shape &s) {
  constexpr int64_t kContext = kMostRows + 2;
  KernelText text;
  text.in("x", {kMostRows, s.depth}).in("w", {s.rows, s.paddedDepth()}).out("y", {kContext, s.rows});
  text.op(formatv("ck.lm_head ins(%x, %w : $x, $w) outs(%y : $y) depth {0}", s.depth).str());
  KernelRun run(text, s.strict, s.target);
  run.fill("x", 1);
  run.fillWeight("w", {1, s.rows, s.paddedDepth()}, s.rows, s.depth, 2);
  for (int64_t tokens = 1; tokens <= kMostRows; ++tokens)
    for (int64_t first = 0; first < tokens; ++first) {
      run.poisonOutputs();
      run.run(tokens, first, 2, /*position=*/127);
      WorstElement worst;
      int64_t touched = 0;
      for (int64_t t = 0; t < kContext; ++t)
        for (int64_t v = 0; v < s.rows; ++v) {
          const float found = run.floats("y")[t * s.rows + v];
          if (t < first || t >= tokens) {
            touched += !std::isnan(found);
            continue;
          }
          const Exact exact = dot(run.floats("x") + t * s.depth, run.floats("w") + v * s.paddedDepth(), s.depth);
          worst.compare(found, exact.value, exact.allowed(s.roundings(s.depth)), t, v);
        }
      INFO("tokens " << tokens << ", first row " << first << ", " << worst.text());
      CHECK(worst.fits());
      CHECK(touched == 0);
    }
  checkSameBits(run, {{"x", s.depth}}, kMostRows, 127,
                [&](int64_t row, int64_t) { return rowOf(run.floats("y"), row, s.rows); });
}

} // namespace

TEST_CASE("rows: linear, with and without residual") {
  bool residual = false;
  forShapes([&](const Shape &shape) {
    residual = !residual;
    for (bool strict : {false, true})
      checkLinear({shape.rows, shape.depth, shape.pad, shape.target, strict}, residual != strict);
  });
}

TEST_CASE("rows: linear to heads, in rows and in the cache, with and without RoPE") {
  for (const TargetDescription &target : rowsTargets())
    for (bool strict : {false, true})
      for (bool headMajor : {false, true})
        for (bool rope : {false, true})
          for (auto [groups, dim, padded, depth] :
               {std::array<int64_t, 4>{1, 2, 16, 2}, {3, 1, 16, 7}, {3, 2, 16, 17}, {2, 6, 16, 33}, {1, 8, 16, 16},
                {2, 10, 16, 5}, {2, 20, 32, 60}, {5, 22, 32, 9}, {1, 64, 64, 48}}) {
            if (rope && dim % 2 != 0)
              continue;
            const Heads heads{groups, dim, padded, depth, target, strict, headMajor, rope};
            INFO(heads.text());
            checkHeads(heads);
          }
}

TEST_CASE("rows: gated linear") { forShapes(checkGated); }

TEST_CASE("rows: attention projection, with and without residual") {
  int64_t heads = 0;
  forShapes([&](const Shape &shape) {
    heads = heads % 4 + 1;
    checkAttnProject(heads, shape, heads % 2 == 0);
  });
}

TEST_CASE("rows: lm_head computes the rows from the first one wanted") { forShapes(checkLMHead); }
