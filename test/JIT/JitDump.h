//===- JitDump.h - Reads what is written for perf ---------------*- C++ -*-===//
#ifndef CKJIT_TEST_JIT_JITDUMP_H
#define CKJIT_TEST_JIT_JITDUMP_H

#include <cstdint>
#include <string>
#include <vector>

namespace ckjit::test {

struct JitFunction {
  std::string name, code;
  uint64_t address = 0, index = 0;
};

struct JitDump {
  uint32_t machine = 0, pid = 0;
  std::vector<JitFunction> functions;
};

/// Files called jit-*.dump below `folder`.
std::vector<std::string> findDumps(const std::string &folder);
/// Reads by jitdump-specification.txt of the Linux kernel; a failed REQUIRE for what isn't by it.
JitDump readDump(const std::string &path);

} // namespace ckjit::test
#endif
