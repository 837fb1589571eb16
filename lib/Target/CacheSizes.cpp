//===- CacheSizes.cpp - Data cache sizes of host and named CPUs -----------===//
#include "ckjit/Target/CacheSizes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <unistd.h>

using namespace llvm;

namespace ckjit {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// What a class of CPUs offers at least, so that a tile chosen by it fits everywhere.
constexpr CacheSizes kClass128{32 * kKiB, 256 * kKiB, 4 * kMiB};  // Nehalem, first Atoms
constexpr CacheSizes kClass256{32 * kKiB, 256 * kKiB, 8 * kMiB};  // Haswell, four cores
constexpr CacheSizes kClass512{32 * kKiB, 1 * kMiB, 16 * kMiB};   // Skylake-SP

struct FamilyCaches {
  StringLiteral cpu;
  CacheSizes caches;
};

// Families whose caches differ from their class (vendors' optimization manuals; L3 of one cluster).
constexpr FamilyCaches kFamilies[] = {
    {"znver1", {32 * kKiB, 512 * kKiB, 8 * kMiB}},
    {"znver2", {32 * kKiB, 512 * kKiB, 16 * kMiB}},
    {"znver3", {32 * kKiB, 512 * kKiB, 32 * kMiB}},
    {"znver4", {32 * kKiB, 1 * kMiB, 32 * kMiB}},
    {"znver5", {48 * kKiB, 1 * kMiB, 32 * kMiB}},
    {"icelake-server", {48 * kKiB, 1280 * kKiB, 24 * kMiB}},
    {"tigerlake", {48 * kKiB, 1280 * kKiB, 12 * kMiB}},
    {"alderlake", {48 * kKiB, 1280 * kKiB, 24 * kMiB}},
    {"raptorlake", {48 * kKiB, 2 * kMiB, 24 * kMiB}},
    {"meteorlake", {48 * kKiB, 2 * kMiB, 24 * kMiB}},
    {"sapphirerapids", {48 * kKiB, 2 * kMiB, 32 * kMiB}},
    {"emeraldrapids", {48 * kKiB, 2 * kMiB, 32 * kMiB}},
    {"graniterapids", {48 * kKiB, 2 * kMiB, 32 * kMiB}},
};

/// The trimmed text of a small system file; empty if it can't be read.
std::string readSystemFile(const Twine &folder, StringRef name) {
  SmallString<128> path;
  folder.toVector(path);
  sys::path::append(path, name);
  auto buffer = MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : std::string();
}

uint64_t cacheSizeFromLibc(int name) {
  return static_cast<uint64_t>(std::max(0L, sysconf(name)));
}

uint64_t firstKnown(uint64_t first, uint64_t second, uint64_t third) {
  return first ? first : second ? second : third;
}

} // namespace

CacheSizes defaultCacheSizes(StringRef cpu, unsigned vectorBits) {
  for (const FamilyCaches &family : kFamilies)
    if (family.cpu == cpu)
      return family.caches;
  if (vectorBits >= 512)
    return kClass512;
  return vectorBits >= 256 ? kClass256 : kClass128;
}

std::optional<uint64_t> parseCacheSize(StringRef text) {
  text = text.trim();
  uint64_t unit = 1;
  if (text.consume_back("K"))
    unit = kKiB;
  else if (text.consume_back("M"))
    unit = kMiB;
  uint64_t count = 0;
  if (text.getAsInteger(10, count))
    return std::nullopt;
  return checkedMulUnsigned(count, unit);
}

CacheSizes readSysfsCacheSizes(StringRef cacheFolder) {
  constexpr unsigned kMaxIndices = 16;
  CacheSizes sizes;
  for (unsigned index = 0; index < kMaxIndices; ++index) {
    const std::string folder = (cacheFolder + "/index" + Twine(index)).str();
    const std::string level = readSystemFile(folder, "level");
    const std::string type = readSystemFile(folder, "type");
    const std::optional<uint64_t> bytes = parseCacheSize(readSystemFile(folder, "size"));
    if (!bytes || (type != "Data" && type != "Unified"))
      continue;
    if (level == "1")
      sizes.l1dBytes = *bytes;
    else if (level == "2")
      sizes.l2Bytes = *bytes;
    else if (level == "3")
      sizes.l3Bytes = *bytes;
  }
  return sizes;
}

CacheSizes hostCacheSizes(const CacheSizes &fallback) {
  const CacheSizes sysfs = readSysfsCacheSizes("/sys/devices/system/cpu/cpu0/cache");
  CacheSizes sizes;
  sizes.l1dBytes =
      firstKnown(sysfs.l1dBytes, cacheSizeFromLibc(_SC_LEVEL1_DCACHE_SIZE), fallback.l1dBytes);
  sizes.l2Bytes = firstKnown(sysfs.l2Bytes, cacheSizeFromLibc(_SC_LEVEL2_CACHE_SIZE), fallback.l2Bytes);
  // On virtual AMD machines CPUID tells only the L3 of the whole socket (hundreds of
  // MiB), most of which a core cannot use.
  uint64_t libcL3 = cacheSizeFromLibc(_SC_LEVEL3_CACHE_SIZE);
  if (fallback.l3Bytes)
    libcL3 = std::min(libcL3, fallback.l3Bytes);
  sizes.l3Bytes = firstKnown(sysfs.l3Bytes, libcL3, fallback.l3Bytes);
  return sizes;
}

} // namespace ckjit
