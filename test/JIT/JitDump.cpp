//===- JitDump.cpp - Reads what is written for perf -----------------------===//
#include "JitDump.h"
#include "Support/TempDir.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

namespace ckjit::test {

namespace {
template <typename T> T take(const std::string &bytes, size_t &at) {
  REQUIRE(at + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  at += sizeof(T);
  return value;
}
} // namespace

std::vector<std::string> findDumps(const std::string &folder) {
  std::vector<std::string> found;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.rfind("jit-", 0) == 0 && entry.path().extension() == ".dump")
      found.push_back(entry.path());
  }
  return found;
}

JitDump readDump(const std::string &path) {
  const std::string bytes = readBytes(path);
  JitDump dump;
  size_t at = 0;
  CHECK(take<uint32_t>(bytes, at) == 0x4A695444); // "JiTD", in this machine's order of bytes
  CHECK(take<uint32_t>(bytes, at) == 1);
  const uint32_t header = take<uint32_t>(bytes, at);
  dump.machine = take<uint32_t>(bytes, at);
  take<uint32_t>(bytes, at);
  dump.pid = take<uint32_t>(bytes, at);
  uint64_t time = take<uint64_t>(bytes, at);
  CHECK(take<uint64_t>(bytes, at) == 0); // flags: the clock is CLOCK_MONOTONIC
  REQUIRE(header == at);
  while (at < bytes.size()) {
    const size_t record = at;
    const uint32_t kind = take<uint32_t>(bytes, at), size = take<uint32_t>(bytes, at);
    const uint64_t then = take<uint64_t>(bytes, at);
    CHECK(then >= time);
    time = then;
    REQUIRE(record + size <= bytes.size());
    if (kind == 0) {
      JitFunction function;
      CHECK(take<uint32_t>(bytes, at) == dump.pid);
      take<uint32_t>(bytes, at); // thread
      take<uint64_t>(bytes, at);
      function.address = take<uint64_t>(bytes, at);
      const uint64_t length = take<uint64_t>(bytes, at);
      function.index = take<uint64_t>(bytes, at);
      function.name = bytes.c_str() + at;
      at += function.name.size() + 1;
      REQUIRE(at + length == record + size);
      function.code = bytes.substr(at, length);
      dump.functions.push_back(std::move(function));
    }
    at = record + size;
  }
  return dump;
}

} // namespace ckjit::test
