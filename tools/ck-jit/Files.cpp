//===- Files.cpp - Files named on the command line ------------------------===//
#include "Files.h"
#include "Verbs.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

static constexpr StringLiteral kDash = "-";

bool PathParser::parse(cl::Option &option, StringRef, StringRef argument, std::string &value) {
  if (argument.empty())
    return option.error("is empty, expected the path of a file");
  value = argument.str();
  return false;
}

/// The path with its folder resolved; of a file that need not exist.
static std::string resolved(StringRef path) {
  SmallString<128> folder(sys::path::parent_path(path)), real;
  if (folder.empty())
    folder = ".";
  if (sys::fs::real_path(folder, real))
    return path.str();
  sys::path::append(real, sys::path::filename(path));
  return std::string(real);
}

/// By device and inode where both exist: a link to a file is that file.
static bool sameFile(StringRef a, StringRef b) {
  bool same = false;
  return (!sys::fs::equivalent(a, b, same) && same) || resolved(a) == resolved(b);
}

Error ckjit::tool::checkOutput(const NamedFile &output, ArrayRef<NamedFile> others, Dash dash) {
  if (output.path.empty())
    return Error::success();
  if (output.path == kDash) {
    if (dash == Dash::StandardOutput)
      return Error::success();
    return usageError(output.option + " is '-', which would be standard output; expected a file (./- for one of that "
                                      "name)");
  }
  for (const NamedFile &other : others)
    if (!other.path.empty() && other.path != kDash && sameFile(output.path, other.path))
      return usageError(output.option + " would overwrite " + output.path + ", which is also " + other.option +
                        "; expected another file");
  return checkWritable(output.path);
}

Error ckjit::tool::writeOutput(StringRef path, StringRef bytes) {
  if (path != kDash)
    return writeFileAtomically(path, bytes);
  outs() << bytes;
  return Error::success();
}
