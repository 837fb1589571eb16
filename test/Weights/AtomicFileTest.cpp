//===- AtomicFileTest.cpp - Files appear whole or not at all --------------===//
#include "TestFiles.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;
using Names = std::vector<std::string>;

namespace {
/// While it lives, no file may grow beyond `bytes`: writes fail as on a full disk.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    previousHandler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &previous) == 0);
    rlimit limited = previous;
    limited.rlim_cur = bytes;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  }
  ~FileSizeLimit() {
    (void)::setrlimit(RLIMIT_FSIZE, &previous);
    std::signal(SIGXFSZ, previousHandler);
  }

private:
  rlimit previous{};
  void (*previousHandler)(int) = SIG_DFL;
};
} // namespace

TEST_CASE("writeFileAtomically makes and replaces files, and leaves nothing else") {
  TempDir dir;
  std::string path = dir.file("f"), bytes("a\0b", 3);
  REQUIRE(llvm::toString(writeFileAtomically(path, bytes)) == "");
  CHECK(readBytes(path) == bytes);
  REQUIRE(llvm::toString(writeFileAtomically(path, "")) == "");
  CHECK(readBytes(path).empty());
  CHECK(dir.list() == Names{"f"});
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
