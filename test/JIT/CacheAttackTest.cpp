//===- CacheAttackTest.cpp - Entries and folders that must not be trusted -===//
#include "CacheRun.h"
#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;

namespace {
/// A folder with the tiny graph's entry in it.
struct Filled {
  Filled() : object(compileIn(dir.path).object), entry(dir.file(dir.list().at(0))), bytes(readBytes(entry)) {}

  /// Whatever stands in the entry's place now is told with a word, not loaded, and replaced; then all is well again.
  void expectReplaced(const std::string &word) {
    const CompiledObject found = compileIn(dir.path);
    CHECK_FALSE(found.cached);
    CHECK_THAT(found.cacheNote, Contains(entry) && Contains(word) && Contains("compiled anew"));
    CHECK(found.object == object);
    expectHit();
  }
  void expectHit() {
    const CompiledObject found = compileIn(dir.path);
    CHECK(found.cached);
    CHECK(found.cacheNote == "");
    CHECK(found.object == object);
    CHECK(readBytes(entry) == bytes);
  }

  TempDir dir;
  llvm::SmallVector<char, 0> object;
  std::string entry, bytes;
};

/// Rights mean nothing to root: while it lives, the tests of root run as nobody, to whom `folder` then belongs.
class WithoutRights {
public:
  explicit WithoutRights(const std::string &folder) {
    if (!root)
      return;
    REQUIRE(::chown(folder.c_str(), kNobody, kNobody) == 0);
    REQUIRE(::seteuid(kNobody) == 0);
  }
  ~WithoutRights() {
    if (root)
      (void)::seteuid(0);
  }

private:
  static constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;
};
} // namespace

TEST_CASE("an entry with a flipped byte is never loaded") {
  Filled cache;
  // The header, the fields and the code; every bit of an entry is flipped in CacheEntryTest.cpp.
  for (size_t at :
       {size_t(0), size_t(9), size_t(20), size_t(60), size_t(90), cache.bytes.size() / 2, cache.bytes.size() - 1}) {
    INFO("byte " << at << " of " << cache.bytes.size());
    std::string broken = cache.bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x10);
    writeBytes(cache.entry, broken);
    cache.expectReplaced(at < 8 ? "magic" : at < 12 ? "version" : "checksum");
  }
}

TEST_CASE("an entry that was cut, or has bytes behind it, is never loaded") {
  Filled cache;
  for (size_t size : {size_t(0), size_t(1), size_t(84), cache.bytes.size() - 1}) {
    writeBytes(cache.entry, cache.bytes.substr(0, size));
    cache.expectReplaced("size");
  }
  writeBytes(cache.entry, cache.bytes + "more");
  cache.expectReplaced("size");
}

TEST_CASE("an entry of another CPU under this one's name is never loaded") {
  Filled cache;
  CompileOptions options = hostOptions();
  options.target = must(describeTarget("x86-64-v2"));
  (void)compileIn(cache.dir.path, tinyGraph(), options);
  for (const ObjectCache::File &file : must(ObjectCache(cache.dir.path).list()))
    if (file.path != cache.entry)
      writeBytes(cache.entry, readBytes(file.path));
  cache.expectReplaced("key: found");

  // One that claims this key too.
  CacheEntry forged = must(parseCacheEntry(cache.bytes, "entry"));
  forged.object.target = options.target;
  writeBytes(cache.entry, writeCacheEntry(forged));
  cache.expectReplaced("target: found x86-64-v2");
  forged = must(parseCacheEntry(cache.bytes, "entry"));
  forged.object.target.l2Bytes += 1;
  writeBytes(cache.entry, writeCacheEntry(forged));
  cache.expectReplaced("target: found");
}

TEST_CASE("what is no regular file in an entry's place is neither read nor waited for") {
  Filled cache;
  REQUIRE(::unlink(cache.entry.c_str()) == 0);
  REQUIRE(::mkfifo(cache.entry.c_str(), 0600) == 0);
  cache.expectReplaced("found a pipe");

  TempDir elsewhere;
  writeBytes(elsewhere.file("real"), cache.bytes);
  REQUIRE(::unlink(cache.entry.c_str()) == 0);
  REQUIRE(::symlink(elsewhere.file("real").c_str(), cache.entry.c_str()) == 0);
  cache.expectReplaced("found a symbolic link");
  CHECK(readBytes(elsewhere.file("real")) == cache.bytes);
  REQUIRE(::unlink(cache.entry.c_str()) == 0);
  REQUIRE(::symlink("/dev/zero", cache.entry.c_str()) == 0);
  cache.expectReplaced("found a symbolic link");

  // Far larger than memory, and all holes.
  REQUIRE(::truncate(cache.entry.c_str(), off_t(1) << 40) == 0);
  cache.expectReplaced("size: found 1099511627776 bytes, expected at most 67108864");

  // What can't be replaced costs the caching alone, each time.
  REQUIRE(::unlink(cache.entry.c_str()) == 0);
  REQUIRE(::mkdir(cache.entry.c_str(), 0700) == 0);
  for (int i = 0; i < 2; ++i) {
    const CompiledObject found = compileIn(cache.dir.path);
    CHECK_FALSE(found.cached);
    CHECK(found.object == cache.object);
    CHECK_THAT(found.cacheNote, Contains("found a directory") && Contains("isn't kept"));
  }
}

TEST_CASE("without the right to read an entry, or to write the folder, only the caching is lost") {
  Filled cache;
  REQUIRE(::chmod(cache.entry.c_str(), 0) == 0);
  {
    WithoutRights nobody(cache.dir.path);
    cache.expectReplaced("Permission denied");
    // Now the entry is readable and the folder can't be written: it still serves.
    REQUIRE(::chmod(cache.dir.path.c_str(), 0500) == 0);
    cache.expectHit();
    const CompiledObject found = compileIn(cache.dir.path, tinyGraph(3));
    CHECK_FALSE(found.cached);
    CHECK_FALSE(found.object.empty());
    CHECK_THAT(found.cacheNote, Contains("Permission denied") && Contains("isn't kept"));
    REQUIRE(::chmod(cache.dir.path.c_str(), 0700) == 0);
  }
}

TEST_CASE("a folder that can't be made only costs the caching") {
  TempDir dir;
  writeBytes(dir.file("file"), "");
  for (const std::string &folder : {dir.file("file/below"), dir.file("file"), std::string("/proc/none/cache")}) {
    INFO(folder);
    const CompiledObject found = compileIn(folder);
    CHECK_FALSE(found.cached);
    CHECK_FALSE(found.object.empty());
    CHECK_THAT(found.cacheNote, Contains(folder) && Contains("isn't kept") || Contains("expected a folder"));
  }
  CHECK(readBytes(dir.file("file")).empty());
}

TEST_CASE("a full disk only costs the caching, and leaves nothing half written") {
  TempDir dir;
  {
    FileSizeLimit limit(1000);
    const CompiledObject found = compileIn(dir.path);
    CHECK_FALSE(found.cached);
    CHECK_FALSE(found.object.empty());
    CHECK_THAT(found.cacheNote, Contains("File too large") && Contains("isn't kept"));
  }
  CHECK(dir.list().empty());
  CHECK(compileIn(dir.path).cacheNote == "");
}

TEST_CASE("a folder that others may write is neither read nor written") {
  Filled cache;
  for (mode_t mode : {0777, 0770, 0702, 01777}) {
    REQUIRE(::chmod(cache.dir.path.c_str(), mode) == 0);
    for (const CKIRGraph &graph : {tinyGraph(), tinyGraph(3)}) {
      const CompiledObject found = compileIn(cache.dir.path, graph);
      CHECK_FALSE(found.cached);
      CHECK_THAT(found.cacheNote, Contains(cache.dir.path) && Contains("mode of the folder") && Contains("700"));
    }
    CHECK_THAT(llvm::toString(ObjectCache(cache.dir.path).list().takeError()), Contains("mode of the folder"));
    CHECK_THAT(llvm::toString(ObjectCache(cache.dir.path).clean().takeError()), Contains("mode of the folder"));
  }
  CHECK(cache.dir.list().size() == 1);
  REQUIRE(::chmod(cache.dir.path.c_str(), 0755) == 0);
  cache.expectHit();
}

TEST_CASE("a folder of another user is neither read nor written") {
  Filled cache;
  std::string folder = cache.dir.path;
  if (::geteuid() == 0)
    REQUIRE(::chown(folder.c_str(), 12345, 12345) == 0);
  else
    folder = "/"; // root's
  const CompiledObject found = compileIn(folder);
  CHECK_FALSE(found.cached);
  CHECK_FALSE(found.object.empty());
  CHECK_THAT(found.cacheNote, Contains("owner of the folder: found user"));
  CHECK(cache.dir.list().size() == 1);
}

TEST_CASE("an entry that another user owns or may write is never loaded") {
  Filled cache;
  REQUIRE(::chmod(cache.entry.c_str(), 0620) == 0);
  cache.expectReplaced("owner and mode");
  REQUIRE(::chmod(cache.entry.c_str(), 0602) == 0);
  cache.expectReplaced("owner and mode");
  if (::geteuid() == 0) {
    REQUIRE(::chown(cache.entry.c_str(), 12345, 12345) == 0);
    cache.expectReplaced("owner and mode");
  }
}
