//===- RegularFile.h - Bounded reads of a regular file ----------*- C++ -*-===//
#ifndef CKJIT_GRAPH_REGULARFILE_H
#define CKJIT_GRAPH_REGULARFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <sys/stat.h>

namespace ckjit {

/// "PATH: FIELD: found FOUND, expected EXPECTED" - the form of every complaint about a file.
llvm::Error fieldError(llvm::StringRef path, const llvm::Twine &field, const llvm::Twine &found,
                       const llvm::Twine &expected);

/// Whether a link is as good as the file it leads to.
enum class Links : bool { Follow, Refuse };

/// A regular file open for reading. Directories, pipes and devices are refused
/// without waiting for them.
class RegularFile {
public:
  static llvm::Expected<std::unique_ptr<RegularFile>> open(llvm::StringRef path, Links links = Links::Follow);
  ~RegularFile();
  RegularFile(const RegularFile &) = delete;
  RegularFile &operator=(const RegularFile &) = delete;

  const std::string &path() const { return name; }
  /// Size in bytes when it was opened.
  uint64_t size() const { return bytes; }
  /// Whether `user` owns it and nobody else may write it, as it was when it was opened.
  bool belongsTo(uid_t user) const { return owner == user && (mode & (S_IWGRP | S_IWOTH)) == 0; }

  /// Reads exactly `count` bytes at `offset` into `dst`; thread-safe. Error when the file ends before.
  llvm::Error read(uint64_t offset, void *dst, uint64_t count) const;

private:
  RegularFile(llvm::StringRef path, int fd) : name(path.str()), fd(fd) {}
  std::string name;
  int fd;
  uint64_t bytes = 0;
  uid_t owner = 0;
  mode_t mode = 0;
};

} // namespace ckjit
#endif
