//===- TargetsTest.cpp - Code for other CPUs, run where it can ------------===//
#include "ModelRun.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

namespace {

struct Cpu {
  const char *name;
  bool runsHere;
  unsigned vectorBits;
};

/// Asks the processor, not the code that is tested.
std::vector<Cpu> cpus() {
  __builtin_cpu_init();
  const bool haswell = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                       __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
  const bool v4 = haswell && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512cd");
  const bool zen4 = v4 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16") &&
                    __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                    __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq") &&
                    __builtin_cpu_supports("gfni") && __builtin_cpu_supports("vpclmulqdq") &&
                    __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("sse4a");
  const bool v2 =
      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt");
  return {{"x86-64-v2", v2, 128}, {"haswell", haswell, 256}, {"x86-64-v4", v4, 512}, {"znver4", zen4, 512}};
}

void checkTarget(const ModelConfig &config, const TargetDescription &target, bool strict) {
  const CKIRGraph graph = buildForwardGraph(config);
  const TestModel weights(config, {.padding = Padding::NaN});
  CompileOptions options = hostOptions(strict);
  options.target = target;
  options.decode = true;
  const std::unique_ptr<Model> model = makeModel(graph, options, weights);
  for (int64_t count : {int64_t{5}, config.contextWindow}) {
    const std::vector<int32_t> tokens = makeTokens(config, count, 6);
    const std::vector<double> expected = referenceLogits(graph, weights, tokens);
    const Distance distance = distanceOf(runLogits(*model, tokens), expected, static_cast<size_t>(config.vocabSize));
    INFO(distance.text());
    CHECK(distance.worst <= toleranceFor(expected, strict));
    for (int64_t length : {1, 3, 4}) {
      const Distance few =
          distanceOf(runSteps(*model, tokens, length), expected, static_cast<size_t>(config.vocabSize));
      INFO("tokens at a time " << length << ", " << few.text());
      CHECK(few.worst <= toleranceFor(expected, strict));
    }
  }
}

} // namespace

TEST_CASE("code for other targets agrees with the reference where it runs") {
  for (const Cpu &cpu : cpus()) {
    INFO(cpu.name);
    const TargetDescription target = must(describeTarget(cpu.name));
    CHECK(target.vectorBits == cpu.vectorBits);
    if (!cpu.runsHere) {
      WARN("skipped: this machine can't run code for " << cpu.name);
      continue;
    }
    for (const NamedConfig &named : {goldenConfigs()[1], awkwardConfigs()[0]})
      for (bool strict : {false, true}) {
        INFO(named.name << ", strict " << strict);
        checkTarget(named.config, target, strict);
      }
  }
}

TEST_CASE("overrides of the tile change the code, not the result") {
  const ModelConfig config = awkwardConfigs()[0].config;
  const CKIRGraph graph = buildForwardGraph(config);
  const TestModel weights(config);
  const std::vector<int32_t> tokens = makeTokens(config, config.contextWindow, 6);
  const std::vector<double> expected = referenceLogits(graph, weights, tokens);
  const std::array<int64_t, 4> tiles[] = {{2, 1, 1, 1}, {2, 3, 1, 2}, {4, 2, 2, 4}, {8, 1, 3, 3}};
  for (auto [rows, vectors, panels, unroll] : tiles) {
    CompileOptions options = hostOptions();
    options.pipeline.rows = rows;
    options.pipeline.vectors = vectors;
    options.pipeline.panels = panels;
    options.pipeline.unroll = unroll;
    const std::unique_ptr<Model> model = makeModel(graph, options, weights);
    const Distance distance = distanceOf(runLogits(*model, tokens), expected, static_cast<size_t>(config.vocabSize));
    INFO("rows " << rows << ", vectors " << vectors << ", panels " << panels << ", unroll " << unroll << ", "
                 << distance.text());
    CHECK(distance.worst <= toleranceFor(expected, false));
  }
}

TEST_CASE("a tile that an op can't use is an error, not a crash") {
  for (auto [rows, vectors] : {std::pair<int64_t, int64_t>{1, 1}, {3, 1}, {7, 2}, {-1, 1}, {4, -2}}) {
    CompileOptions options = hostOptions();
    options.pipeline.rows = rows;
    options.pipeline.vectors = vectors;
    llvm::Expected<CompiledObject> compiled = compileGraph(buildForwardGraph(tinyConfig()), "tiny", options);
    INFO("rows " << rows << ", vectors " << vectors);
    CHECK_FALSE(static_cast<bool>(compiled));
    if (!compiled)
      CHECK_THAT(llvm::toString(compiled.takeError()), Catch::Contains("tiny") && Catch::Contains("tile"));
  }
}
