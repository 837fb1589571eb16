//===- CacheSizesTest.cpp - Data cache sizes ------------------------------===//
#include "ckjit/Target/CacheSizes.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace ckjit;

namespace {

/// A folder like cpu0/cache, removed at the end of the test.
class FakeCacheFolder {
public:
  FakeCacheFolder() { REQUIRE(!llvm::sys::fs::createUniqueDirectory("ckjit-cache", path)); }
  ~FakeCacheFolder() { llvm::sys::fs::remove_directories(path); }

  void add(unsigned index, const char *level, const char *type, const char *size) {
    const std::string folder = path.str().str() + "/index" + std::to_string(index);
    REQUIRE(!llvm::sys::fs::create_directory(folder));
    std::ofstream(folder + "/level") << level << "\n";
    std::ofstream(folder + "/type") << type << "\n";
    std::ofstream(folder + "/size") << size << "\n";
  }

  llvm::SmallString<128> path;
};

} // namespace

TEST_CASE("cache sizes in sysfs notation") {
  CHECK(parseCacheSize("48K") == 49152u);
  CHECK(parseCacheSize("32M\n") == 33554432u);
  CHECK(parseCacheSize("1024") == 1024u);
  CHECK_FALSE(parseCacheSize(""));
  CHECK_FALSE(parseCacheSize("K"));
  CHECK_FALSE(parseCacheSize("-1K"));
  CHECK_FALSE(parseCacheSize("4G"));
  CHECK_FALSE(parseCacheSize("18446744073709551615K"));
}

TEST_CASE("sysfs folder: data and unified caches are taken, instruction caches not") {
  FakeCacheFolder folder;
  folder.add(0, "1", "Data", "32K");
  folder.add(1, "1", "Instruction", "64K");
  folder.add(2, "2", "Unified", "512K");
  folder.add(3, "3", "Unified", "32768K");
  const CacheSizes sizes = readSysfsCacheSizes(folder.path);
  CHECK(sizes.l1dBytes == 32768u);
  CHECK(sizes.l2Bytes == 524288u);
  CHECK(sizes.l3Bytes == 33554432u);
}

TEST_CASE("sysfs folder that is absent or malformed tells nothing") {
  FakeCacheFolder folder;
  folder.add(0, "1", "Data", "a lot");
  CHECK(readSysfsCacheSizes(folder.path).l1dBytes == 0u);
  CHECK(readSysfsCacheSizes("/no/such/folder").l2Bytes == 0u);
}

TEST_CASE("default sizes: a family's own, else those of its class") {
  CHECK(defaultCacheSizes("znver3", 256).l2Bytes == 512u * 1024);
  CHECK(defaultCacheSizes("sapphirerapids", 512).l2Bytes == 2048u * 1024);
  CHECK(defaultCacheSizes("x86-64-v2", 128).l1dBytes == 32u * 1024);
  CHECK(defaultCacheSizes("x86-64-v4", 512).l2Bytes == 1024u * 1024);
  CHECK(defaultCacheSizes("x86-64-v3", 256).l3Bytes == 8u * 1024 * 1024);
}

TEST_CASE("host sizes are known and grow with the level") {
  const CacheSizes sizes = hostCacheSizes(defaultCacheSizes("x86-64-v3", 256));
  CHECK(sizes.l1dBytes >= 8u * 1024);
  CHECK(sizes.l2Bytes >= sizes.l1dBytes);
  CHECK(sizes.l3Bytes > 0u);
}
