//===- QuantizedTest.cpp - Kernels on weights of every format -------------===//
//
// Differential: every op, format and target, activations in panels and rows, as floats and in codes, against the plain
// dequantized weights in double.
//
//===----------------------------------------------------------------------===//
#include "QuantizedRun.h"
#include "RowsRun.h"
#include "Support/SplitMix.h"
#include "ckjit/Weights/BlockCodec.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace ckjit;
using namespace ckjit::test;
using llvm::formatv;

namespace {

constexpr int64_t kMostTokens = 17;

/// A weight of `rows` rows of `blocks` blocks of 32 (of the k-quants: 256) weights, of which the last `unused` belong to
/// no feature, and the tokens it multiplies.
struct Shape {
  int64_t rows, blocks, unused, tokens;
  int64_t width(DType type) const { return blocks * std::max<int64_t>(32, formatOf(type).elements); }
  int64_t depth(DType type) const { return width(type) - unused; }
};

/// One block to twenty; rows below, at and beside the tiles, primes; tokens of one, few, and more than a panel.
constexpr Shape kShapes[] = {{1, 1, 0, 1},   {3, 2, 3, 17},  {33, 1, 0, 5}, {7, 5, 1, 16}, {13, 3, 0, 3},
                             {4, 8, 31, 15}, {17, 9, 0, 2}, {31, 2, 0, 17}, {5, 20, 7, 4}};

/// What an op reads or writes, by token and feature.
class Activation {
public:
  Activation(KernelRun &run, const Mode &mode, llvm::StringRef name, int64_t features)
      : panels(run.floats(name), features, mode.lanes()) {} // rows are panels of one lane
  float &at(int64_t token, int64_t feature) const { return panels.at(token, feature); }
  std::vector<float> token(int64_t t, int64_t first, int64_t count) const {
    std::vector<float> values;
    for (int64_t k = 0; k < count; ++k)
      values.push_back(at(t, first + k));
    return values;
  }

private:
  Panels panels;
};

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

/// `values` and zeros up to `width`.
std::vector<float> padded(std::vector<float> values, int64_t width) {
  values.resize(static_cast<size_t>(width), 0.0f);
  return values;
}

KernelText textFor(const Mode &mode) {
  KernelText text;
  if (!mode.panels)
    text.rows();
  return text;
}

/// Runs for 1, 2 and 3 threads and checks that all write the same bits.
void runThreads(KernelRun &run, int64_t tokens, int64_t firstRow = 0, int64_t position = 0) {
  std::vector<uint8_t> first;
  for (unsigned threads : {1u, 3u, 2u}) {
    run.poisonOutputs();
    run.run(tokens, firstRow, threads, position);
    const llvm::ArrayRef<uint8_t> bytes = run.bytes("y");
    if (first.empty())
      first = bytes.vec();
    INFO("threads " << threads);
    CHECK(llvm::ArrayRef<uint8_t>(first) == bytes);
  }
}

int64_t fewTokens(const Mode &mode, const Shape &s) { return std::min(s.tokens, mostTokens(mode)); }

void checkLinear(const Mode &mode, const Shape &s, bool variant, Blocks blocks = Blocks::Mixed) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, depth)).in("w", weightShape(mode, {s.rows, width}), elementOf(mode.type));
  text.in("b", {s.rows}).in("r", activationShape(mode, s.rows)).out("y", activationShape(mode, s.rows));
  text.op(formatv("ck.linear ins(%x, %w, %b : $x, $w, $b) {0} outs(%y : $y) rows {1} depth {2}",
                  variant ? "residual(%r : $r)" : "", s.rows, depth)
              .str());
  KernelRun run(text, mode.strict, mode.target, mode.int8);
  const Activation x(run, mode, "x", depth), r(run, mode, "r", s.rows), y(run, mode, "y", s.rows);
  fill(x, tokens, depth, 1);
  if (blocks != Blocks::Mixed) // products as large as they come, of one sign
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t k = 0; k < depth; ++k)
        x.at(t, k) = t % 2 ? -0.5f : 0.5f;
  fillBlocks(mode.type, run.bytes("w"), blocks, 2);
  run.fill("b", 3);
  fill(r, tokens, s.rows, 4);
  runThreads(run, tokens);
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
}

double silu(double x) { return x / (1 + std::exp(-x)); }

void checkGated(const Mode &mode, const Shape &s, bool) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  const int64_t stored = s.rows + 2; // rows of a half
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, depth)).in("w", weightShape(mode, {2, stored, width}), elementOf(mode.type));
  text.in("b", {2, stored}).out("y", activationShape(mode, s.rows));
  text.op(
      formatv("ck.gated_linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows {0} depth {1}", s.rows, depth).str());
  KernelRun run(text, mode.strict, mode.target, mode.int8);
  const Activation x(run, mode, "x", depth), y(run, mode, "y", s.rows);
  fill(x, tokens, depth, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  run.fill("b", 3);
  runThreads(run, tokens);
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
}

/// Heads of `shape.rows` lanes, rounded up to an even number, of which 16 or a multiple are stored.
void checkHeads(const Mode &mode, const Shape &s, bool headMajor) {
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
  KernelRun run(text, mode.strict, mode.target, mode.int8);
  const Activation x(run, mode, "x", depth), y(run, mode, "y", groups * dim);
  fill(x, tokens, depth, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  run.fill("b", 3);
  run.fill("cos", 4);
  run.fill("sin", 5);
  runThreads(run, tokens, 0, position);
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
}

/// In blocks a row holds all heads, each padded by itself, and blocks may lie across several; in floats each head has its
/// own matrix.
void checkAttnProject(const Mode &mode, const Shape &s, bool residual) {
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
  KernelRun run(text, mode.strict, mode.target, mode.int8);
  const Activation x(run, mode, "x", features), r(run, mode, "r", s.rows), y(run, mode, "y", s.rows);
  fill(x, tokens, features, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  run.fill("b", 3);
  fill(r, tokens, s.rows, 4);
  runThreads(run, tokens);
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
}

void checkLMHead(const Mode &mode, const Shape &s, bool late) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  const int64_t context = mostTokens(mode) + 1, first = late ? tokens - 1 : tokens / 2;
  KernelText text = textFor(mode);
  text.in("x", activationShape(mode, depth)).in("w", weightShape(mode, {s.rows, width}), elementOf(mode.type));
  text.out("y", {context, s.rows});
  text.op(formatv("ck.lm_head ins(%x, %w : $x, $w) outs(%y : $y) depth {0}", depth).str());
  KernelRun run(text, mode.strict, mode.target, mode.int8);
  const Activation x(run, mode, "x", depth);
  fill(x, tokens, depth, 1);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  runThreads(run, tokens, first);
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
}

/// Exactly the dequantized row: each weight is rounded once, whatever the instructions.
void checkEmbed(const Mode &mode, const Shape &s, bool) {
  const int64_t depth = s.depth(mode.type), width = s.width(mode.type), tokens = fewTokens(mode, s);
  KernelText text = textFor(mode);
  text.in("ids", {mostTokens(mode)}, "i32").in("w", weightShape(mode, {s.rows, width}), elementOf(mode.type));
  text.out("y", activationShape(mode, depth));
  text.op("ck.embed ins(%ids, %w : $ids, $w) outs(%y : $y)");
  KernelRun run(text, mode.strict, mode.target, mode.int8);
  fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
  for (int64_t t = 0; t < mostTokens(mode); ++t)
    run.ints("ids")[t] = static_cast<int32_t>(7 * t % s.rows);
  runThreads(run, tokens);
  const Oracle oracle(mode, run.bytes("w"), width);
  const Activation y(run, mode, "y", depth);
  WorstElement worst;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t k = 0; k < depth; ++k)
      worst.compare(y.at(t, k), static_cast<double>(oracle.weight(run.ints("ids")[t], k)), 0, t, k);
  INFO(worst.text());
  CHECK(worst.fits());
}

struct Op {
  const char *name;
  void (*check)(const Mode &, const Shape &, bool variant);
};
constexpr Op kOps[] = {{"linear", [](const Mode &m, const Shape &s, bool variant) { checkLinear(m, s, variant); }},
                       {"gated_linear", checkGated},
                       {"linear to heads", checkHeads},
                       {"attn_project", checkAttnProject},
                       {"lm_head", checkLMHead},
                       {"embed", checkEmbed}};

void check(const Op &op, const Mode &mode, const Shape &s, bool variant) {
  INFO(op.name << " of " << s.rows << " rows, " << s.blocks << " blocks but " << s.unused << " features, " << s.tokens
               << " tokens, variant " << variant);
  op.check(mode, s, variant);
}

/// A mode with codes where there are blocks, for each target and layout.
void forInt8(llvm::function_ref<void(const Mode &)> run) {
  forModes([&](const Mode &mode) {
    if (mode.int8)
      run(mode);
  });
}

} // namespace

TEST_CASE("weights of every format on every target: an op and a shape a mode, in turn") {
  size_t turn = 0;
  forModes([&](const Mode &mode) {
    for (size_t i = 0; i < (mode.strict ? 1 : 2); ++i, ++turn) // compiling takes most of the time
      check(kOps[turn % std::size(kOps)], mode, kShapes[turn / 2 % std::size(kShapes)], turn / 6 % 2 == 0);
  });
}

TEST_CASE("weights of every format on every target: all ops, two shapes each", "[.][long]") {
  size_t turn = 0;
  forModes([&](const Mode &mode) {
    for (const Op &op : kOps)
      for (int i = 0; i < 2; ++i, ++turn)
        check(op, mode, kShapes[turn % std::size(kShapes)], turn / 2 % 2 == 0);
  });
}

TEST_CASE("codes all at an end times activations all at an end don't saturate") {
  for (Blocks blocks : {Blocks::Least, Blocks::Most})
    forInt8([&](const Mode &mode) {
      INFO((blocks == Blocks::Least ? "least" : "most"));
      checkLinear(mode, {5, 2, 0, 17}, false, blocks);
    });
}

TEST_CASE("what is left of a row behind whole vectors is unpacked and met in its own order") {
  forInt8([&](const Mode &mode) {
    if (!mode.panels && formatOf(mode.type).elements == 32)
      checkLinear(mode, {3, 15, 0, 2}, false); // 8 blocks, 4, 2 and 1
  });
}

TEST_CASE("codes of activations are rounded half to even, and zeros have none") {
  forInt8([](const Mode &mode) {
    const int64_t width = 256, rows = 1;
    KernelText text = textFor(mode);
    text.in("x", activationShape(mode, width)).in("w", weightShape(mode, {rows, width}), elementOf(mode.type));
    text.in("b", {rows}).out("y", activationShape(mode, rows));
    text.op("ck.linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows 1 depth 256");
    KernelRun run(text, false, mode.target, true);
    const Activation x(run, mode, "x", width), y(run, mode, "y", rows);
    fillBlocks(mode.type, run.bytes("w"), Blocks::Most, 2);
    *run.floats("b") = 3.25f;
    // Scale 1 by the 127 in front of each block of 32, then quotients in the middle of two codes.
    for (int64_t k = 0; k < width; ++k) {
      x.at(0, k) = k % 32 == 0 ? 127.0f : static_cast<float>(k % 13) + 0.5f;
      x.at(1, k) = k % 32 == 0 ? -127.0f : -static_cast<float>(k % 13) - 0.5f;
      x.at(2, k) = k % 2 ? -0.0f : 0.0f;
    }
    run.run(3);
    const Oracle oracle(mode, run.bytes("w"), width);
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < width; ++k) {
      const int64_t even = (k % 13 + 1) / 2 * 2; // of n + 1/2: n or n + 1
      sum += static_cast<double>(oracle.weight(0, k)) * static_cast<double>(k % 32 == 0 ? 127 : even);
      magnitude += 3 * std::abs(static_cast<double>(oracle.weight(0, k))) * 127;
    }
    WorstElement worst;
    const double allowed = 40 * kRounding * magnitude / 10;
    worst.compare(y.at(0, 0), 3.25 + sum, allowed, 0, 0);
    worst.compare(y.at(1, 0), 3.25 - sum, allowed, 1, 0);
    worst.compare(y.at(2, 0), 3.25, 0, 2, 0);
    INFO(worst.text());
    CHECK(worst.fits());
  });
}

TEST_CASE("activations from the least to the largest magnitude") {
  forModes([](const Mode &mode) {
    if (mode.strict)
      return;
    const int64_t width = 256, rows = 3;
    KernelText text = textFor(mode);
    text.in("x", activationShape(mode, width)).in("w", weightShape(mode, {rows, width}), elementOf(mode.type));
    text.in("b", {rows}).out("y", activationShape(mode, rows));
    text.op("ck.linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows 3 depth 256");
    KernelRun run(text, false, mode.target, mode.int8);
    const Activation x(run, mode, "x", width), y(run, mode, "y", rows);
    fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
    std::fill_n(run.floats("b"), rows, 0.0f);
    const float scales[] = {0x1p-149f, 0x1p-126f, 1e-35f, 1e30f};
    SplitMix rng(9);
    for (int64_t t = 0; t < 4; ++t)
      for (int64_t k = 0; k < width; ++k)
        x.at(t, k) = (rng.chance(50) ? 1.0f : -1.0f) * scales[t];
    run.run(4);
    const Oracle oracle(mode, run.bytes("w"), width);
    WorstElement worst;
    for (int64_t t = 0; t < 4; ++t)
      for (int64_t n = 0; n < rows; ++n) {
        const Exact exact = oracle.dot(x.token(t, 0, width), n);
        worst.compare(y.at(t, n), exact.value, oracle.allowed(exact), t, n);
      }
    INFO(worst.text());
    CHECK(worst.fits());
  });
}

TEST_CASE("what isn't finite makes its own row or token not finite, and no other") {
  constexpr uint16_t kHalves[] = {0x7C00, 0xFC00, 0x7E00, 0x7C01}; // Inf, -Inf, NaN, one that signals
  size_t turn = 0;
  forModes([&](const Mode &mode) {
    const int64_t width = 512, rows = 9, tokens = mode.panels ? 17 : 4, badRow = 5, badToken = 2;
    KernelText text = textFor(mode);
    text.in("x", activationShape(mode, width)).in("w", weightShape(mode, {rows, width}), elementOf(mode.type));
    text.in("b", {rows}).out("y", activationShape(mode, rows));
    text.op("ck.linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows 9 depth 512");
    KernelRun run(text, mode.strict, mode.target, mode.int8);
    const Activation x(run, mode, "x", width), y(run, mode, "y", rows);
    fill(x, tokens, width, 1);
    fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
    run.fill("b", 3);
    const WeightFormat &format = formatOf(mode.type);
    const uint16_t half = kHalves[turn % 4];
    // The last block of the row, at whose end a step isn't whole either.
    uint8_t *block = run.bytes("w").data() + (badRow + 1) * width / format.elements * format.bytes - format.bytes;
    setScale(mode.type, block, mode.type == DType::BF16 ? floatToBf16(halfToFloat(half)) : half);
    const auto check = [&](bool badActivation) {
      run.run(tokens, 0, 2);
      int64_t wrong = 0;
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t n = 0; n < rows; ++n)
          wrong += std::isfinite(y.at(t, n)) == (n == badRow || (badActivation && t == badToken));
      INFO("half " << half << ", bad activation " << badActivation);
      CHECK(wrong == 0);
    };
    check(false);
    const float bad[] = {INFINITY, -INFINITY, NAN};
    x.at(badToken, 300) = bad[turn++ % 3];
    check(true);
  });
}
