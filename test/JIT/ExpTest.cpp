//===- ExpTest.cpp - How exact the generated exp is -----------------------===//
//
// exp can't be called alone: it is seen through silu where 1 + e is e, and through attention over two keys.
//
//===----------------------------------------------------------------------===//
#include "KernelRun.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace ckjit::test;

namespace {

KernelText swiglu(int64_t features, int64_t panels) {
  KernelText text;
  text.in("g", {panels, features, hostLanes()}).in("u", {panels, features, hostLanes()});
  text.out("y", {panels, features, hostLanes()});
  text.op("ck.swiglu ins(%g, %u : $g, $u) outs(%y : $y)");
  return text;
}

/// silu of every value, with 1 as the other factor.
std::vector<float> siluOf(const std::vector<float> &values, bool strict) {
  const int64_t count = static_cast<int64_t>(values.size()), panels = panelsFor(count);
  KernelRun run(swiglu(1, panels), strict);
  std::copy(values.begin(), values.end(), run.floats("g"));
  std::fill_n(run.floats("u"), run.size("u"), 1.0f);
  run.run(count);
  return std::vector<float>(run.floats("y"), run.floats("y") + count);
}

std::vector<float> range(float from, float to, int steps) {
  std::vector<float> values;
  for (int i = 0; i <= steps; ++i)
    values.push_back(from + (to - from) * (static_cast<float>(i) / static_cast<float>(steps)));
  return values;
}

/// What exp may be off by.
constexpr double kExpUlps = 2.0, kExpUlpsStrict = 0.501;

/// Compares silu with its value in double: exp's error (an ulp is at most two roundings), the rounding of 1 + e and of
/// the division.
void checkSilu(const std::vector<float> &values, bool strict) {
  const std::vector<float> results = siluOf(values, strict);
  const double roundings = 2 * (strict ? kExpUlpsStrict : kExpUlps) + 2;
  WorstElement worst;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(values[i]), exact = x / (1 + std::exp(-x));
    worst.compare(results[i], exact, roundings * kRounding * std::abs(exact), static_cast<int64_t>(i), 0);
  }
  INFO("strict " << strict << ", " << worst.text());
  CHECK(worst.fits());
}

} // namespace

TEST_CASE("silu over the whole range where its result is a normal number") {
  for (bool strict : {false, true})
    checkSilu(range(-87.0f, 120.0f, 200000), strict);
}

TEST_CASE("exp of large arguments, from silu(-x) = -x / e") {
  // From 18 on 1 + e is e in fp32; up to 88 e is finite.
  const std::vector<float> values = range(-88.0f, -18.0f, 200000);
  for (bool strict : {false, true}) {
    const std::vector<float> results = siluOf(values, strict);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double x = static_cast<double>(values[i]),
                   distance = ulps(x / static_cast<double>(results[i]), std::exp(-x));
      if (!(distance <= worst)) {
        worst = distance;
        where = values[i];
      }
    }
    INFO("strict " << strict << ": e is " << worst << " ulp off at " << where);
    // The division's rounding makes up to one more.
    CHECK(worst <= 1 + (strict ? kExpUlpsStrict : kExpUlps));
  }
}

TEST_CASE("silu at the ends: overflow, infinities, NaN, zeros") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (bool strict : {false, true}) {
    INFO("strict " << strict);
    const std::vector<float> r =
        siluOf({inf, -inf, nan, -nan, 0.0f, -0.0f, -120.0f, -89.5f, 1e38f, -1e38f, 1e-40f, 120.0f}, strict);
    CHECK(r[0] == inf);
    CHECK(std::isnan(r[1])); // -inf / inf: what the formula gives in double too
    CHECK(std::isnan(r[2]));
    CHECK(std::isnan(r[3]));
    CHECK(r[4] == 0.0f);
    CHECK(r[5] == 0.0f);
    CHECK(std::abs(r[6]) <= 1e-37f); // e overflows: the result, 1e-50, is a zero
    CHECK(std::abs(r[7]) <= 1e-37f);
    CHECK(r[8] == 1e38f);
    CHECK(std::abs(r[9]) <= 1e-37f);
    CHECK(std::abs(r[10] - 5e-41f) <= 2e-45f);
    CHECK(r[11] == 120.0f);
  }
}

TEST_CASE("silu on both sides of where the polynomial changes its exponent") {
  // At x = (n + 1/2) ln 2 the rounding to n changes.
  std::vector<float> values;
  for (int n = -125; n < 125; ++n) {
    float x = static_cast<float>((n + 0.5) * 0.693147180559945309);
    for (int i = 0; i < 16; ++i)
      x = std::nextafterf(x, -1000.0f);
    for (int i = 0; i < 32; ++i, x = std::nextafterf(x, 1000.0f))
      values.push_back(x);
  }
  for (bool strict : {false, true})
    checkSilu(values, strict);
}

TEST_CASE("exp of negative arguments, from attention over two keys") {
  // Head width 4: the scale is 1/2 exactly. Scores are 0, x and, for all keys after, so low that they weigh nothing;
  // values are 0, 1, 0, 0, ...: the result is e / (1 + e).
  constexpr int64_t context = 2048, padded = 16;
  KernelText text;
  text.in("q", {panelsFor(context), 4, hostLanes()}).out("y", {panelsFor(context), 4, hostLanes()});
  text.in("k", {1, context, padded}).in("v", {1, context, padded});
  text.op("ck.attention ins(%q, %k, %v : $q, $k, $v) outs(%y : $y) heads 1 head_dim 4");
  for (bool strict : {false, true}) {
    KernelRun run(text, strict);
    for (const char *name : {"q", "k", "v"})
      std::fill_n(run.floats(name), run.size(name), 0.0f);
    const std::vector<float> x = range(-104.0f, 0.0f, context - 1);
    for (int64_t t = 0; t < context; ++t) {
      run.panels("q", 4).at(t, 0) = 2 * x[t];
      run.panels("q", 4).at(t, 1) = -1e5f;
      run.floats("k")[t * padded + (t > 1)] = t == 0 ? 0.0f : 1.0f;
    }
    run.floats("v")[padded] = 1.0f;
    run.run(context);
    WorstElement worst;
    for (int64_t t = 1; t < context; ++t) {
      const double e = std::exp(static_cast<double>(x[t])), mean = e / (1 + e);
      // exp's ulps, and the roundings of 1 + e, its inverse and the product; below 1e-38 half a step of denormals each.
      const double roundings = 2 * (strict ? kExpUlpsStrict : kExpUlps) + 3;
      worst.compare(run.panels("y", 4).at(t, 0), mean, roundings * kRounding * mean + 0x1p-149, t, 0);
    }
    INFO("strict " << strict << ", " << worst.text());
    CHECK(worst.fits());
  }
}
