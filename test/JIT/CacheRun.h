//===- CacheRun.h - A small graph compiled through a cache ------*- C++ -*-===//
#ifndef CKJIT_TEST_JIT_CACHERUN_H
#define CKJIT_TEST_JIT_CACHERUN_H

#include "KernelRun.h"
#include "Support/TempDir.h"
#include "ckjit/JIT/ObjectCache.h"
#include <fcntl.h>
#include <sys/stat.h>

namespace ckjit::test {

inline CompileOptions hostOptions() {
  CompileOptions options;
  options.target = hostTarget();
  return options;
}

/// Grouped heads, nothing a multiple of 16.
inline CKIRGraph tinyGraph(int64_t layers = 1) {
  return buildForwardGraph({.numLayers = layers,
                            .hiddenSize = 24,
                            .intermediateSize = 20,
                            .numHeads = 4,
                            .numKVHeads = 2,
                            .vocabSize = 33,
                            .contextWindow = 20,
                            .ropeTheta = 10000.0f});
}

/// Compiles through the cache in `folder`.
inline CompiledObject compileIn(const std::string &folder, const CKIRGraph &graph = tinyGraph(),
                                const CompileOptions &options = hostOptions()) {
  return must(ObjectCache(folder).compile(graph, "tiny", options));
}

/// The number of entries of `folder`; an exception for one that is damaged.
inline size_t soundEntries(const std::string &folder) {
  const std::vector<ObjectCache::File> files = must(ObjectCache(folder).list());
  for (const ObjectCache::File &file : files)
    (void)must(ObjectCache::read(file));
  return files.size();
}

/// Sets when a file was last used.
inline void setAge(const std::string &path, std::chrono::seconds age) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const timespec then{now.tv_sec - age.count(), now.tv_nsec}, times[2] = {then, then};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0)
    throw std::runtime_error("utimensat " + path);
}

} // namespace ckjit::test
#endif
