//===- WeightFileFlags.h - How a weight file is opened ----------*- C++ -*-===//
#ifndef CKJIT_TOOLS_WEIGHTFILEFLAGS_H
#define CKJIT_TOOLS_WEIGHTFILEFLAGS_H

#include "Files.h"
#include "FormatFlags.h"
#include "ckjit/Weights/Bump.h"

namespace ckjit::tool {

/// --raw and --weight-dtype: what files without header or dtype table leave open. Declared once a verb, as a static
/// beside its subcommand.
struct FileKindFlags {
  explicit FileKindFlags(llvm::cl::SubCommand &command);

  llvm::cl::opt<bool> raw;
  FormatOption weightType;

  void addTo(BumpOpenOptions &options) const;
};

/// The same, and --config, --checksum and --no-checksum, of the verbs that read the weights.
struct WeightFileFlags : FileKindFlags {
  explicit WeightFileFlags(llvm::cl::SubCommand &command);

  PathOption config;
  llvm::cl::opt<bool> checksum, noChecksum;

  /// Wrong usage: options that exclude each other.
  llvm::Error check() const;
  /// The files that are read beside `path`, for checkOutput: the configs.
  std::vector<NamedFile> configsOf(llvm::StringRef path) const;
  /// Opens and checks the file. Progress on a terminal.
  llvm::Expected<std::unique_ptr<BumpFile>> open(const std::string &path, BumpOpenOptions options = {}) const;
};

} // namespace ckjit::tool
#endif
