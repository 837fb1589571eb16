//===- RowsRun.cpp - What tests of kernels on rows share ------------------===//
#include "RowsRun.h"
#include "Support/SplitMix.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace llvm;

namespace ckjit::test {

const std::vector<TargetDescription> &rowsTargets() {
  static const std::vector<TargetDescription> targets = [] {
    __builtin_cpu_init();
    std::vector<TargetDescription> made{hostTarget()};
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
      made.push_back(must(describeTarget("x86-64-v2")));
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe"))
      made.push_back(must(describeTarget("haswell")));
    return made;
  }();
  return targets;
}

void fillRows(KernelRun &run, StringRef name, int64_t width, int64_t features, int64_t tokens, uint64_t seed,
              float scale) {
  SplitMix rng(seed);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t f = 0; f < features; ++f)
      run.floats(name)[t * width + f] = rng.normal() * scale;
}

static std::vector<std::vector<float>> resultsOf(int64_t tokens, int64_t position, ResultOf resultOf) {
  std::vector<std::vector<float>> results;
  for (int64_t t = 0; t < tokens; ++t)
    results.push_back(resultOf(t, position + t));
  return results;
}

static bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void checkSameBits(KernelRun &run, ArrayRef<TokenRows> inputs, int64_t tokens, int64_t position, ResultOf resultOf) {
  run.poisonOutputs();
  run.run(tokens, 0, 1, position);
  const std::vector<std::vector<float>> together = resultsOf(tokens, position, resultOf);
  const auto differing = [&](const std::vector<std::vector<float>> &found) {
    int64_t count = 0;
    for (size_t t = 0; t < found.size(); ++t)
      count += !sameBits(found[t], together[t]);
    return count;
  };
  for (unsigned threads : {2u, 3u, 5u}) {
    run.poisonOutputs();
    run.run(tokens, 0, threads, position);
    INFO("tokens " << tokens << ", position " << position << ", threads " << threads);
    CHECK(differing(resultsOf(tokens, position, resultOf)) == 0);
  }
  for (int64_t t = 0; t < tokens; ++t) {
    std::vector<std::vector<float>> first;
    for (const TokenRows &input : inputs) {
      float *data = run.floats(input.name);
      first.emplace_back(data, data + input.width);
      std::memmove(data, data + t * input.width, static_cast<size_t>(input.width) * sizeof(float));
    }
    run.poisonOutputs();
    run.run(1, 0, 2, position + t);
    INFO("token " << t << " of " << tokens << " alone, position " << position + t);
    CHECK(sameBits(resultOf(0, position + t), together[static_cast<size_t>(t)]));
    for (auto [input, values] : zip(inputs, first))
      std::copy(values.begin(), values.end(), run.floats(input.name));
  }
}

} // namespace ckjit::test
