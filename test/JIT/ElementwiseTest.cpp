//===- ElementwiseTest.cpp - Kernels without a matrix ---------------------===//
#include "KernelRun.h"
#include "Support/SplitMix.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace ckjit::test;
using llvm::formatv;

namespace {

/// (features, tokens, context): primes, one, and around a panel.
std::vector<std::array<int64_t, 3>> awkwardShapes() {
  const int64_t l = hostLanes();
  return {{1, 1, 1},        {3, 2, 5}, {7, l - 1, l}, {16, l, l}, {33, l + 1, 2 * l}, {61, 2 * l + 3, 3 * l + 1},
          {2, 3 * l, 3 * l}};
}

template <typename Check> void forShapes(Check check) {
  for (auto [features, tokens, context] : awkwardShapes()) {
    INFO("features " << features << ", tokens " << tokens << ", context " << context);
    check(features, tokens, context);
  }
}

/// Compares each element with expected(token, feature), to `roundings` of its size.
template <typename Expect>
void compare(Panels found, int64_t tokens, int64_t features, double roundings, Expect expected) {
  WorstElement worst;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t f = 0; f < features; ++f) {
      const double exact = expected(t, f);
      worst.compare(found.at(t, f), exact, roundings * kRounding * std::abs(exact), t, f);
    }
  INFO(worst.text());
  CHECK(worst.fits());
}

int64_t countNumbers(const float *data, size_t count) {
  return std::count_if(data, data + count, [](float v) { return !std::isnan(v); });
}

} // namespace

TEST_CASE("rmsnorm") {
  forShapes([](int64_t features, int64_t tokens, int64_t context) {
    for (double eps : {1e-5, 0.5}) {
      KernelText text;
      const int64_t panels = panelsFor(context), lanes = hostLanes();
      text.in("x", {panels, features, lanes}).in("g", {features + 5}).out("y", {panels, features, lanes});
      text.op(formatv("ck.rmsnorm ins(%x, %g : $x, $g) outs(%y : $y) eps {0:e} features {1}", eps, features).str());
      KernelRun run(text);
      run.fillPanels("x", features, tokens, 1, 3.0f);
      run.fillPart("g", 0, features, 2);
      run.run(tokens, 0, 2);
      const Panels x = run.panels("x", features);
      // Squares and their sum (halved by the root), the mean, the root, its inverse, two products.
      compare(run.panels("y", features), tokens, features, static_cast<double>(features) / 2 + 6,
              [&](int64_t t, int64_t f) {
                Exact squares;
                for (int64_t i = 0; i < features; ++i)
                  squares.addProduct(x.at(t, i), x.at(t, i));
                const double mean = squares.value / static_cast<double>(features);
                return static_cast<double>(x.at(t, f)) /
                       std::sqrt(mean + static_cast<double>(static_cast<float>(eps))) *
                       static_cast<double>(run.floats("g")[f]);
              });
    }
  });
}

TEST_CASE("rmsnorm with rstd keeps its result and stores one value for each of T tokens") {
  forShapes([](int64_t features, int64_t tokens, int64_t context) {
    KernelText text;
    const int64_t panels = panelsFor(context), lanes = hostLanes();
    text.in("x", {panels, features, lanes}).in("g", {features});
    text.out("plain", {panels, features, lanes}).out("y", {panels, features, lanes}).out("r", {context});
    for (const char *outs : {"outs(%plain : $plain)", "outs(%y : $y) rstd(%r : $r)"})
      text.op(formatv("ck.rmsnorm ins(%x, %g : $x, $g) {0} eps 0.5 features {1}", outs, features).str());
    KernelRun run(text);
    run.fillPanels("x", features, tokens, 1, 3.0f);
    run.fill("g", 2);
    run.run(tokens, 0, 2);
    compare(run.panels("y", features), tokens, features, 0,
            [&](int64_t t, int64_t f) { return run.panels("plain", features).at(t, f); });
    const Panels x = run.panels("x", features);
    WorstElement worst;
    for (int64_t t = 0; t < tokens; ++t) {
      Exact squares;
      for (int64_t i = 0; i < features; ++i)
        squares.addProduct(x.at(t, i), x.at(t, i));
      const double exact = 1 / std::sqrt(squares.value / static_cast<double>(features) + 0.5);
      // Squares and their sum (halved by the root), the mean, eps, the root, its inverse.
      worst.compare(run.floats("r")[t], exact, (static_cast<double>(features) / 2 + 4) * kRounding * exact, t, 0);
    }
    INFO(worst.text());
    CHECK(worst.fits());
    CHECK(countNumbers(run.floats("r"), run.size("r")) == tokens);
  });
}

TEST_CASE("rmsnorm of a row of zeros is zeros") {
  KernelText text;
  text.in("x", {1, 5, hostLanes()}).in("g", {5}).out("y", {1, 5, hostLanes()});
  text.op("ck.rmsnorm ins(%x, %g : $x, $g) outs(%y : $y) eps 1.0e-5 features 5");
  KernelRun run(text);
  std::fill_n(run.floats("x"), run.size("x"), 0.0f);
  run.fill("g", 1);
  run.run(1);
  compare(run.panels("y", 5), 1, 5, 0, [](int64_t, int64_t) { return 0.0; });
}

TEST_CASE("add") {
  forShapes([](int64_t features, int64_t tokens, int64_t context) {
    KernelText text;
    const int64_t panels = panelsFor(context), lanes = hostLanes();
    text.in("a", {panels, features, lanes}).in("b", {panels, features, lanes}).out("y", {panels, features, lanes});
    text.op("ck.add ins(%a, %b : $a, $b) outs(%y : $y)");
    KernelRun run(text);
    run.fillPanels("a", features, tokens, 1);
    run.fillPanels("b", features, tokens, 2);
    run.run(tokens, 0, 2);
    compare(run.panels("y", features), tokens, features, 1, [&](int64_t t, int64_t f) {
      return static_cast<double>(run.panels("a", features).at(t, f)) +
             static_cast<double>(run.panels("b", features).at(t, f));
    });
  });
}

TEST_CASE("swiglu") {
  forShapes([](int64_t features, int64_t tokens, int64_t context) {
    for (bool strict : {false, true}) {
      KernelText text;
      const int64_t panels = panelsFor(context), lanes = hostLanes();
      text.in("g", {panels, features, lanes}).in("u", {panels, features, lanes}).out("y", {panels, features, lanes});
      text.op("ck.swiglu ins(%g, %u : $g, $u) outs(%y : $y)");
      KernelRun run(text, strict);
      run.fillPanels("g", features, tokens, 1, 4.0f);
      run.fillPanels("u", features, tokens, 2);
      run.run(tokens, 0, 2);
      compare(run.panels("y", features), tokens, features, strict ? 4 : 7, [&](int64_t t, int64_t f) {
        const double gate = static_cast<double>(run.panels("g", features).at(t, f));
        return gate / (1 + std::exp(-gate)) * static_cast<double>(run.panels("u", features).at(t, f));
      });
    }
  });
}

TEST_CASE("split gives the first and the second half") {
  forShapes([](int64_t half, int64_t tokens, int64_t context) {
    KernelText text;
    const int64_t panels = panelsFor(context), lanes = hostLanes();
    text.in("x", {panels, 2 * half, lanes}).out("a", {panels, half, lanes}).out("b", {panels, half, lanes});
    text.op("ck.split ins(%x : $x) outs(%a, %b : $a, $b)");
    KernelRun run(text);
    run.fillPanels("x", 2 * half, tokens, 1);
    run.run(tokens, 0, 2);
    const Panels x = run.panels("x", 2 * half);
    compare(run.panels("a", half), tokens, half, 0, [&](int64_t t, int64_t f) { return x.at(t, f); });
    compare(run.panels("b", half), tokens, half, 0, [&](int64_t t, int64_t f) { return x.at(t, half + f); });
  });
}

TEST_CASE("pack lays rows out in panels") {
  forShapes([](int64_t features, int64_t tokens, int64_t context) {
    KernelText text;
    text.in("x", {context, features + 3}).out("y", {panelsFor(context), features, hostLanes()});
    text.op("ck.pack ins(%x : $x) outs(%y : $y)");
    KernelRun run(text);
    run.fill("x", 1);
    run.run(tokens, 0, 2);
    compare(run.panels("y", features), tokens, features, 0,
            [&](int64_t t, int64_t f) { return run.floats("x")[t * (features + 3) + f]; });
  });
}

TEST_CASE("unpack writes the logical columns of T rows and nothing else") {
  forShapes([](int64_t width, int64_t tokens, int64_t context) {
    for (int64_t segments : {1, 2, 3})
      for (bool heads : {false, true}) {
        const int64_t padded = width + 4, features = segments * width;
        KernelText text;
        text.in("x", {panelsFor(context), features, hostLanes()});
        if (heads)
          text.out("y", {segments, context, padded});
        else
          text.out("y", {context, segments * padded});
        text.op(formatv("ck.unpack ins(%x : $x) outs(%y : $y) segments {0}", segments).str());
        KernelRun run(text);
        run.fillPanels("x", features, tokens, 1);
        run.run(tokens, 0, 2);
        int64_t equal = 0;
        for (int64_t t = 0; t < tokens; ++t)
          for (int64_t f = 0; f < features; ++f) {
            const int64_t s = f / width, i = f % width;
            const int64_t place = heads ? (s * context + t) * padded + i : (t * segments + s) * padded + i;
            equal += run.floats("y")[place] == run.panels("x", features).at(t, f);
          }
        INFO("segments " << segments << ", heads " << heads);
        CHECK(equal == tokens * features);
        CHECK(countNumbers(run.floats("y"), run.size("y")) == tokens * features);
      }
  });
}

TEST_CASE("embed takes rows of the table and adds positions") {
  forShapes([](int64_t features, int64_t tokens, int64_t context) {
    for (bool positions : {false, true}) {
      const int64_t vocab = 11, padded = features + 3;
      KernelText text;
      text.in("ids", {context}, "i32").in("table", {vocab, padded}).in("pos", {context, padded});
      text.out("y", {panelsFor(context), features, hostLanes()});
      text.op(formatv("ck.embed ins(%ids, %table : $ids, $table) {0} outs(%y : $y)",
                      positions ? "positions(%pos : $pos)" : "")
                  .str());
      KernelRun run(text);
      run.fill("table", 1);
      run.fill("pos", 2);
      SplitMix rng(3);
      for (int64_t t = 0; t < context; ++t) // ids behind the last token may be anything: they must not be looked up
        run.ints("ids")[t] = t < tokens ? static_cast<int32_t>(rng.below(vocab)) : 0x7fffffff;
      run.run(tokens, 0, 2);
      compare(run.panels("y", features), tokens, features, 1, [&](int64_t t, int64_t f) {
        const double row = static_cast<double>(run.floats("table")[run.ints("ids")[t] * padded + f]);
        return row + (positions ? static_cast<double>(run.floats("pos")[t * padded + f]) : 0);
      });
    }
  });
}

TEST_CASE("rope alone rotates panels and caches") {
  forShapes([](int64_t half, int64_t tokens, int64_t context) {
    for (bool headMajor : {false, true}) {
      const int64_t heads = 3, dim = 2 * half, padded = dim + 6;
      KernelText text;
      text.in("cos", {context, half}).in("sin", {context, half});
      if (headMajor)
        text.out("x", {heads, context, padded});
      else
        text.out("x", {panelsFor(context), heads * dim, hostLanes()});
      text.op(formatv("ck.rope inout(%x : $x) {0} table(%cos, %sin : $cos, $sin) head_dim {1}",
                      headMajor ? "head_major" : "", dim)
                  .str());
      KernelRun run(text);
      for (const char *name : {"x", "cos", "sin"})
        run.fill(name, static_cast<uint64_t>(*name));
      std::vector<float> before(run.floats("x"), run.floats("x") + run.size("x"));
      run.run(tokens, 0, 2);
      const auto at = [&](float *data, int64_t h, int64_t t, int64_t i) -> float & {
        return headMajor ? data[(h * context + t) * padded + i] : Panels(data, heads * dim).at(t, h * dim + i);
      };
      WorstElement worst;
      int64_t untouched = 0;
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t t = 0; t < context; ++t)
          for (int64_t i = 0; i < half; ++i) {
            const double a = at(before.data(), h, t, i), b = at(before.data(), h, t, half + i);
            const double c = run.floats("cos")[t * half + i], s = run.floats("sin")[t * half + i];
            const float first = at(run.floats("x"), h, t, i), second = at(run.floats("x"), h, t, half + i);
            if (t >= tokens) {
              untouched += !headMajor || (static_cast<double>(first) == a && static_cast<double>(second) == b);
              continue;
            }
            worst.compare(first, a * c - b * s, 2 * kRounding * (std::abs(a * c) + std::abs(b * s)), t, h * dim + i);
            worst.compare(second, a * s + b * c, 2 * kRounding * (std::abs(a * s) + std::abs(b * c)), t,
                          h * dim + half + i);
          }
      INFO("head-major " << headMajor << ", " << worst.text());
      CHECK(worst.fits());
      CHECK(untouched == heads * (context - tokens) * half);
    }
  });
}
