//===- AtomicFile.h - A file that appears whole or not at all ---*- C++ -*-===//
#ifndef CKJIT_LIB_WEIGHTS_ATOMICFILE_H
#define CKJIT_LIB_WEIGHTS_ATOMICFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace ckjit::weights {

/// An output that somebody asked for, one that may be run by all who may read it, or a file that can be made again at
/// any time, such as a cache's.
enum class FileKind : uint8_t { Output, Program, Disposable };

/// Writes to a temporary file beside the target; commit() makes it the target, with the mode that a file there had.
/// Without commit(), and when a signal ends a program that called removeTemporaryFilesOnSignals(), the temporary file is
/// removed and the target is as before.
class AtomicFile {
public:
  /// Links are followed, also to a file that isn't there yet. Error when the target exists and isn't a regular file,
  /// or when its folder can't be written. A disposable file, readable by its owner alone, takes the place of whatever
  /// stands there, links themselves included, unless that is a directory; nothing waits for the disk, and no signal
  /// handler is set: whoever dies while writing leaves the temporary file behind.
  static llvm::Expected<std::unique_ptr<AtomicFile>> create(llvm::StringRef path, FileKind kind = FileKind::Output);
  ~AtomicFile();

  /// Error when the file system has less than `bytes` free, so that what cannot fit isn't begun.
  llvm::Error checkSpace(uint64_t bytes) const;
  llvm::Error append(llvm::ArrayRef<uint8_t> bytes);
  /// Replaces bytes that were appended before.
  llvm::Error overwrite(uint64_t offset, llvm::ArrayRef<uint8_t> bytes);
  /// fsync: all bytes are on the disk. Not needed before commit(), which does it too.
  llvm::Error flush();
  /// fsync, rename, fsync of the folder.
  llvm::Error commit();

private:
  AtomicFile(std::string target, std::string temporary, int fd, FileKind kind)
      : target(std::move(target)), temporary(std::move(temporary)), fd(fd), kind(kind) {}
  llvm::Error failed(llvm::StringRef step) const;

  std::string target, temporary;
  int fd;
  FileKind kind;
  uint64_t end = 0;
};

} // namespace ckjit::weights
#endif
