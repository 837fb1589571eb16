//===- LoadTest.cpp - What ck_model_init returns --------------------------===//
#include "EmittedModel.h"
#include "ckjit/Target/TargetDescription.h"
#include <catch2/catch.hpp>
#include <cstdlib>
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
