//===- ObjectCacheTest.cpp - Hits, misses and a folder shared by many -----===//
#include "CacheRun.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using Names = std::vector<std::string>;

TEST_CASE("the second time the object comes from the cache, and is the very same") {
  TempDir dir;
  const std::string folder = dir.file("made/by/the/cache");
  const CompiledObject first = compileIn(folder), second = compileIn(folder);
  CHECK_FALSE(first.cached);
  CHECK(second.cached);
  CHECK(first.cacheNote == "");
  CHECK(second.cacheNote == "");
  CHECK(first.object == must(compileGraph(tinyGraph(), "tiny", hostOptions())).object);
  CHECK(second.object == first.object);
  CHECK(second.kernels == first.kernels);
  CHECK(second.arenaBytes == first.arenaBytes);
  CHECK(second.decode == first.decode);
  CHECK(second.target.features == first.target.features);
  REQUIRE(second.buffers.size() == first.buffers.size());
  for (const ProgramBuffer &buffer : first.buffers) {
    const ProgramBuffer *found = second.find(buffer.name, buffer.layer);
    REQUIRE(found);
    CHECK(found->offset == buffer.offset);
    CHECK(found->bytes == buffer.bytes);
  }
  CHECK(first.times.import > 0);
  CHECK(second.times.import == 0);
  CHECK(second.times.codegen == 0);
  CHECK(second.times.cache > 0);
  CHECK(second.times.total() == second.times.cache);
  CHECK(must(Program::link(compileIn(folder)))->prefill());

  struct stat status;
  REQUIRE(::stat(folder.c_str(), &status) == 0);
  CHECK(status.st_mode == (S_IFDIR | 0700));
}

TEST_CASE("another graph, option or target has an entry of its own; a graph that is no program has none") {
  TempDir dir;
  CHECK_FALSE(compileIn(dir.path).cached);
  CHECK_FALSE(compileIn(dir.path, tinyGraph(3)).cached);
  CompileOptions options = hostOptions();
  options.decode = true;
  const CompiledObject rows = compileIn(dir.path, tinyGraph(), options);
  CHECK_FALSE(rows.cached);
  CHECK(rows.decode);
  options.target = must(describeTarget("x86-64-v2"));
  CHECK_FALSE(compileIn(dir.path, tinyGraph(), options).cached);
  const CompiledObject again = compileIn(dir.path, tinyGraph(), options);
  CHECK(again.cached);
  CHECK(again.decode);
  CHECK(again.target.cpu == "x86-64-v2");
  CHECK(dir.list().size() == 4);

  CKIRGraph broken = tinyGraph();
  broken.nodes[3].op = NodeOp::AddBwd;
  for (int i = 0; i < 2; ++i) {
    auto compiled = ObjectCache(dir.path).compile(broken, "edited.json", hostOptions());
    REQUIRE_FALSE(static_cast<bool>(compiled));
    CHECK_THAT(llvm::toString(compiled.takeError()), Catch::Contains("edited.json") && Catch::Contains("ADD_BWD"));
  }
  CHECK(dir.list().size() == 4);
}

TEST_CASE("types of weights, and int8 or fp32 activations, have entries of their own") {
  TempDir dir;
  CKIRGraph graph = tinyGraph();
  graph.config.hiddenSize = graph.config.intermediateSize = 256;
  graph.config.numHeads = graph.config.numKVHeads = 4;
  CompileOptions options = hostOptions();
  CHECK_FALSE(compileIn(dir.path, graph, options).cached);
  // One tensor of another type, then all matrices of one; the table's order is that of the weight file.
  options.weightTypes.assign(14 * static_cast<size_t>(graph.config.numLayers) + 4, DType::FP32);
  options.weightTypes[4] = DType::Q8_0; // wq of layer 0
  CHECK_FALSE(compileIn(dir.path, graph, options).cached);
  options.weightTypes[4] = DType::Q4_0;
  const CompiledObject codes = compileIn(dir.path, graph, options);
  CHECK_FALSE(codes.cached);
  options.weightTypes[4] = DType::FP32;
  options.weightTypes[6] = DType::Q4_0; // wk of layer 0
  CHECK_FALSE(compileIn(dir.path, graph, options).cached);
  CHECK(compileIn(dir.path, graph, options).cached);
  options.pipeline.quantize = false;
  const CompiledObject plain = compileIn(dir.path, graph, options);
  CHECK_FALSE(plain.cached);
  CHECK(plain.kernels != codes.kernels);
  CHECK(compileIn(dir.path, graph, options).cached);
  CHECK(dir.list().size() == 5);
}

TEST_CASE("what was used longest ago goes when the files exceed the limit") {
  TempDir dir;
  const CompiledObject first = compileIn(dir.path, tinyGraph(1));
  const std::string firstName = dir.list().at(0);
  (void)compileIn(dir.path, tinyGraph(2));
  const Names two = dir.list();
  const std::string secondName = two[0] == firstName ? two[1] : two[0];
  setAge(dir.file(firstName), std::chrono::hours(3));
  setAge(dir.file(secondName), std::chrono::hours(2));
  CHECK(compileIn(dir.path, tinyGraph(1)).cached); // which is a use
  // Room for two and a half of about equal size.
  const ObjectCache cache(dir.path, readBytes(dir.file(firstName)).size() * 5 / 2);
  REQUIRE_FALSE(must(cache.compile(tinyGraph(3), "tiny", hostOptions())).cached);
  Names left = dir.list();
  CHECK(left.size() == 2);
  CHECK(llvm::is_contained(left, firstName));
  CHECK_FALSE(llvm::is_contained(left, secondName));
  // The newest stays even if it is too large by itself.
  REQUIRE_FALSE(must(ObjectCache(dir.path, 1).compile(tinyGraph(2), "tiny", hostOptions())).cached);
  CHECK(dir.list() == Names{secondName});
}

TEST_CASE("only the cache's own files are listed and removed") {
  TempDir dir;
  const CompiledObject compiled = compileIn(dir.path);
  const std::string entry = dir.list().at(0);
  const Names alien = {"README", entry + ".bak", "x" + entry, entry.substr(1), "0.ckobj"};
  for (const std::string &name : alien)
    writeBytes(dir.file(name), "keep me");
  const std::string fresh = entry + ".0123abcd.tmp", old = entry + ".4567abcd.tmp";
  for (const std::string &name : {fresh, old})
    writeBytes(dir.file(name), "half");
  setAge(dir.file(old), std::chrono::hours(2));

  // A writer clears up behind one that died, and leaves one that may be at work alone.
  (void)compileIn(dir.path, tinyGraph(3));
  CHECK_FALSE(llvm::is_contained(dir.list(), old));
  CHECK(llvm::is_contained(dir.list(), fresh));

  const ObjectCache cache(dir.path);
  const std::vector<ObjectCache::File> files = must(cache.list());
  REQUIRE(files.size() == 2);
  uint64_t bytes = 4; // "half"
  for (const ObjectCache::File &file : files) {
    CHECK(file.bytes == readBytes(file.path).size());
    CHECK(must(ObjectCache::read(file)).config.hiddenSize == 24);
    bytes += file.bytes;
  }
  const ObjectCache::Removed removed = must(cache.clean());
  CHECK(removed.files == 3);
  CHECK(removed.bytes == bytes);
  Names left = alien;
  llvm::sort(left);
  CHECK(dir.list() == left);
  CHECK(must(cache.clean()).files == 0);
  CHECK(must(ObjectCache(dir.file("nowhere")).list()).empty());
  CHECK(must(ObjectCache(dir.file("nowhere")).clean()).files == 0);
}

TEST_CASE("many threads at once get one program and leave sound entries") {
  TempDir dir;
  const CompiledObject expected = must(compileGraph(tinyGraph(), "tiny", hostOptions()));
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  constexpr int kThreads = 8;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      const CompiledObject found = compileIn(dir.file("cache"));
      good += found.object == expected.object && found.cacheNote.empty();
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == kThreads);
  CHECK(soundEntries(dir.file("cache")) == 1);
  CHECK(compileIn(dir.file("cache")).cached);
}

TEST_CASE("processes that fill and clean one folder at once don't harm each other") {
  TempDir dir;
  constexpr int kProcesses = 3, kRounds = 4;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(::fork());
    if (children.back() != 0)
      continue;
    bool good = true;
    for (int round = 0; round < kRounds; ++round) {
      const ObjectCache cache(dir.file("cache"), /*limitBytes=*/1); // each store evicts
      const CompiledObject found = must(cache.compile(tinyGraph(1 + (round + process) % 2), "tiny", hostOptions()));
      good &= found.cacheNote.empty() && !found.object.empty();
    }
    ::_exit(good ? 0 : 1);
  }
  for (pid_t child : children) {
    int ended = -1;
    REQUIRE(::waitpid(child, &ended, 0) == child);
    CHECK(ended == 0);
  }
  CHECK(soundEntries(dir.file("cache")) >= 1);
}

TEST_CASE("the cache sets no signal handler in its host") {
  TempDir dir;
  // In a child, since the test runner has set some here.
  pid_t child = ::fork();
  if (child == 0) {
    for (int signal : {SIGINT, SIGTERM, SIGSEGV})
      std::signal(signal, SIG_DFL);
    bool good = !compileIn(dir.path).cached && compileIn(dir.path).cached;
    for (int signal : {SIGINT, SIGTERM, SIGSEGV}) {
      struct sigaction now;
      good &= ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
    }
    ::_exit(good ? 0 : 1);
  }
  int ended = -1;
  REQUIRE(::waitpid(child, &ended, 0) == child);
  CHECK(ended == 0);
}

TEST_CASE("the default folder is the user's") {
  const auto folder = [](const char *cacheHome, const char *home) {
    for (auto [name, value] : {std::pair("XDG_CACHE_HOME", cacheHome), std::pair("HOME", home)})
      value ? ::setenv(name, value, 1) : ::unsetenv(name);
    std::string found = ObjectCache::defaultFolder();
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("HOME");
    return found;
  };
  CHECK(folder("/x/cache", "/home/u") == "/x/cache/ck-jit");
  CHECK(folder(nullptr, "/home/u") == "/home/u/.cache/ck-jit");
  // An empty or relative path counts as none (XDG base directory specification).
  CHECK(folder("", "/home/u") == "/home/u/.cache/ck-jit");
  CHECK(folder("cache", "/home/u") == "/home/u/.cache/ck-jit");
  CHECK(folder(nullptr, "home").empty());
  CHECK(folder(nullptr, nullptr).empty());
}
