//===- QuantizedOps.cpp - Matrix ops with inputs and expected results ------===//
#include "QuantizedOps.h"
#include "Support/SplitMix.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using llvm::formatv;

namespace ckjit::test {

int64_t mostTokens(const Mode &mode) { return mode.panels ? kMostTokens : kMostRows; }

std::vector<int64_t> activationShape(const Mode &mode, int64_t features) {
  if (!mode.panels)
    return {kMostRows, features};
  return {(kMostTokens + mode.lanes() - 1) / mode.lanes(), features, mode.lanes()};
}

std::vector<int64_t> weightShape(const Mode &mode, std::vector<int64_t> shape) {
  shape.back() /= formatOf(mode.type).elements;
  return shape;
}

void fill(const Activation &x, int64_t tokens, int64_t features, uint64_t seed) {
  SplitMix rng(seed);
  for (int64_t t = 0; t < tokens; ++t) {
    const float scale = t % 4 == 3 ? 1e-3f : 1.0f;
    for (int64_t f = 0; f < features; ++f)
      x.at(t, f) = rng.normal() * scale;
  }
}

KernelText textFor(const Mode &mode) {
  KernelText text;
  if (!mode.panels)
    text.rows();
  return text;
}

namespace {

/// `values` and zeros up to `width`.
std::vector<float> padded(std::vector<float> values, int64_t width) {
  values.resize(static_cast<size_t>(width), 0.0f);
  return values;
}

int64_t fewTokens(const Mode &mode, const MatrixShape &s) { return std::min(s.tokens, mostTokens(mode)); }

} // namespace

std::unique_ptr<OpRun> prepareLinear(const Mode &mode, const MatrixShape &s, bool variant, Blocks blocks) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, depth)).in("w", weightShape(mode, {s.rows, width}), elementOf(mode.type));
  text.in("b", {s.rows}).in("r", activationShape(mode, s.rows)).out("y", activationShape(mode, s.rows));
  text.op(formatv("ck.linear ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) rows {1} depth {2}",
                  variant ? "residual(%r : $r)" : "", s.rows, depth)
              .str());
  auto op = std::make_unique<OpRun>(text, mode, tokens);
  KernelRun &run = op->kernel;
  const Activation x(run, mode, "x", depth), r(run, mode, "r", s.rows), y(run, mode, "y", s.rows);
  fill(x, tokens, depth, 1);
  if (blocks != Blocks::Mixed) // products as large as they come, of one sign
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t k = 0; k < depth; ++k)
        x.at(t, k) = t % 2 ? -0.5f : 0.5f;
  fillBlocks(mode.type, run.bytes("w"), blocks, 2);
  run.fill("b", 3);
  fill(r, tokens, s.rows, 4);
  op->compare = [=, &run] {
    const Oracle oracle(mode, run.bytes("w"), width);
    WorstElement worst;
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t n = 0; n < s.rows; ++n) {
        Exact exact = oracle.dot(padded(x.token(t, 0, depth), width), n);
        exact.add(run.floats("b")[n]);
        if (variant)
          exact.add(r.at(t, n));
        worst.compare(y.at(t, n), exact.value, oracle.allowed(exact), t, n);
      }
    INFO(worst.text());
    CHECK(worst.fits());
  };
  return op;
}

namespace {

double silu(double x) { return x / (1 + std::exp(-x)); }

std::unique_ptr<OpRun> prepareGated(const Mode &mode, const MatrixShape &s, bool) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  const int64_t stored = s.rows + 2; // rows of a half
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, depth)).in("w", weightShape(mode, {2, stored, width}), elementOf(mode.type));
  text.in("b", {2, stored}).out("y", activationShape(mode, s.rows));
  text.op(
      formatv("ck.gated_linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows {0} depth {1}", s.rows, depth).str());
  auto op = std::make_unique<OpRun>(text, mode, tokens);
  KernelRun &run = op->kernel;
  const Activation x(run, mode, "x", depth), y(run, mode, "y", s.rows);
  fill(x, tokens, depth, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  run.fill("b", 3);
  op->compare = [=, &run] {
    const Oracle oracle(mode, run.bytes("w"), width);
    WorstElement worst;
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t n = 0; n < s.rows; ++n) {
        Exact part[2];
        for (int64_t half = 0; half < 2; ++half) {
          part[half] = oracle.dot(padded(x.token(t, 0, depth), width), half * stored + n);
          part[half].add(run.floats("b")[half * stored + n]);
        }
        const double gate = silu(part[0].value), up = part[1].value;
        // silu's slope is below 1.1; exp, the division and the product add a few steps of the result.
        const double gateOff = 1.1 * oracle.allowed(part[0]), upOff = oracle.allowed(part[1]);
        const double limit = gateOff * (std::abs(up) + upOff) + upOff * std::abs(gate) +
                             8 * kRounding * std::abs(gate * up) + 1e-30;
        worst.compare(y.at(t, n), gate * up, limit, t, n);
      }
    INFO(worst.text());
    CHECK(worst.fits());
  };
  return op;
}

/// Heads of `shape.rows` lanes, rounded up to an even number, of which 16 or a multiple are stored.
std::unique_ptr<OpRun> prepareHeads(const Mode &mode, const MatrixShape &s, bool headMajor) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  const int64_t dim = (s.rows + 1) / 2 * 2, ad = (dim + 15) / 16 * 16, half = dim / 2, groups = 2;
  const int64_t context = mostTokens(mode) + 3, position = 2;
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, depth)).in("w", weightShape(mode, {groups, ad, width}), elementOf(mode.type));
  text.in("b", {groups, ad}).in("cos", {context, half}).in("sin", {context, half});
  if (headMajor)
    text.out("y", {groups, context, ad});
  else
    text.out("y", activationShape(mode, groups * dim));
  text.op(formatv("ck.linear ins(%x, %w, %b : $x, $w, $b) rope(%cos, %sin : $cos, $sin) outs(%y : $y) {0} rows {1} "
                  "depth {2}",
                  headMajor ? "head_major" : "", dim, depth)
              .str());
  auto op = std::make_unique<OpRun>(text, mode, tokens);
  KernelRun &run = op->kernel;
  const Activation x(run, mode, "x", depth), y(run, mode, "y", groups * dim);
  fill(x, tokens, depth, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  run.fill("b", 3);
  run.fill("cos", 4);
  run.fill("sin", 5);
  op->position = position;
  op->compare = [=, &run] {
    const Oracle oracle(mode, run.bytes("w"), width);
    WorstElement worst;
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t i = 0; i < half; ++i) {
          Exact part[2];
          for (int64_t p = 0; p < 2; ++p) {
            part[p] = oracle.dot(padded(x.token(t, 0, depth), width), g * ad + p * half + i);
            part[p].add(run.floats("b")[g * ad + p * half + i]);
          }
          const int64_t angle = (position + t) * half + i;
          const double c = static_cast<double>(run.floats("cos")[angle]), sn = static_cast<double>(run.floats("sin")[angle]);
          const auto compare = [&](int64_t lane, double a, double b) {
            const double exact = part[0].value * a + part[1].value * b;
            const double limit =
                oracle.allowed(part[0], 6) * std::abs(a) + oracle.allowed(part[1], 6) * std::abs(b) + 1e-30;
            const float found = headMajor ? run.floats("y")[(g * context + position + t) * ad + lane] : y.at(t, g * dim + lane);
            worst.compare(found, exact, limit, t, g * dim + lane);
          };
          compare(i, c, -sn);
          compare(half + i, sn, c);
        }
    INFO("heads of " << dim << ", " << worst.text());
    CHECK(worst.fits());
    if (headMajor) { // neither padding nor another position
      const float *data = run.floats("y");
      CHECK(std::count_if(data, data + run.size("y"), [](float v) { return !std::isnan(v); }) == tokens * groups * dim);
    }
  };
  return op;
}

/// In blocks a row holds all heads, each padded by itself, and blocks may lie across several; in floats each head has its
/// own matrix.
std::unique_ptr<OpRun> prepareAttnProject(const Mode &mode, const MatrixShape &s, bool residual) {
  const bool blocks = formatOf(mode.type).isQuantized();
  const int64_t ad = 32, dim = ad - s.unused % 16, width = s.width(mode.type), heads = width / ad;
  const int64_t tokens = fewTokens(mode, s), features = heads * dim;
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, features)).in("b", {s.rows});
  text.in("w", blocks ? weightShape(mode, {s.rows, width}) : std::vector<int64_t>{heads, s.rows, ad}, elementOf(mode.type));
  text.in("r", activationShape(mode, s.rows)).out("y", activationShape(mode, s.rows));
  text.op(formatv("ck.attn_project ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) rows {1} depth {2}",
                  residual ? "residual(%r : $r)" : "", s.rows, dim)
              .str());
  auto op = std::make_unique<OpRun>(text, mode, tokens);
  KernelRun &run = op->kernel;
  const Activation x(run, mode, "x", features), r(run, mode, "r", s.rows), y(run, mode, "y", s.rows);
  fill(x, tokens, features, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  run.fill("b", 3);
  fill(r, tokens, s.rows, 4);
  op->compare = [=, &run] {
    const Oracle oracle(mode, run.bytes("w"), blocks ? width : ad);
    WorstElement worst;
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t n = 0; n < s.rows; ++n) {
        Exact exact;
        std::vector<float> row;
        for (int64_t h = 0; h < heads; ++h) {
          const std::vector<float> head = padded(x.token(t, h * dim, dim), ad);
          row.insert(row.end(), head.begin(), head.end());
          if (blocks)
            continue;
          const Exact part = oracle.dot(head, h * s.rows + n);
          exact.value += part.value;
          exact.magnitude += part.magnitude * static_cast<double>(heads); // as many roundings more
        }
        if (blocks)
          exact = oracle.dot(row, n);
        exact.add(run.floats("b")[n]);
        if (residual)
          exact.add(r.at(t, n));
        worst.compare(y.at(t, n), exact.value, oracle.allowed(exact), t, n);
      }
    INFO(heads << " heads of " << dim << ", " << worst.text());
    CHECK(worst.fits());
  };
  return op;
}

std::unique_ptr<OpRun> prepareLMHead(const Mode &mode, const MatrixShape &s, bool late) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  const int64_t context = mostTokens(mode) + 1, first = late ? tokens - 1 : tokens / 2;
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, depth)).in("w", weightShape(mode, {s.rows, width}), elementOf(mode.type));
  text.out("y", {context, s.rows});
  text.op(formatv("ck.lm_head ins(%x, %w : $x, $w) outs(%y : $y) depth {0}", depth).str());
  auto op = std::make_unique<OpRun>(text, mode, tokens);
  KernelRun &run = op->kernel;
  const Activation x(run, mode, "x", depth);
  fill(x, tokens, depth, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  op->firstRow = first;
  op->compare = [=, &run] {
    const Oracle oracle(mode, run.bytes("w"), width);
    WorstElement worst;
    int64_t touched = 0;
    for (int64_t t = 0; t < context; ++t)
      for (int64_t v = 0; v < s.rows; ++v) {
        const float found = run.floats("y")[t * s.rows + v];
        if (t < first || t >= tokens) {
          touched += !std::isnan(found);
          continue;
        }
        const Exact exact = oracle.dot(padded(x.token(t, 0, depth), width), v);
        worst.compare(found, exact.value, oracle.allowed(exact), t, v);
      }
    INFO("first row " << first << ", " << worst.text());
    CHECK(worst.fits());
    CHECK(touched == 0);
  };
  return op;
}

/// Exactly the dequantized row: each weight is rounded once, whatever the instructions.
std::unique_ptr<OpRun> prepareEmbed(const Mode &mode, const MatrixShape &s, bool) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  KernelText text = textFor(mode);
  text.in("ids", {mostTokens(mode)}, "i32").in("w", weightShape(mode, {s.rows, width}), elementOf(mode.type));
  text.out("y", activationShape(mode, depth));
  text.op("ck.embed ins(%ids, %w : $ids, $w) outs(%y : $y)");
  auto op = std::make_unique<OpRun>(text, mode, tokens);
  KernelRun &run = op->kernel;
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  for (int64_t t = 0; t < mostTokens(mode); ++t)
    run.ints("ids")[t] = static_cast<int32_t>(7 * t % s.rows);
  op->compare = [=, &run] {
    const Oracle oracle(mode, run.bytes("w"), width);
    const Activation y(run, mode, "y", depth);
    WorstElement worst;
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t k = 0; k < depth; ++k)
        worst.compare(y.at(t, k), static_cast<double>(oracle.weight(run.ints("ids")[t], k)), 0, t, k);
    INFO(worst.text());
    CHECK(worst.fits());
  };
  return op;
}

constexpr MatrixOp kOps[] = {
    {"linear", [](const Mode &m, const MatrixShape &s, bool variant) { return prepareLinear(m, s, variant); }},
    {"gated_linear", prepareGated},
    {"linear to heads", prepareHeads},
    {"attn_project", prepareAttnProject},
    {"lm_head", prepareLMHead},
    {"embed", prepareEmbed}};

} // namespace

llvm::ArrayRef<MatrixOp> matrixOps() { return kOps; }

llvm::ArrayRef<MatrixShape> matrixShapes() {
  static constexpr MatrixShape kShapes[] = {{1, 1, 0, 1},   {3, 2, 3, 17},  {33, 1, 0, 5}, {7, 5, 1, 16}, {13, 3, 0, 3},
                                            {4, 8, 31, 15}, {17, 9, 0, 2}, {31, 2, 0, 17}, {5, 20, 7, 4}};
  return kShapes;
}

} // namespace ckjit::test
