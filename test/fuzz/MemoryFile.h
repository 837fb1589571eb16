//===- MemoryFile.h - Any bytes as a file -----------------------*- C++ -*-===//
#ifndef CKJIT_TEST_FUZZ_MEMORYFILE_H
#define CKJIT_TEST_FUZZ_MEMORYFILE_H

#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace ckjit::test {

inline void require(bool holds) {
  if (!holds)
    std::abort();
}

/// A file in memory, opened by path like any other.
struct MemoryFile {
  int fd = ::memfd_create("ckjit-fuzz", 0);
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  /// Replaces what the file holds.
  void fill(const void *bytes, size_t count) const {
    require(::ftruncate(fd, 0) == 0 && ::pwrite(fd, bytes, count, 0) == static_cast<ssize_t>(count));
  }
};

} // namespace ckjit::test
#endif
