//===- LoadTest.cpp - What ck_model_init returns --------------------------===//
#include "EmittedModel.h"
#include "ckjit/Target/TargetDescription.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// Environment variables for as long as it lives.
class Environment {
public:
  Environment(const char *name, const char *value) : name(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name); }

private:
  const char *name;
};

/// A library for smallConfig(), and files for it.
struct Fixture {
  TempDir dir;
  SeedLibrary library{emitLibrary(dir, "libmodel.so", smallConfig())};
  std::string sound = smallFile(dir);

  /// What ck_model_init says of a file of these bytes; a model that loads is freed again.
  int init(const std::string &bytes) {
    writeBytes(dir.file("changed"), bytes);
    const int code = library.init(dir.file("changed").c_str());
    library.free();
    return code;
  }
  /// The same after one change; `sealed`: with the checksum made right again.
  int initWith(size_t offset, uint64_t value, size_t size, bool sealed = true) {
    std::string bytes = withoutFooter(sound);
    put(bytes, offset, value, size);
    if (sealed)
      seal(bytes);
    return init(bytes);
  }
};

constexpr size_t kTable = 132;

} // namespace

TEST_CASE("sound files load: all three kinds, with a footer and without, with bytes behind") {
  Fixture f;
  const std::string bare = withoutFooter(f.sound);
  CHECK(f.init(f.sound) == 0);
  CHECK(f.init(bare) == 0);
  CHECK(f.init(bare + "trailing") == 0);
  std::string v2 = bare.substr(0, 128) + bare.substr(kTable + 14 * 2 + 4);
  v2[7] = '2';
  seal(v2);
  CHECK(f.init(v2) == 0);
  std::fill(v2.begin() + 64, v2.begin() + 96, '\0');
  CHECK(f.init(v2) == 0);
  CHECK(f.init(bare.substr(kTable + 14 * 2 + 4)) == 0);
}

TEST_CASE("no table of dtypes, or one for another model: -6") {
  Fixture f;
  CHECK(f.library.init(f.dir.file("absent").c_str()) == -6);
  CHECK(f.library.init(f.dir.path.c_str()) == -6);
  CHECK(f.init("") == -6);
  CHECK(f.init("BUMPWGT") == -6);
  CHECK(f.init("BUMPWGT3") == -6);
  CHECK(f.init(f.sound.substr(0, 131)) == -6);
  CHECK(f.init(f.sound.substr(0, 132)) == -6);
  CHECK(f.init(f.sound.substr(0, kTable + 31)) == -6);
  CHECK(f.initWith(8, 2, 4) == -6); // version
  for (uint64_t length : {uint64_t{0}, uint64_t{31}, uint64_t{33}, uint64_t{0x7fffffff}, uint64_t{0xffffffff}})
    CHECK(f.initWith(128, length, 4) == -6);
}

TEST_CASE("dtypes that don't run: -6") {
  Fixture f;
  for (uint64_t dtype : {1, 5, 9, 12, 13, 255})
    for (size_t entry : {0, 4, 31})
      CHECK(f.initWith(kTable + entry, dtype, 1) == -6);
  // Quantized, which the seed's runtime takes for weights and refuses for norms and biases.
  for (uint64_t dtype : {7, 8})
    for (size_t entry : {0, 1, 2, 4, 5, 31})
      CHECK(f.initWith(kTable + entry, dtype, 1) == -6);
}

TEST_CASE("a header of another model, a short or damaged file, an unknown format: -2") {
  Fixture f;
  for (size_t offset : {16, 20, 24, 28, 32, 36})
    CHECK(f.initWith(offset, 1, 4) == -2);
  for (size_t offset : {40, 48, 56})
    CHECK(f.initWith(offset, uint64_t{1} << 40, 8) == -2);
  const std::string bare = withoutFooter(f.sound);
  CHECK(f.init(bare.substr(0, bare.size() - 4)) == -2);
  CHECK(f.init(bare.substr(0, bare.size() - 1)) == -2);
  CHECK(f.init(bare.substr(0, kTable + 32)) == -2);
  CHECK(f.initWith(bare.size() - 1, 0x5a, 1, /*sealed=*/false) == -2);
  CHECK(f.initWith(kTable + 32 + 1000, 0x5a, 1, /*sealed=*/false) == -2);
  std::string v4 = bare;
  v4[7] = '4';
  CHECK(f.init(v4) == -2);
  CHECK(f.init("headerless, and too short to hold the model's tensors") == -2);
  std::string raw = bare.substr(kTable + 32);
  CHECK(f.init(raw.substr(1)) == -2);
  // Afterwards a sound file loads.
  CHECK(f.init(f.sound) == 0);
}

TEST_CASE("CK_WEIGHT_DTYPE and CK_ENABLE_TRAINING") {
  Fixture f;
  const std::string raw = withoutFooter(f.sound).substr(kTable + 32);
  for (const char *name : {"q4_k", "q4_k_m", "Q4_K", "Q4_K_M", "q6_k", "q6_k_l", "Q6_K", "Q6_K_L"}) {
    const Environment dtype("CK_WEIGHT_DTYPE", name);
    CHECK(f.init(raw) == -6);
    CHECK(f.library.init(nullptr) == -6);
    CHECK(f.init(f.sound) == 0); // its table goes before
    const Environment training("CK_ENABLE_TRAINING", "1");
    CHECK(f.init(raw) == -5);
  }
  {
    const Environment dtype("CK_WEIGHT_DTYPE", "f32");
    CHECK(f.init(raw) == 0);
  }
  for (const char *yes : {"1", "y", "Yes"}) {
    const Environment training("CK_ENABLE_TRAINING", yes);
    CHECK(f.init(f.sound) == -8);
    CHECK(f.initWith(kTable + 4, 7, 1) == -5);
  }
  for (const char *no : {"0", "no", ""}) {
    const Environment training("CK_ENABLE_TRAINING", no);
    CHECK(f.init(f.sound) == 0);
  }
}

namespace {
/// One layer whose rows are blocks of every format.
ModelConfig blockConfig() {
  return {.numLayers = 1, .hiddenSize = 256, .intermediateSize = 256, .numHeads = 4, .numKVHeads = 2, .vocabSize = 8,
          .contextWindow = 4, .ropeTheta = 10000.0f};
}
constexpr size_t kEntries = 14 + 4;
/// token_emb, wq, wk, wv, wo, w1, w2 in the table's order (SPEC 2.1).
bool isMatrix(size_t entry) { return llvm::is_contained({0, 4, 6, 8, 10, 12, 14}, entry); }

CompileOptions optionsOf(const std::function<DType(size_t)> &type) {
  CompileOptions options = hostOptions();
  for (size_t i = 0; i < kEntries; ++i)
    options.weightTypes.push_back(isMatrix(i) ? type(i) : DType::FP32);
  return options;
}

/// A file all of whose bits are 0, with matrices of such types.
std::string zerosOf(const std::function<DType(size_t)> &type) {
  return handMadeFile(blockConfig(), [&](size_t i) { return static_cast<uint8_t>(isMatrix(i) ? type(i) : DType::FP32); }, 0);
}
DType q4k(size_t) { return DType::Q4_K; }
} // namespace

TEST_CASE("a library loads files of the types it was compiled for, and no others") {
  TempDir dir;
  const SeedLibrary library(emitLibrary(dir, "libmodel.so", blockConfig(), optionsOf(q4k)));
  const std::string sound = zerosOf(q4k);
  // token_emb, pos_emb, ..., each by its own type (SPEC 2.3, 5): wq 4*64*256/256*144 bytes, and so on.
  REQUIRE(sound.size() == kTable + kEntries + (8 + 256 + 128 + 128 + 256 + 512 + 256) * 144 +
                              4 * (4 * 256 + 2 * 256 + 256 + 128 + 128 + 256 + 512 + 256 + 2 * 256));
  auto init = [&](const std::string &bytes) {
    writeBytes(dir.file("changed"), bytes);
    const int code = library.init(dir.file("changed").c_str());
    library.free();
    return code;
  };
  CHECK(init(sound) == 0);
  CHECK(init(zerosOf([](size_t) { return DType::FP32; })) == -6);
  for (size_t entry = 0; entry < kEntries; ++entry)
    for (DType other : {DType::FP32, DType::Q6_K, DType::Q8_0, DType::BF16})
      if (isMatrix(entry))
        CHECK(init(zerosOf([&](size_t i) { return i == entry ? other : DType::Q4_K; })) == -6);
  CHECK(init(sound.substr(0, sound.size() - 1)) == -2);
  std::string damaged = sound;
  damaged[5000] = 1;
  CHECK(init(damaged) == -2);
  // Without a table: as CK_WEIGHT_DTYPE says, by default fp32.
  const std::string raw = sound.substr(kTable + kEntries);
  std::string v2 = sound.substr(0, 128) + raw;
  v2[7] = '2';
  seal(v2);
  CHECK(init(raw) == -6);
  CHECK(init(v2) == -6);
  CHECK(library.init(nullptr) == 0);
  library.free();
  for (const char *name : {"q4_k", "q4_k_m", "Q4_K", "Q4_K_M"}) {
    const Environment dtype("CK_WEIGHT_DTYPE", name);
    CHECK(init(raw) == 0);
    CHECK(init(v2) == 0);
    CHECK(init(raw.substr(0, raw.size() - 1)) == -2);
    CHECK(library.init(nullptr) == 0);
    library.free();
  }
  for (const char *name : {"q6_k", "Q6_K_L", "fp32", "nonsense"}) {
    const Environment dtype("CK_WEIGHT_DTYPE", name);
    CHECK(init(raw) == -6);
    CHECK(init(sound) == 0);
  }
  const Environment training("CK_ENABLE_TRAINING", "1");
  CHECK(init(sound) == -5);
  CHECK(library.init(nullptr) == -5);
}

TEST_CASE("a program names the tensor of another type, and refuses what it can't write") {
  TempDir dir;
  auto emit = [&](const std::string &name, const std::function<DType(size_t)> &type) {
    must(emitRuntime(buildForwardGraph(blockConfig()), name, optionsOf(type), AotMode::Standalone, dir.file(name)));
    writeBytes(dir.file(name + ".bump"), zerosOf(type));
    return dir.file(name);
  };
  const std::string uniform = emit("uniform", q4k);
  const std::string mixed = emit("mixed", [](size_t i) { return i == 10 ? DType::Q8_0 : DType::Q4_K; });
  const Ran other = runProgram({uniform, "--model-weights", mixed + ".bump", "--no-forward"});
  CHECK(other.code == 1);
  CHECK_THAT(other.errors, Catch::Contains("mixed.bump: wo of layer 0 is q8_0, expected q4_k, for which the model was compiled"));
  const Ran refused = runProgram({mixed, "--model-weights", mixed + ".bump", "--out-weights", dir.file("out")});
  CHECK(refused.code == 1);
  CHECK_THAT(refused.errors, Catch::Contains("--out-weights: the weights are of several types"));
  // What it writes is what was loaded, and loads again.
  const Ran written = runProgram({uniform, "--model-weights", uniform + ".bump", "--no-forward", "--out-weights", dir.file("out")});
  INFO(written.errors);
  CHECK(written.code == 0);
  CHECK(readBytes(dir.file("out")) == zerosOf(q4k).substr(kTable + kEntries));
  const std::vector<std::string> again{uniform, "--model-weights", dir.file("out"), "--no-forward"};
  CHECK(runProgram(again, {"CK_WEIGHT_DTYPE=q4_k"}).code == 0);
  const Ran untold = runProgram(again);
  CHECK(untold.code == 1);
  CHECK_THAT(untold.errors, Catch::Contains("token_emb is fp32 (no dtype table: all weights are of CK_WEIGHT_DTYPE"));
  // Activations are compiled in.
  const std::vector<std::string> run{uniform, "--model-weights", uniform + ".bump", "--no-forward"};
  CHECK_THAT(runProgram(run, {"CK_Q8K_ACTIVATIONS=0"}).errors, Catch::StartsWith("CK_Q8K_ACTIVATIONS: this model was compiled with int8"));
  CHECK(runProgram(run, {"CK_Q8K_ACTIVATIONS=1"}).errors.empty());
  CHECK(runProgram(run, {"CK_Q8K_ACTIVATIONS="}).errors.empty());
}

TEST_CASE("a library for a CPU that this machine lacks says so: -7") {
  TempDir dir;
  CompileOptions options = hostOptions();
  options.target = must(describeTarget("diamondrapids"));
  if (!llvm::errorToBool(checkRunsHere(options.target))) {
    WARN("skipped: this machine runs code for diamondrapids");
    return;
  }
  const std::string file = dir.file("weights");
  writeBytes(file, smallFile(dir));
  const std::string path = emitLibrary(dir, "foreign.so", smallConfig(), options);
  const SeedLibrary library(path);
  CHECK(library.init(file.c_str()) == -7);
  CHECK(library.forward() == -1);
  must(emitRuntime(buildForwardGraph(smallConfig()), "foreign", options, AotMode::Standalone, dir.file("foreign")));
  const Ran ran = runProgram({dir.file("foreign"), "--model-weights", file});
  CHECK(ran.code == 1);
  INFO(ran.errors);
  CHECK(ran.errors.find("compiled for the CPU diamondrapids; this machine lacks ") != std::string::npos);
}

TEST_CASE("no memory: -1, and later, with memory, 0") {
  TempDir dir;
  const SeedLibrary library(emitLibrary(dir, "libmodel.so", smallConfig()));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    const rlimit none{.rlim_cur = 1, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    const int without = library.init(nullptr);
    setrlimit(RLIMIT_AS, &limit);
    _exit(without == -1 && library.forward() == -1 && library.init(nullptr) == 0 && library.forward() == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
