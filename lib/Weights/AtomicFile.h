//===- AtomicFile.h - A file that appears whole or not at all ---*- C++ -*-===//
#ifndef CKJIT_LIB_WEIGHTS_ATOMICFILE_H
#define CKJIT_LIB_WEIGHTS_ATOMICFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <memory>
#include <string>

namespace ckjit::weights {

/// Writes to a temporary file beside the target; commit() makes it the target.
/// Without commit() the temporary file is removed and the target is as before.
class AtomicFile {
public:
  /// Error when the target exists and isn't a regular file, or when its folder can't be written.
  static llvm::Expected<std::unique_ptr<AtomicFile>> create(llvm::StringRef path);
  ~AtomicFile();

  llvm::Error append(llvm::ArrayRef<uint8_t> bytes);
  /// Replaces bytes that were appended before.
  llvm::Error overwrite(uint64_t offset, llvm::ArrayRef<uint8_t> bytes);
  /// fsync, rename, fsync of the folder.
  llvm::Error commit();

private:
  AtomicFile(std::string target, llvm::sys::fs::TempFile file) : target(std::move(target)), file(std::move(file)) {}
  llvm::Error failed(llvm::StringRef step) const;

  std::string target;
  llvm::sys::fs::TempFile file;
  uint64_t end = 0;
  bool done = false;
};

} // namespace ckjit::weights
#endif
