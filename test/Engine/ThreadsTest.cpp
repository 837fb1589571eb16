//===- ThreadsTest.cpp - The same bits on any number of threads -----------===//
#include "ModelRun.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// Runs `program` on a team of its own, over the weights and ids that stand in the model's arena.
void runOn(const Program &program, Model &model, unsigned threads, size_t tokens) {
  // token_emb is the arena's first buffer.
  REQUIRE(model.plan().find("token_emb")->offset == 0);
  float *arena = model.buffer("token_emb");
  const std::unique_ptr<ThreadTeam> team = must(ThreadTeam::create(threads));
  team->run([&](unsigned tid, unsigned count) { program.prefill()(team.get(), tid, count, tokens, 0, 0, arena, arena); });
}

void checkThreads(const NamedConfig &named, const CompileOptions &options) {
  const CKIRGraph graph = buildForwardGraph(named.config);
  const TestModel weights(named.config);
  const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow, 9);
  const std::vector<int32_t> targets = makeTokens(named.config, named.config.contextWindow, 10);
  const std::unique_ptr<Model> model = makeModel(graph, options, weights, 1);
  must(model->prefill(tokens, 0, targets));
  const size_t count = tokens.size() * static_cast<size_t>(named.config.vocabSize);
  const std::vector<float> logits(model->logits(0).data(), model->logits(0).data() + count),
      losses = model->losses().vec();
  const std::unique_ptr<Program> program = must(Program::link(must(compileGraph(graph, "again", options))));
  for (unsigned threads : {1u, 2u, 3u, 5u, 8u})
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::fill_n(model->buffer("logits"), count, -7.0f);
      runOn(*program, *model, threads, tokens.size());
      INFO(named.name << ", threads " << threads << ", strict " << options.pipeline.strict << ", materialize "
                      << options.pipeline.materialize);
      CHECK(sameBits(logits, {model->logits(0).data(), count}));
      CHECK(sameBits(losses, model->losses()));
    }
}

/// The last few tokens of the context, behind a cache that holds the others.
void checkDecode(const NamedConfig &named, CompileOptions options) {
  options.decode = true;
  const CKIRGraph graph = buildForwardGraph(named.config);
  const TestModel weights(named.config);
  const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow, 9);
  const std::unique_ptr<Program> program = must(Program::link(must(compileGraph(graph, "again", options))));
  REQUIRE(program->decode());
  const std::unique_ptr<Model> model = makeModel(graph, options, weights, 1);
  float *arena = model->buffer("token_emb"); // the arena's first buffer
  for (size_t few = 1; few <= std::min<size_t>(4, tokens.size()); ++few) {
    const size_t position = tokens.size() - few, count = few * static_cast<size_t>(named.config.vocabSize);
    const llvm::ArrayRef<int32_t> all(tokens);
    if (position > 0)
      must(model->prefill(all.take_front(position), 0));
    must(model->prefill(all.drop_front(position), 0, {}, static_cast<int64_t>(position)));
    const std::vector<float> logits(model->logits(0).data(), model->logits(0).data() + count);
    for (unsigned threads : {1u, 2u, 3u, 5u, 8u}) {
      std::fill_n(model->buffer("logits"), count, -7.0f);
      const std::unique_ptr<ThreadTeam> team = must(ThreadTeam::create(threads));
      team->run([&](unsigned tid, unsigned size) {
        program->decode()(team.get(), tid, size, few, 0, position, arena, arena);
      });
      INFO(named.name << ", threads " << threads << ", tokens " << few << ", strict " << options.pipeline.strict
                      << ", fuse " << options.pipeline.fuse);
      CHECK(sameBits(logits, {model->logits(0).data(), count}));
    }
  }
}

} // namespace

TEST_CASE("logits and losses are the same bits for 1, 2, 3, 5 and 8 threads") {
  for (const NamedConfig &named : {goldenConfigs()[1], awkwardConfigs()[0]})
    for (uint64_t mode = 0; mode < 3; ++mode)
      checkThreads(named, modeOptions(mode));
}

TEST_CASE("more threads than rows, heads or panels of work") {
  for (const NamedConfig &named : awkwardConfigs())
    if (named.name == "vocab_1" || named.name == "intermediate_1" || named.name == "one_position")
      checkThreads(named, hostOptions());
}

TEST_CASE("few tokens are the same bits for 1, 2, 3, 5 and 8 threads") {
  for (const NamedConfig &named : {goldenConfigs()[1], awkwardConfigs()[0]})
    for (uint64_t mode : {uint64_t{0}, uint64_t{1}, uint64_t{3}})
      checkDecode(named, modeOptions(mode));
  for (const NamedConfig &named : awkwardConfigs())
    if (named.name == "vocab_1" || named.name == "intermediate_1" || named.name == "one_position")
      checkDecode(named, hostOptions());
}

TEST_CASE("a model runs on the number of threads asked for") {
  const TestModel weights(tinyConfig());
  const std::vector<int32_t> tokens = makeTokens(tinyConfig(), 20);
  std::vector<float> first;
  for (unsigned threads : {1u, 3u}) {
    const std::unique_ptr<Model> model = makeModel(buildForwardGraph(tinyConfig()), hostOptions(), weights, threads);
    CHECK(model->threads() == threads);
    const std::vector<float> logits = runLogits(*model, tokens);
    first = first.empty() ? logits : first;
    CHECK(sameBits(first, logits));
  }
}
