//===- LibraryTest.cpp - The seed's libmodel.so, compiled by ck-jit -------===//
//
// Values come from the golden vectors and from the engine, whose own tests hold it against the reference: the library
// runs the engine's code, so its bits are the engine's.
//
//===----------------------------------------------------------------------===//
#include "EmittedModel.h"
#include "Parts.h"
#include "Support/SharedData.h"
#include "ckjit/Engine/Session.h"
#include "ckjit/Weights/Conversion.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;

namespace {

std::vector<float> floatsIn(const std::string &path) {
  const std::string bytes = readBytes(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

void writeTokens(const std::string &path, llvm::ArrayRef<int32_t> ids) {
  writeBytes(path, std::string(reinterpret_cast<const char *>(ids.data()), ids.size() * sizeof(int32_t)));
}

/// A weight file of seeded values.
std::string weightFile(const TempDir &dir, const std::string &name, const TestModel &weights,
                       BumpKind kind = BumpKind::V3) {
  must(writeBump(dir.file(name), weights.config(),
                 [&](const TensorSpec &spec, float *to) { weights.copyTensor(spec, to); }, kind));
  return dir.file(name);
}

struct SeedRun {
  std::vector<float> forward, steps; ///< [T][V], [T - prefill][V]
};

/// Runs the program written for the seed's library; fails the test with its message.
SeedRun runSeedProgram(const std::string &library, const std::string &weights, const std::string &tokens, size_t count,
                       size_t prefill, size_t vocab, const std::vector<std::string> &environment = {}) {
  TempDir dir;
  const Ran ran = runProgram(
      {CKJIT_SEED_PROGRAM, library, weights, tokens, std::to_string(prefill), dir.file("out")}, environment);
  INFO(ran.errors);
  REQUIRE(ran.code == 0);
  const std::vector<float> all = floatsIn(dir.file("out"));
  REQUIRE(all.size() == (2 * count - prefill) * vocab);
  const auto split = all.begin() + static_cast<std::ptrdiff_t>(count * vocab);
  return {{all.begin(), split}, {split, all.end()}};
}

/// The engine's logits of tokens first.. that each run behind those before them, in steps.
std::vector<float> engineSteps(Model &model, llvm::ArrayRef<int32_t> ids, size_t prefill) {
  std::vector<float> rows;
  must(model.prefill(ids.take_front(prefill), 0));
  for (size_t t = prefill; t < ids.size(); ++t) {
    must(model.prefill({ids[t]}, 0, {}, static_cast<int64_t>(t)));
    const llvm::ArrayRef<float> row = model.logits(0);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

} // namespace

TEST_CASE("a program written for the seed's library gets the golden logits, at once and token by token") {
  TempDir dir;
  for (const char *name : {"a_mha_fp32", "b_gqa_fp32", "b_gqa_full", "c_awkward_dims", "d_nope_pos", "i_decode"}) {
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      continue;
    const ModelConfig config = must(loadModelConfig(folder + "/config.json"));
    const size_t vocab = static_cast<size_t>(config.vocabSize);
    const size_t count = readBytes(folder + "/tokens.bin").size() / sizeof(int32_t);
    const size_t prefill = std::min<size_t>(9, count);
    const std::vector<float> golden = floatsIn(folder + "/logits_fp64.bin");
    const std::vector<double> expected(golden.begin(), golden.end());
    for (bool strict : {false, true}) {
      const std::string library =
          emitLibrary(dir, std::string(name) + (strict ? ".strict.so" : ".so"), config, hostOptions(strict));
      const SeedRun run =
          runSeedProgram(library, folder + "/model.bump", folder + "/tokens.bin", count, prefill, vocab);
      const double tolerance = strict ? kLogitToleranceStrict : kLogitTolerance;
      const Distance all = distanceOf(run.forward, expected, vocab);
      // The seed's defect D1: its decode steps gave the logits of stale rows.
      const Distance steps = distanceOf(run.steps, llvm::ArrayRef(expected).drop_front(prefill * vocab), vocab);
      INFO(name << ", strict " << strict << "; forward: " << all.text() << "; steps: " << steps.text());
      CHECK(all.worst <= tolerance);
      CHECK(steps.worst <= tolerance);
    }
  }
}

TEST_CASE("quantized golden models, with fp32 activations and with int8") {
  TempDir dir;
  for (const char *name : {"e_q4k", "f_q6k", "g_mixed"}) {
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      continue;
    const std::unique_ptr<BumpFile> file = must(BumpFile::open(folder + "/model.bump"));
    const ModelConfig &config = file->config;
    const size_t vocab = static_cast<size_t>(config.vocabSize);
    const size_t count = readBytes(folder + "/tokens.bin").size() / sizeof(int32_t), prefill = count / 2;
    const std::vector<float> golden = floatsIn(folder + "/logits_fp64.bin");
    const double largest = std::abs(*std::max_element(golden.begin(), golden.end(),
                                                      [](float a, float b) { return std::abs(a) < std::abs(b); }));
    for (bool int8 : {false, true}) {
      CompileOptions options = hostOptions();
      options.weightTypes = file->weightTypes();
      options.pipeline.quantize = int8;
      const std::string library = emitLibrary(dir, std::string(name) + (int8 ? ".int8.so" : ".so"), config, options);
      const SeedRun run =
          runSeedProgram(library, folder + "/model.bump", folder + "/tokens.bin", count, prefill, vocab);
      double worst = 0, worstStep = 0;
      for (size_t i = 0; i < golden.size(); ++i)
        worst = std::max<double>(worst, std::abs(run.forward[i] - golden[i]));
      for (size_t i = 0; i < run.steps.size(); ++i)
        worstStep = std::max<double>(worstStep, std::abs(run.steps[i] - golden[prefill * vocab + i]));
      INFO(name << ", int8 " << int8 << ": " << worst / largest << " and, in steps, " << worstStep / largest
                << " of the largest logit");
      // SPEC 5: int8 activations cost 1 to 3.5 % of the largest logit.
      const double tolerance = (int8 ? 0.05 : 1e-5) * largest;
      CHECK(worst <= tolerance);
      CHECK(worstStep <= tolerance);
      CHECK((worst > 1e-3 * largest) == int8);
    }
  }
}

TEST_CASE("quantized weights of every type: the engine's bits, from a file and without its header") {
  TempDir dir;
  ModelConfig config = tinyConfig();
  config.hiddenSize = config.intermediateSize = 256;
  const std::vector<int32_t> ids = makeTokens(config, 12, 3);
  writeTokens(dir.file("tokens"), ids);
  // The library's prefill goes through @prefill, however few the tokens; the engine's when they are more than 8.
  const size_t vocab = static_cast<size_t>(config.vocabSize), prefill = 9;
  for (const WeightFormat &format : weightFormats()) {
    INFO(format.name.str());
    const WeightTypes types = must(chooseFormats(config, {.matrices = format.type})).types;
    const std::string path = dir.file(format.name.str());
    must(writeConverted(path, config, types, *randomSource(config, 9)));
    CompileOptions options = hostOptions();
    const std::unique_ptr<BumpFile> file = must(BumpFile::open(path));
    options.weightTypes = file->weightTypes();
    const std::string library = emitLibrary(dir, format.name.str() + ".so", config, options);
    const std::unique_ptr<Model> whole = must(Model::create(buildForwardGraph(config), "whole", {options, 2}));
    must(whole->load(*file));
    options.decode = true;
    const std::unique_ptr<Model> model = must(Model::create(buildForwardGraph(config), "model", {options, 2}));
    must(model->load(*file));
    const SeedRun run = runSeedProgram(library, path, dir.file("tokens"), ids.size(), prefill, vocab);
    CHECK(sameBits(run.forward, runLogits(*whole, ids)));
    CHECK(sameBits(run.steps, engineSteps(*model, ids, prefill)));
    writeBytes(dir.file("raw"), withoutFooter(readBytes(path)).substr(128 + 4 + 14 * 2 + 4));
    const SeedRun raw = runSeedProgram(library, dir.file("raw"), dir.file("tokens"), ids.size(), prefill, vocab,
                                       {"CK_WEIGHT_DTYPE=" + format.name.str()});
    CHECK(sameBits(raw.forward, run.forward));
  }
}

TEST_CASE("the library gives the engine's bits, for any number of threads and any kind of weight file") {
  TempDir dir;
  for (const NamedConfig &named : awkwardConfigs()) {
    // One for each way in which the runtime itself has to do with a shape; the engine's tests take all of them.
    if (!llvm::is_contained({"head_dim_20_gqa", "odd_head_no_rope", "one_position", "vocab_1", "long_context"},
                            named.name))
      continue;
    const ModelConfig &config = named.config;
    const TestModel weights(config, {.seed = 5});
    const std::vector<int32_t> ids = makeTokens(config, config.contextWindow, 7);
    const size_t vocab = static_cast<size_t>(config.vocabSize), prefill = (ids.size() + 1) / 2;
    const std::string library = emitLibrary(dir, named.name + ".so", config);
    const std::string file = weightFile(dir, named.name, weights), tokens = dir.file("tokens");
    writeTokens(tokens, ids);
    CompileOptions options = hostOptions();
    const std::unique_ptr<Model> whole = makeModel(buildForwardGraph(config), options, weights);
    options.decode = true;
    const std::unique_ptr<Model> model = makeModel(buildForwardGraph(config), options, weights);
    const std::vector<float> forward = runLogits(*whole, ids);
    // The library's prefill goes through @prefill, however few the tokens.
    must(whole->prefill(llvm::ArrayRef(ids).take_front(prefill), 0));
    const std::vector<float> steps = engineSteps(*model, ids, prefill);
    for (const char *threads : {"1", "2", "3"}) {
      INFO(named.name << ", threads " << threads);
      const SeedRun run = runSeedProgram(library, file, tokens, ids.size(), prefill, vocab,
                                         {std::string("CK_NUM_THREADS=") + threads});
      CHECK(sameBits(run.forward, forward));
      if (prefill > 4)
        CHECK(sameBits(run.steps, steps));
    }
    for (BumpKind kind : {BumpKind::V2, BumpKind::Raw}) {
      const std::string other = weightFile(dir, named.name + ".other", weights, kind);
      const SeedRun run = runSeedProgram(library, other, tokens, ids.size(), prefill, vocab);
      CHECK(sameBits(run.forward, forward));
    }
  }
}

TEST_CASE("two models' libraries in one process don't touch each other") {
  TempDir dir;
  ModelConfig small = tinyConfig(), large = tinyConfig();
  large.vocabSize += 5;
  large.contextWindow += 7;
  const TestModel smallWeights(small, {.seed = 1}), largeWeights(large, {.seed = 2});
  // The same file name in two folders, as two users of the seed would have it.
  TempDir other;
  const SeedLibrary a(emitLibrary(dir, "libmodel.so", small)), b(emitLibrary(other, "libmodel.so", large));
  REQUIRE(a.init(weightFile(dir, "a", smallWeights).c_str()) == 0);
  REQUIRE(b.init(weightFile(dir, "b", largeWeights).c_str()) == 0);
  const std::vector<int32_t> idsA = makeTokens(small, 12, 1), idsB = makeTokens(large, 12, 2);
  REQUIRE(a.embed(idsA) == 0);
  REQUIRE(b.embed(idsB) == 0);
  std::vector<float> foundA(12 * small.vocabSize), foundB(12 * large.vocabSize);
  std::thread other_thread([&] { CHECK(b.forward(foundB.data()) == 0); });
  CHECK(a.forward(foundA.data()) == 0);
  other_thread.join();
  const CompileOptions options = hostOptions();
  CHECK(sameBits(foundA, runLogits(*makeModel(buildForwardGraph(small), options, smallWeights), idsA)));
  CHECK(sameBits(foundB, runLogits(*makeModel(buildForwardGraph(large), options, largeWeights), idsB)));
  a.free();
  CHECK(b.forward(foundB.data()) == 0);
}

TEST_CASE("a child of fork() runs the model with threads of its own") {
  TempDir dir;
  const ModelConfig config = tinyConfig();
  const TestModel weights(config, {.seed = 3});
  const SeedLibrary library(emitLibrary(dir, "libmodel.so", config));
  library.setThreads(2);
  REQUIRE(library.init(weightFile(dir, "weights", weights).c_str()) == 0);
  const std::vector<int32_t> ids = makeTokens(config, 10);
  REQUIRE(library.embed(ids) == 0);
  std::vector<float> before(10 * config.vocabSize), after(before.size());
  REQUIRE(library.forward(before.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    _exit(library.forward(after.data()) == 0 && sameBits(before, after) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(library.forward(after.data()) == 0);
  CHECK(sameBits(before, after));
}

TEST_CASE("an edited graph is what the library runs") {
  TempDir dir;
  const ModelConfig config = tinyConfig();
  const TestModel weights(config, {.seed = 4});
  CKIRGraph graph = buildForwardGraph(config);
  // Without the MLP's residual: the last ADD of each layer reads the attention's residual twice.
  for (CKIRNode &node : graph.nodes)
    if (node.id.node == 9)
      node.inputs[1] = node.inputs[0];
  const CompileOptions options = hostOptions();
  must(emitRuntime(graph, "edited", options, AotMode::Library, dir.file("edited.so")));
  const SeedLibrary library(dir.file("edited.so"));
  REQUIRE(library.init(weightFile(dir, "weights", weights).c_str()) == 0);
  const std::vector<int32_t> ids = makeTokens(config, 9);
  std::vector<float> found(9 * config.vocabSize);
  REQUIRE(library.embed(ids) == 0);
  REQUIRE(library.forward(found.data()) == 0);
  CHECK(sameBits(found, runLogits(*makeModel(graph, options, weights), ids)));
  CHECK(!sameBits(found, runLogits(*makeModel(buildForwardGraph(config), options, weights), ids)));
}

TEST_CASE("without weights all of the memory is zero, and so are the logits") {
  TempDir dir;
  const ModelConfig config = tinyConfig();
  const SeedLibrary library(emitLibrary(dir, "libmodel.so", config));
  REQUIRE(library.init(nullptr) == 0);
  std::vector<float> logits(3 * config.vocabSize, 42.0f);
  REQUIRE(library.embed({1, 2, 3}) == 0);
  REQUIRE(library.forward(logits.data()) == 0);
  CHECK(std::count(logits.begin(), logits.end(), 0.0f) == static_cast<std::ptrdiff_t>(logits.size()));
}

TEST_CASE("the linker is the one named, LLVM's, or the one on PATH; without any the error says what to install") {
  TempDir dir;
  const std::string path = getenv("PATH"), program = dir.file("ld.lld");
  CHECK(must(aot::findLinker("/bin/true", "/bin/false")) == "/bin/true");
  CHECK(must(aot::findLinker("", "/bin/true")) == "/bin/true");
  CHECK_THAT(llvm::toString(aot::findLinker(program, "/bin/true").takeError()), Catch::Contains("not a program"));
  setenv("PATH", dir.path.c_str(), 1);
  const std::string message = llvm::toString(aot::findLinker("", "/absent").takeError());
  writeBytes(program, "");
  REQUIRE(!llvm::sys::fs::setPermissions(program, llvm::sys::fs::all_all));
  llvm::Expected<std::string> found = aot::findLinker("", "/absent");
  setenv("PATH", path.c_str(), 1);
  CHECK_THAT(message, Catch::Contains("found no ld.lld on PATH; install") && Catch::Contains("lld-22"));
  CHECK(must(std::move(found)) == program);
}

TEST_CASE("the linker works in $TMPDIR; where it can't, and what is no linker, is named") {
  TempDir dir;
  const ModelConfig config = tinyConfig();
  const std::string path = dir.file("libmodel.so");
  auto emit = [&](const std::string &temporary, llvm::StringRef linker) {
    setenv("TMPDIR", temporary.c_str(), 1);
    const std::string message =
        llvm::toString(emitRuntime(buildForwardGraph(config), "tiny", hostOptions(), AotMode::Library, path, linker));
    unsetenv("TMPDIR");
    return message;
  };
  const std::string folder = dir.file("all mine");
  REQUIRE(!llvm::sys::fs::create_directory(folder));
  CHECK(emit(folder, "").empty());
  CHECK(llvm::sys::fs::exists(path));
  CHECK_THAT(emit(dir.file("absent"), ""),
             Catch::StartsWith(dir.file("absent") + ": cannot create a folder") && Catch::Contains("$TMPDIR"));
  CHECK_THAT(emit(dir.file("100%"), ""), Catch::StartsWith(dir.file("100%") + ": has a % in its path"));
  CHECK_THAT(emit(folder, "/bin/true"), Catch::Contains("/bin/true: wrote nothing; expected an ld.lld"));
  CHECK_THAT(emit(folder, "/bin/false"), Catch::Contains("/bin/false: linking failed (exit code 1)"));
  std::error_code code;
  CHECK(llvm::sys::fs::directory_iterator(folder, code) == llvm::sys::fs::directory_iterator());
}
