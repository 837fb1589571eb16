//===- TempDir.h - Files that tests make ------------------------*- C++ -*-===//
#ifndef CKJIT_TEST_SUPPORT_TEMPDIR_H
#define CKJIT_TEST_SUPPORT_TEMPDIR_H

#include <string>
#include <sys/resource.h>
#include <vector>

namespace ckjit::test {

/// A folder of its own for each test case, removed with all it holds.
class TempDir {
public:
  TempDir();
  ~TempDir();
  std::string file(const std::string &name) const { return path + "/" + name; }
  /// Names of the files in it, sorted.
  std::vector<std::string> list() const;
  std::string path;
};

std::string readBytes(const std::string &path);
void writeBytes(const std::string &path, const std::string &bytes);

/// While it lives, no file may grow beyond `bytes`: writes fail as on a full disk.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes);
  ~FileSizeLimit();

private:
  rlimit previous{};
  void (*previousHandler)(int);
};

} // namespace ckjit::test
#endif
