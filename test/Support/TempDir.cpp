//===- TempDir.cpp - Files that tests make --------------------------------===//
#include "TempDir.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <sstream>

using namespace llvm;

namespace ckjit::test {

TempDir::TempDir() {
  SmallString<128> made;
  REQUIRE_FALSE(sys::fs::createUniqueDirectory("ckjit-test", made));
  path = made.str().str();
}

TempDir::~TempDir() { (void)sys::fs::remove_directories(path); }

std::vector<std::string> TempDir::list() const {
  std::vector<std::string> names;
  std::error_code code;
  for (sys::fs::directory_iterator it(path, code), end; it != end && !code; it.increment(code))
    names.push_back(sys::path::filename(it->path()).str());
  std::sort(names.begin(), names.end());
  return names;
}

std::string readBytes(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  REQUIRE(out.good());
}

FileSizeLimit::FileSizeLimit(rlim_t bytes) : previousHandler(std::signal(SIGXFSZ, SIG_IGN)) {
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &previous) == 0);
  rlimit limited = previous;
  limited.rlim_cur = bytes;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
}

FileSizeLimit::~FileSizeLimit() {
  (void)::setrlimit(RLIMIT_FSIZE, &previous);
  std::signal(SIGXFSZ, previousHandler);
}

} // namespace ckjit::test
