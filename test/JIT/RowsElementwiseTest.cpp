//===- RowsElementwiseTest.cpp - Kernels without a matrix, on rows --------===//
#include "RowsRun.h"
#include "Support/SplitMix.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace ckjit;
using namespace ckjit::test;
using llvm::formatv;

namespace {

/// check(features, target): one, fewer features than lanes, whole vectors, one beside them, primes.
template <typename Check> void forShapes(Check check) {
  for (const TargetDescription &target : rowsTargets()) {
    const int64_t lanes = target.vectorBits / 32;
    for (int64_t features : {int64_t{1}, int64_t{3}, lanes - 1, lanes, lanes + 1, 2 * lanes + 3, int64_t{64},
                             int64_t{131}}) {
      INFO(target.cpu << ": features " << features);
      check(features, target);
    }
  }
}

/// Runs 1 to 4 tokens and compares each element with expected(token, feature), to `roundings` of its size. Rows that
/// are not there stay as they were. Then the bits, for any threads and tokens.
template <typename Expect>
void checkRows(KernelRun &run, llvm::ArrayRef<TokenRows> inputs, const char *out, int64_t width, int64_t features,
               double roundings, Expect expected, int64_t position = 0) {
  for (int64_t tokens = 1; tokens <= kMostRows; ++tokens) {
    run.poisonOutputs();
    run.run(tokens, 0, 2, position);
    WorstElement worst;
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t f = 0; f < features; ++f) {
        const double exact = expected(t, f);
        worst.compare(run.floats(out)[t * width + f], exact, roundings * kRounding * std::abs(exact), t, f);
      }
    INFO(out << ": tokens " << tokens << ", position " << position << ", " << worst.text());
    CHECK(worst.fits());
    const float *data = run.floats(out);
    CHECK(std::count_if(data, data + run.size(out), [](float v) { return !std::isnan(v); }) == tokens * features);
  }
  checkSameBits(run, inputs, kMostRows, position, [&](int64_t row, int64_t) {
    const float *data = run.floats(out) + row * width;
    return std::vector<float>(data, data + features);
  });
}

double wide(float value) { return static_cast<double>(value); }

} // namespace

TEST_CASE("rows: embed takes rows of the table and adds those of the positions") {
  forShapes([](int64_t features, const TargetDescription &target) {
    for (bool positions : {false, true}) {
      const int64_t vocab = 11, padded = features + 3;
      KernelText text;
      text.in("ids", {kRowsContext}, "i32").in("table", {vocab, padded}).in("pos", {kRowsContext, padded});
      text.out("y", {kMostRows, features});
      text.op(formatv("ck.embed ins(%ids, %table : $ids, $table) {0} outs(%y : $y)",
                      positions ? "positions(%pos : $pos)" : "")
                  .str());
      KernelRun run(text, false, target);
      run.fill("table", 1);
      run.fill("pos", 2);
      SplitMix rng(3);
      for (int64_t t = 0; t < kRowsContext; ++t)
        run.ints("ids")[t] = static_cast<int32_t>(rng.below(vocab));
      for (int64_t position : kPositions)
        checkRows(run, {{"ids", 1}}, "y", features, features, 1, [&](int64_t t, int64_t f) {
          const double row = wide(run.floats("table")[run.ints("ids")[t] * padded + f]);
          return row + (positions ? wide(run.floats("pos")[(position + t) * padded + f]) : 0);
        }, position);
    }
  });
}

TEST_CASE("rows: rmsnorm, alone and with rstd") {
  forShapes([](int64_t features, const TargetDescription &target) {
    for (bool rstd : {false, true})
      for (double eps : {1e-5, 0.5}) {
        const int64_t width = features + 5;
        KernelText text;
        text.in("x", {kMostRows, width}).in("g", {features + 2}).out("y", {kMostRows, width}).out("r", {kMostRows});
        text.op(formatv("ck.rmsnorm ins(%x, %g : $x, $g) outs(%y : $y) {0} eps {1:e} features {2}",
                        rstd ? "rstd(%r : $r)" : "", eps, features)
                    .str());
        KernelRun run(text, false, target);
        fillRows(run, "x", width, features, kMostRows, 1, 3.0f);
        run.fillPart("g", 0, features, 2);
        const auto inverse = [&](int64_t t) {
          Exact squares;
          for (int64_t i = 0; i < features; ++i)
            squares.addProduct(run.floats("x")[t * width + i], run.floats("x")[t * width + i]);
          return 1 / std::sqrt(squares.value / static_cast<double>(features) + wide(static_cast<float>(eps)));
        };
        // Squares and their sum (halved by the root), the mean, the root, its inverse, two products.
        checkRows(run, {{"x", width}}, "y", width, features, static_cast<double>(features) / 2 + 6,
                  [&](int64_t t, int64_t f) {
                    return wide(run.floats("x")[t * width + f]) * inverse(t) * wide(run.floats("g")[f]);
                  });
        if (rstd)
          for (int64_t position : {0, 127}) // as many values as rows, wherever they stand
            checkRows(run, {{"x", width}}, "r", 1, 1, static_cast<double>(features) / 2 + 4,
                      [&](int64_t t, int64_t) { return inverse(t); }, position);
      }
  });
}

TEST_CASE("rows: rmsnorm of a row of zeros is zeros") {
  KernelText text;
  text.in("x", {kMostRows, 5}).in("g", {5}).out("y", {kMostRows, 5});
  text.op("ck.rmsnorm ins(%x, %g : $x, $g) outs(%y : $y) eps 1.0e-5 features 5");
  KernelRun run(text);
  std::fill_n(run.floats("x"), run.size("x"), 0.0f);
  run.fill("g", 1);
  checkRows(run, {{"x", 5}}, "y", 5, 5, 0, [](int64_t, int64_t) { return 0.0; });
}

TEST_CASE("rows: add") {
  forShapes([](int64_t features, const TargetDescription &target) {
    KernelText text;
    text.in("a", {kMostRows, features}).in("b", {kMostRows, features}).out("y", {kMostRows, features});
    text.op("ck.add ins(%a, %b : $a, $b) outs(%y : $y)");
    KernelRun run(text, false, target);
    run.fill("a", 1);
    run.fill("b", 2);
    checkRows(run, {{"a", features}, {"b", features}}, "y", features, features, 1, [&](int64_t t, int64_t f) {
      return wide(run.floats("a")[t * features + f]) + wide(run.floats("b")[t * features + f]);
    });
  });
}

TEST_CASE("rows: swiglu") {
  forShapes([](int64_t features, const TargetDescription &target) {
    for (bool strict : {false, true}) {
      KernelText text;
      text.in("g", {kMostRows, features}).in("u", {kMostRows, features}).out("y", {kMostRows, features});
      text.op("ck.swiglu ins(%g, %u : $g, $u) outs(%y : $y)");
      KernelRun run(text, strict, target);
      run.fill("g", 1, 4.0f);
      run.fill("u", 2);
      checkRows(run, {{"g", features}, {"u", features}}, "y", features, features, strict ? 4 : 7,
                [&](int64_t t, int64_t f) {
                  const double gate = wide(run.floats("g")[t * features + f]);
                  return gate / (1 + std::exp(-gate)) * wide(run.floats("u")[t * features + f]);
                });
    }
  });
}

TEST_CASE("rows: split gives the first and the second half") {
  forShapes([](int64_t half, const TargetDescription &target) {
    const int64_t width = 2 * half + 1;
    KernelText text;
    text.in("x", {kMostRows, width}).out("a", {kMostRows, half}).out("b", {kMostRows, half});
    text.op("ck.split ins(%x : $x) outs(%a, %b : $a, $b)");
    KernelRun run(text, false, target);
    fillRows(run, "x", width, 2 * half, kMostRows, 1);
    const float *x = run.floats("x");
    checkRows(run, {{"x", width}}, "a", half, half, 0, [&](int64_t t, int64_t f) { return wide(x[t * width + f]); });
    checkRows(run, {{"x", width}}, "b", half, half, 0,
              [&](int64_t t, int64_t f) { return wide(x[t * width + half + f]); });
  });
}

TEST_CASE("rows: rope alone rotates rows and caches by the angles of the position") {
  forShapes([](int64_t half, const TargetDescription &target) {
    for (bool headMajor : {false, true}) {
      const int64_t heads = 3, dim = 2 * half, padded = dim + 6;
      KernelText text;
      text.in("cos", {kRowsContext, half}).in("sin", {kRowsContext, half});
      if (headMajor)
        text.out("x", {heads, kRowsContext, padded});
      else
        text.out("x", {kMostRows, heads * dim});
      text.op(formatv("ck.rope inout(%x : $x) {0} table(%cos, %sin : $cos, $sin) head_dim {1}",
                      headMajor ? "head_major" : "", dim)
                  .str());
      // In place: a run's input is put back before the next one. Only caches have lanes that are nobody's.
      KernelRun run(text, false, target);
      for (const char *name : {"x", "cos", "sin"})
        run.fill(name, static_cast<uint64_t>(*name));
      const std::vector<float> before(run.floats("x"), run.floats("x") + run.size("x"));
      const auto place = [&](int64_t h, int64_t row, int64_t position, int64_t i) {
        return headMajor ? (h * kRowsContext + position) * padded + i : row * heads * dim + h * dim + i;
      };
      int64_t tokens = 0;
      for (int64_t position : kPositions) {
        tokens = tokens % kMostRows + 1;
        std::vector<float> after;
        for (unsigned threads : {1u, 2u, 3u, 5u}) {
          std::copy(before.begin(), before.end(), run.floats("x"));
          run.run(tokens, 0, threads, position);
          if (after.empty())
            after.assign(run.floats("x"), run.floats("x") + run.size("x"));
          CHECK(std::memcmp(after.data(), run.floats("x"), after.size() * sizeof(float)) == 0);
        }
        WorstElement worst;
        int64_t changed = 0;
        for (size_t i = 0; i < before.size(); ++i)
          changed += before[i] != after[i];
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t t = 0; t < tokens; ++t)
            for (int64_t i = 0; i < half; ++i) {
              const auto first = static_cast<size_t>(place(h, t, position + t, i));
              const auto second = static_cast<size_t>(place(h, t, position + t, half + i));
              const double a = wide(before[first]), b = wide(before[second]);
              const double c = wide(run.floats("cos")[(position + t) * half + i]);
              const double s = wide(run.floats("sin")[(position + t) * half + i]);
              worst.compare(after[first], a * c - b * s, 2 * kRounding * (std::abs(a * c) + std::abs(b * s)), t,
                            h * dim + i);
              worst.compare(after[second], a * s + b * c, 2 * kRounding * (std::abs(a * s) + std::abs(b * c)), t,
                            h * dim + half + i);
            }
        INFO("head-major " << headMajor << ", tokens " << tokens << ", position " << position << ", " << worst.text());
        CHECK(worst.fits());
        CHECK(changed <= heads * tokens * dim); // and no other: each of those was compared
      }
    }
  });
}
