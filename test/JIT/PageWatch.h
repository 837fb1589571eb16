//===- PageWatch.h - What pages a stretch of code asks for ------*- C++ -*-===//
#ifndef CKJIT_TEST_JIT_PAGEWATCH_H
#define CKJIT_TEST_JIT_PAGEWATCH_H

#include <cstdint>
#include <string>
#include <vector>

namespace ckjit::test {

/// Calls of mmap and mprotect of the whole process, its libraries too, since the last reset.
struct PageCalls {
  unsigned executable = 0; ///< ask for pages that can be executed
  unsigned both = 0;       ///< ask for pages that can be written and executed
};
void resetPageCalls();
PageCalls pageCalls();

/// A line of /proc/self/maps.
struct Mapping {
  uintptr_t first, end;
  std::string rights; ///< "r-xp"
  std::string line;
};
std::vector<Mapping> mappings();

} // namespace ckjit::test
#endif
