//===- CacheEntry.h - What names a cached object, and its file --*- C++ -*-===//
#ifndef CKJIT_JIT_CACHEENTRY_H
#define CKJIT_JIT_CACHEENTRY_H

#include "ckjit/JIT/Compiler.h"
#include <array>

namespace ckjit {

/// SHA-256 over all that decides what compileGraph gives.
using CacheKey = std::array<uint8_t, 32>;

/// The key of `graph` compiled with `options` by the compiler that `compiler` identifies. Nothing is left out: graph,
/// pipeline options, target with features, registers and caches, LLVM's version.
CacheKey cacheKey(const CKIRGraph &graph, const CompileOptions &options, llvm::StringRef compiler);

/// Identifies the code that compiles: the build ids of the program or library that this function stands in, and of the
/// LLVM and MLIR libraries that are loaded. Empty if one of them has none, since then nobody can tell builds apart.
std::string compilerIdentity();

/// One file of an ObjectCache: an object, what it was made from, and for whom.
struct CacheEntry {
  CacheKey key{};
  ModelConfig config;    ///< the graph's, for people who list the cache
  CompiledObject object; ///< its times and cache fields are not kept
};

/// The file: a header with magic, format version, key, size and a SHA-256 of all the rest, then the fields of the
/// entry, little-endian. The same entry gives the same bytes everywhere.
std::string writeCacheEntry(const CacheEntry &entry);

/// Reads what writeCacheEntry wrote. Any bytes may come in: whatever isn't exactly such a file is an error of the form
/// "WHERE: FIELD: found ..., expected ...".
llvm::Expected<CacheEntry> parseCacheEntry(llvm::StringRef bytes, llvm::StringRef where);

} // namespace ckjit
#endif
