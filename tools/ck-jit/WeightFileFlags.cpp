//===- WeightFileFlags.cpp - How a weight file is opened ------------------===//
#include "WeightFileFlags.h"
#include "Progress.h"
#include "Verbs.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

FileKindFlags::FileKindFlags(cl::SubCommand &command)
    : raw("raw", cl::sub(command), cl::desc("Accept a headerless weight file")),
      weightType("weight-dtype", cl::sub(command), cl::value_desc("FORMAT"),
                 cl::desc("What all weights of a file without a dtype table (headerless, BUMPWGT2) are: fp32 (default), "
                          "q4_k, ...")) {}

void FileKindFlags::addTo(BumpOpenOptions &options) const {
  options.allowRaw = raw;
  if (const WeightFormat *format = findWeightFormat(StringRef(weightType)))
    options.weightType = format->type;
}

WeightFileFlags::WeightFileFlags(cl::SubCommand &command)
    : FileKindFlags(command),
      config("config", cl::sub(command), cl::value_desc("FILE"),
             cl::desc("The model's config.json (default: the file's footer, else config.json beside it)")),
      checksum("checksum", cl::sub(command), cl::desc("Check the SHA-256 also of a file larger than 256 MiB")),
      noChecksum("no-checksum", cl::sub(command), cl::desc("Don't check the SHA-256")) {}

Error WeightFileFlags::check() const {
  if (checksum && noChecksum)
    return usageError("--checksum and --no-checksum exclude each other; give one of them");
  return Error::success();
}

std::vector<NamedFile> WeightFileFlags::configsOf(StringRef path) const {
  SmallString<128> beside = sys::path::parent_path(path);
  sys::path::append(beside, "config.json");
  return {{"--config", config}, {"the config beside the weights", std::string(beside)}};
}

Expected<std::unique_ptr<BumpFile>> WeightFileFlags::open(const std::string &path, BumpOpenOptions options) const {
  addTo(options);
  options.configPath = config;
  if (noChecksum || checksum)
    options.verifyChecksum = static_cast<bool>(checksum);
  Progress progress("checking " + path);
  options.progress = [&](uint64_t done, uint64_t total) {
    progress.show(done, total);
    return Error::success();
  };
  return BumpFile::open(path, options);
}
