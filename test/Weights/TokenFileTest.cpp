//===- TokenFileTest.cpp - Token ids in and out of range ------------------===//
#include "TestFiles.h"
#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;

namespace {
struct Fixture {
  void write(const std::vector<int32_t> &ids, const std::string &tail = "") {
    std::string bytes(4 * ids.size(), '\0');
    for (size_t i = 0; i < ids.size(); ++i)
      put(bytes, 4 * i, static_cast<uint32_t>(ids[i]), 4);
    writeBytes(path, bytes + tail);
  }
  std::string error(int64_t vocab, int64_t context) {
    auto tokens = readTokens(path, vocab, context, false);
    std::string message = tokens ? "" : llvm::toString(tokens.takeError());
    CHECK_THAT(message, Contains(path));
    return message;
  }
  TempDir dir;
  std::string path = dir.file("t.bin");
};
} // namespace

TEST_CASE_METHOD(Fixture, "tokens come back in order, up to the full context") {
  write({0, 10, 3, 9});
  CHECK(llvm::cantFail(readTokens(path, 11, 4, false)) == std::vector<int32_t>{0, 10, 3, 9});
  CHECK(llvm::cantFail(readTokens(path, 11, 100, false)).size() == 4);
}

TEST_CASE_METHOD(Fixture, "an id out of range is named with its position") {
  write({1, 2, 11, 3});
  CHECK_THAT(error(11, 8), Contains("token at position 2: found id 11, expected 0 to 10") && Contains("--clamp-ids"));
  write({-100, 1});
  CHECK_THAT(error(11, 8), Contains("token at position 0: found id -100"));
  write({0, INT32_MIN});
  CHECK_THAT(error(11, 8), Contains("token at position 1: found id -2147483648"));
}

TEST_CASE_METHOD(Fixture, "clamping turns ids out of range into 0") {
  write({1, -1, 11, INT32_MAX, 10});
  CHECK(llvm::cantFail(readTokens(path, 11, 8, true)) == std::vector<int32_t>{1, 0, 0, 0, 10});
}

TEST_CASE_METHOD(Fixture, "sizes that are no token file") {
  write({});
  CHECK_THAT(error(11, 8), Contains("found an empty file, expected at least one"));
  write({1, 2}, "x");
  CHECK_THAT(error(11, 8), Contains("file size: found 9 bytes, expected a multiple of 4"));
  write({1, 2, 3});
  CHECK_THAT(error(11, 2), Contains("number of tokens: found 3, expected at most 2, the context"));
}

TEST_CASE_METHOD(Fixture, "what can't be read") {
  CHECK_THAT(error(11, 8), Contains("cannot be read: No such file"));
  path = dir.path;
  CHECK_THAT(error(11, 8), Contains("found a directory"));
}

#ifndef __SANITIZE_ADDRESS__ // its malloc ends the program where others return null
TEST_CASE("a sparse file larger than memory is an error") {
  TempDir dir;
  const std::string path = dir.file("sparse.bin");
  writeBytes(path, "");
  REQUIRE(::truncate(path.c_str(), off_t(1) << 32) == 0);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  rlimit limited = before;
  limited.rlim_cur = rlim_t(1) << 31;
  REQUIRE(::setrlimit(RLIMIT_AS, &limited) == 0);
  auto tokens = readTokens(path, 10, 2147483647, false);
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  REQUIRE_FALSE(static_cast<bool>(tokens));
  CHECK(llvm::toString(tokens.takeError()) == path + ": no memory for its 4294967296 bytes");
}
#endif
