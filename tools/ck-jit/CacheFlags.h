//===- CacheFlags.h - Where compiled objects are kept -----------*- C++ -*-===//
#ifndef CKJIT_TOOLS_CACHEFLAGS_H
#define CKJIT_TOOLS_CACHEFLAGS_H

#include "Files.h"
#include "ckjit/JIT/ObjectCache.h"

namespace ckjit::tool {

/// --cache-dir, which names the folder of the object cache. Declared once a verb, as a static beside its subcommand.
struct CacheFolderFlag {
  explicit CacheFolderFlag(llvm::cl::SubCommand &command);

  PathOption folder;

  /// The folder named, else the user's; empty if the user has none.
  std::string path() const { return folder.empty() ? ObjectCache::defaultFolder() : folder.getValue(); }
};

/// --cache-dir and --no-cache, for verbs that compile to run.
struct CacheFlags : CacheFolderFlag {
  explicit CacheFlags(llvm::cl::SubCommand &command);

  llvm::cl::opt<bool> noCache;

  /// Wrong usage: both are given.
  llvm::Error check() const;
  /// The cache to use, if any.
  std::optional<ObjectCache> cache() const;
};

} // namespace ckjit::tool
#endif
