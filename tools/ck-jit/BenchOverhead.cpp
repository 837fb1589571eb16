//===- BenchOverhead.cpp - What a decoded token costs outside kernels -----===//
#include "Bench.h"
#include "ckjit/Engine/Model.h"
#include "ckjit/Engine/Sampler.h"
#include <chrono>
#include <fmt/format.h>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

namespace {
/// Tokens of a run: long enough that the clock costs nothing, short enough that runs of all parts see one machine.
constexpr int64_t kTokens = 64;

/// Microseconds of one of `count` calls of `body`.
Expected<double> microsecondsOf(int64_t count, function_ref<Error(int64_t)> body) {
  auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i)
    if (Error error = body(i))
      return error;
  std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
  return passed.count() / static_cast<double>(count);
}

/// Barriers and launches of @decode.
struct Steps {
  size_t barriers = 0, launches = 0;
};
Expected<Steps> stepsOf(const CKIRGraph &graph, const CompileOptions &options) {
  auto text = emitGraph(graph, "overhead", options, EmitStage::CK);
  if (!text)
    return text.takeError();
  StringRef decode = StringRef(*text).substr(text->find("@decode("));
  return Steps{decode.count("ck.barrier"), decode.count("ck.launch")};
}

/// A model whose kernels do nothing, and the parts of a token's way through it.
class OverheadBench {
public:
  static Expected<std::unique_ptr<OverheadBench>> make(const CKIRGraph &graph, const CompileOptions &options,
                                                       const LinkOptions &link, unsigned threads);
  /// Times every part once more.
  Error run();

  std::vector<double> wake, barriers, launches, session, sampling, sum;

private:
  OverheadBench(Arena arena) : arena(std::move(arena)) {}
  /// The program alone, on a team.
  Expected<double> program(ThreadTeam &team);

  std::unique_ptr<Model> model;
  std::unique_ptr<Model> single; ///< the same on one thread
  std::unique_ptr<Program> empty;
  Arena arena;
  std::unique_ptr<ThreadTeam> team, alone;
};

Expected<std::unique_ptr<OverheadBench>> OverheadBench::make(const CKIRGraph &graph, const CompileOptions &options,
                                                             const LinkOptions &link, unsigned threads) {
  auto compiled = compileGraph(graph, "overhead", options);
  if (!compiled)
    return compiled.takeError();
  auto arena = Arena::reserve(compiled->arenaBytes);
  if (!arena)
    return arena.takeError();
  std::unique_ptr<OverheadBench> bench(new OverheadBench(std::move(*arena)));
  auto program = Program::link(std::move(*compiled), link);
  if (!program)
    return program.takeError();
  bench->empty = std::move(*program);
  for (auto [size, made] : {std::pair(threads, &bench->model), std::pair(1u, &bench->single)}) {
    auto model = Model::create(graph, "overhead", {options, size, /*cache=*/nullptr, link});
    if (!model)
      return model.takeError();
    *made = std::move(*model);
  }
  for (auto [size, made] : {std::pair(threads, &bench->team), std::pair(1u, &bench->alone)}) {
    auto team = ThreadTeam::create(size);
    if (!team)
      return team.takeError();
    *made = std::move(*team);
  }
  // Kernels leave them as they are: what is sampled from looks like logits.
  uint64_t state = 1;
  float *logits = bench->model->buffer("logits");
  for (int64_t i = 0; i < graph.config.vocabSize; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    logits[i] = static_cast<float>(state >> 40) / 1048576.0f;
  }
  return bench;
}

Expected<double> OverheadBench::program(ThreadTeam &on) {
  return microsecondsOf(kTokens, [&](int64_t position) {
    on.run([&](unsigned tid, unsigned threads) {
      empty->decode()(&on, tid, threads, 1, 0, static_cast<uint64_t>(position), arena.data(), arena.data());
    });
    return Error::success();
  });
}

Error OverheadBench::run() {
  int64_t count = std::min(kTokens, model->config().contextWindow);
  Sampler sampler({});
  std::vector<int32_t> history(1);
  auto chosen = [&]() -> Error {
    auto next = sampler.next(model->logits(0), history);
    if (!next)
      return next.takeError();
    history[0] = *next;
    return Error::success();
  };
  auto waking = microsecondsOf(kTokens, [&](int64_t) {
    team->run([](unsigned, unsigned) {});
    return Error::success();
  });
  auto launching = program(*alone), meeting = program(*team);
  // What a session does is the same on any team: alone, threads that meet don't blur it.
  auto appending = microsecondsOf(count, [&](int64_t at) { return single->prefill(history, 0, {}, at); });
  auto choosing = microsecondsOf(count, [&](int64_t) { return chosen(); });
  auto whole = microsecondsOf(count, [&](int64_t position) {
    Error error = model->prefill(history, 0, {}, position);
    return error ? std::move(error) : chosen();
  });
  for (Expected<double> *part : {&waking, &launching, &meeting, &appending, &choosing, &whole})
    if (!*part)
      return part->takeError();
  wake.push_back(*waking);
  launches.push_back(*launching);
  barriers.push_back(*meeting - *launching - *waking);
  session.push_back(*appending - *launching);
  sampling.push_back(*choosing);
  sum.push_back(*whole);
  return Error::success();
}
} // namespace

Expected<BenchTable> ckjit::tool::benchOverhead(const BenchOptions &options) {
  auto shape = shapeOf(options.shape);
  if (!shape)
    return shape.takeError();
  CKIRGraph graph = buildForwardGraph(*shape);
  CompileOptions compile = options.compile;
  compile.decode = true;
  compile.pipeline.emptyKernels = true;
  auto steps = stepsOf(graph, compile);
  if (!steps)
    return steps.takeError();
  BenchTable table;
  table.heads = {"model", "threads", "outside kernels, a decoded token", "us", "range"};
  for (unsigned threads : options.threads) {
    auto bench = OverheadBench::make(graph, compile, options.link, threads);
    if (!bench)
      return bench.takeError();
    OverheadBench &b = **bench;
    if (Error error = b.run()) // touches its pages
      return error;
    for (std::vector<double> *part : {&b.wake, &b.barriers, &b.launches, &b.session, &b.sampling, &b.sum})
      part->clear();
    for (unsigned run = 0; run < options.runs; ++run)
      if (Error error = b.run())
        return error;
    json::Object all{{"model", options.shape}, {"threads", threads}, {"barriers", steps->barriers},
                     {"launches", steps->launches}};
    auto add = [&](StringRef key, const std::string &text, const std::vector<double> &samples) {
      Figure figure = figureOf(samples);
      table.rows.push_back({options.shape, fmt::format("{}", threads), text, fmt::format("{:.1f}", figure.median),
                            fmt::format("{:.1f} - {:.1f}", figure.least, figure.most)});
      all[(key + "_us").str()] = figure.median;
      all[(key + "_us_min").str()] = figure.least;
      all[(key + "_us_max").str()] = figure.most;
    };
    add("wake", "waking the team and waiting for its end", b.wake);
    add("barrier", fmt::format("{} barriers", steps->barriers), b.barriers);
    add("launch", fmt::format("{} launches", steps->launches), b.launches);
    add("session", "session: checks, ids, RoPE tables, turn", b.session);
    add("sampling", fmt::format("sampling, greedy over {} logits", shape->vocabSize), b.sampling);
    add("total", "all of it, measured as one", b.sum);
    table.json.push_back(std::move(all));
  }
  return table;
}
