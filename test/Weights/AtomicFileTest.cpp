//===- AtomicFileTest.cpp - Files appear whole or not at all --------------===//
#include "TestFiles.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;
using Names = std::vector<std::string>;

TEST_CASE("writeFileAtomically makes and replaces files, and leaves nothing else") {
  TempDir dir;
  std::string path = dir.file("f"), bytes("a\0b", 3);
  REQUIRE(llvm::toString(writeFileAtomically(path, bytes)) == "");
  CHECK(readBytes(path) == bytes);
  REQUIRE(llvm::toString(writeFileAtomically(path, "")) == "");
  CHECK(readBytes(path).empty());
  CHECK(dir.list() == Names{"f"});
}

TEST_CASE("a program may be run by all who may read it") {
  TempDir dir;
  const mode_t mask = ::umask(0027);
  const auto mode = [&](const std::string &path, bool executable) {
    REQUIRE(llvm::toString(writeFileAtomically(path, "x", executable)) == "");
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 0777;
  };
  CHECK(mode(dir.file("text"), false) == 0640);
  CHECK(mode(dir.file("program"), true) == 0750);
  REQUIRE(::chmod(dir.file("text").c_str(), 0604) == 0);
  CHECK(mode(dir.file("text"), true) == 0705);
  CHECK(mode(dir.file("text"), false) == 0705);
  ::umask(mask);
}

TEST_CASE("a write that fails leaves the old file and no temporary one") {
  TempDir dir;
  std::string path = dir.file("f"), message, bumpMessage;
  writeBytes(path, "old");
  writeBytes(dir.file("m.bump"), "old model");
  {
    FileSizeLimit limit(1000);
    message = llvm::toString(writeFileAtomically(path, std::string(1001, 'x')));
    bumpMessage = llvm::toString(writeRandomModel(dir.file("m.bump"), smallConfig(), 1));
  }
  CHECK_THAT(message, Contains(path) && Contains("File too large") && Contains("nothing was changed"));
  CHECK_THAT(bumpMessage, Contains("m.bump") && Contains("File too large"));
  CHECK(readBytes(path) == "old");
  CHECK(readBytes(dir.file("m.bump")) == "old model");
  CHECK(dir.list() == Names{"f", "m.bump"});
}

TEST_CASE("targets that are no regular file are refused untouched") {
  TempDir dir;
  CHECK_THAT(llvm::toString(writeFileAtomically(dir.path, "x")),
             Contains("output file: found a directory, expected the path of a regular file"));
  REQUIRE(::mkfifo(dir.file("pipe").c_str(), 0600) == 0);
  CHECK_THAT(llvm::toString(writeFileAtomically(dir.file("pipe"), "x")), Contains("found a device or pipe"));
  CHECK_THAT(llvm::toString(writeFileAtomically("/dev/null", "x")), Contains("found a device or pipe"));
  CHECK(dir.list() == Names{"pipe"});
}

TEST_CASE("a folder that isn't there or can't be written is an error with the path") {
  TempDir dir;
  CHECK_THAT(llvm::toString(writeFileAtomically(dir.file("none/f"), "x")),
             Contains("none/f: cannot create a temporary file beside it") && Contains("No such file"));
  CHECK_THAT(llvm::toString(writeRandomModel(dir.file("none/m.bump"), smallConfig(), 1)), Contains("none/m.bump"));
}

TEST_CASE("through a link the file is replaced, not the link") {
  TempDir dir;
  writeBytes(dir.file("real"), "old");
  REQUIRE(::symlink(dir.file("real").c_str(), dir.file("link").c_str()) == 0);
  REQUIRE(llvm::toString(writeFileAtomically(dir.file("link"), "new")) == "");
  CHECK(readBytes(dir.file("real")) == "new");
  CHECK(llvm::sys::fs::is_symlink_file(dir.file("link")));
}

TEST_CASE("through a chain of links to nothing the file appears where they end") {
  TempDir dir, elsewhere;
  REQUIRE(::symlink(elsewhere.file("real").c_str(), dir.file("first").c_str()) == 0);
  REQUIRE(::symlink("first", dir.file("second").c_str()) == 0);
  REQUIRE(llvm::toString(writeFileAtomically(dir.file("second"), "new")) == "");
  CHECK(readBytes(elsewhere.file("real")) == "new");
  CHECK(llvm::sys::fs::is_symlink_file(dir.file("first")));
  CHECK(llvm::sys::fs::is_symlink_file(dir.file("second")));
}

TEST_CASE("links in a circle are an error") {
  TempDir dir;
  REQUIRE(::symlink(dir.file("b").c_str(), dir.file("a").c_str()) == 0);
  REQUIRE(::symlink(dir.file("a").c_str(), dir.file("b").c_str()) == 0);
  CHECK_THAT(llvm::toString(writeFileAtomically(dir.file("a"), "x")), Contains("a: Too many levels of symbolic links"));
}

TEST_CASE("a replaced file keeps its mode, a new one gets what the umask leaves") {
  TempDir dir;
  auto modeOf = [&](const char *name) {
    struct stat status;
    REQUIRE(::stat(dir.file(name).c_str(), &status) == 0);
    return status.st_mode & 07777;
  };
  mode_t before = ::umask(027);
  for (mode_t mode : {0600, 0644, 0666}) {
    writeBytes(dir.file("f"), "old");
    writeBytes(dir.file("m.bump"), "old");
    REQUIRE(::chmod(dir.file("f").c_str(), mode) == 0);
    REQUIRE(::chmod(dir.file("m.bump").c_str(), mode) == 0);
    CHECK(llvm::toString(writeFileAtomically(dir.file("f"), "new")) == "");
    CHECK(llvm::toString(writeRandomModel(dir.file("m.bump"), smallConfig(), 1)) == "");
    CHECK(modeOf("f") == mode);
    CHECK(modeOf("m.bump") == mode);
  }
  CHECK(llvm::toString(writeFileAtomically(dir.file("new"), "x")) == "");
  CHECK(modeOf("new") == 0640);
  ::umask(before);
}

TEST_CASE("folders and files with % in their names") {
  TempDir dir;
  REQUIRE(::mkdir(dir.file("50%").c_str(), 0700) == 0);
  CHECK(llvm::toString(writeFileAtomically(dir.file("50%/%f"), "x")) == "");
  CHECK(readBytes(dir.file("50%/%f")) == "x");
}

TEST_CASE("a config that isn't valid is refused before anything is written") {
  TempDir dir;
  ModelConfig config = smallConfig();
  config.numHeads = 5;
  CHECK_THAT(llvm::toString(writeBump(dir.file("m.bump"), config, [](const TensorSpec &, float *) {})),
             Contains("m.bump"));
  CHECK(llvm::toString(writeRandomModel(dir.file("m.bump"), config, 1)) != "");
  CHECK(dir.list().empty());
}

TEST_CASE("a disposable file takes the place of what stands there, and is its owner's alone") {
  TempDir dir, elsewhere;
  writeBytes(elsewhere.file("real"), "old");
  REQUIRE(::symlink(elsewhere.file("real").c_str(), dir.file("link").c_str()) == 0);
  REQUIRE(::mkfifo(dir.file("pipe").c_str(), 0666) == 0);
  writeBytes(dir.file("closed"), "old");
  REQUIRE(::chmod(dir.file("closed").c_str(), 0444) == 0);
  for (const char *name : {"link", "pipe", "closed", "new"}) {
    INFO(name);
    CHECK(llvm::toString(writeDisposableFile(dir.file(name), "bytes")) == "");
    struct stat status;
    REQUIRE(::lstat(dir.file(name).c_str(), &status) == 0);
    CHECK(status.st_mode == (S_IFREG | 0600));
    CHECK(readBytes(dir.file(name)) == "bytes");
  }
  CHECK(readBytes(elsewhere.file("real")) == "old");
  CHECK_THAT(llvm::toString(writeDisposableFile(dir.path, "x")), Contains("found a directory"));
  CHECK(dir.list() == Names{"closed", "link", "new", "pipe"});
}

TEST_CASE("a disposable file that can't be written leaves the old one") {
  TempDir dir;
  writeBytes(dir.file("f"), "old");
  std::string message;
  {
    FileSizeLimit limit(1000);
    message = llvm::toString(writeDisposableFile(dir.file("f"), std::string(1001, 'x')));
  }
  CHECK_THAT(message, Contains("File too large"));
  CHECK(readBytes(dir.file("f")) == "old");
  CHECK(dir.list() == Names{"f"});
}
