//===- CacheSizes.h - Data cache sizes of host and named CPUs ---*- C++ -*-===//
#ifndef CKJIT_TARGET_CACHESIZES_H
#define CKJIT_TARGET_CACHESIZES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace ckjit {

/// Bytes of data cache that one core sees: its own L1d and L2, and the L3 it
/// shares with its cluster (not the sum over a socket). 0 = unknown.
struct CacheSizes {
  uint64_t l1dBytes = 0;
  uint64_t l2Bytes = 0;
  uint64_t l3Bytes = 0;
};

/// The sizes assumed for code generated for a named CPU: the family's own where
/// it is in the table, else those of the class `vectorBits` (128, 256, 512) stands for.
CacheSizes defaultCacheSizes(llvm::StringRef cpu, unsigned vectorBits);

/// Reads sysfs' notation, "48K", "32M", "1024" (bytes); nothing if malformed or too large.
std::optional<uint64_t> parseCacheSize(llvm::StringRef text);

/// The sizes below a folder like /sys/devices/system/cpu/cpu0/cache. Fields that
/// it doesn't tell stay 0; instruction caches are passed over.
CacheSizes readSysfsCacheSizes(llvm::StringRef cacheFolder);

/// This machine's sizes: from sysfs, else from CPUID as the C library reads it,
/// else `fallback`. Never 0 where `fallback` isn't.
CacheSizes hostCacheSizes(const CacheSizes &fallback);

} // namespace ckjit
#endif
