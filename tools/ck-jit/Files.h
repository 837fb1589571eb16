//===- Files.h - Files named on the command line ----------------*- C++ -*-===//
#ifndef CKJIT_TOOLS_FILES_H
#define CKJIT_TOOLS_FILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ckjit::tool {

/// Refuses an empty path, so that an option is either given or not.
struct PathParser : llvm::cl::parser<std::string> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef name, llvm::StringRef argument, std::string &value);
};
using PathOption = llvm::cl::opt<std::string, false, PathParser>;

/// A file, and how the command line names it: "--tokens", "CONFIG".
struct NamedFile {
  std::string option, path;
};

/// Where an output named `-` goes.
enum class Dash : bool { Refused, StandardOutput };

/// Checks an output before the work begins, so that it isn't lost at the end. Wrong usage: one of `others` (paths may
/// be empty) is the same file, or `-` where it is refused. Error: it can't be written.
llvm::Error checkOutput(const NamedFile &output, llvm::ArrayRef<NamedFile> others, Dash dash);

/// Writes `bytes` to `path`, whole or not at all; to standard output if it is `-`.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef bytes);

} // namespace ckjit::tool
#endif
