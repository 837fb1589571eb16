//===- CacheFlags.cpp - Where compiled objects are kept -------------------===//
#include "CacheFlags.h"
#include "Verbs.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

CacheFolderFlag::CacheFolderFlag(cl::SubCommand &command)
    : folder("cache-dir", cl::sub(command), cl::value_desc("DIR"),
             cl::desc("Folder of the object cache (default: $XDG_CACHE_HOME/ck-jit, else ~/.cache/ck-jit)")) {}

CacheFlags::CacheFlags(cl::SubCommand &command)
    : CacheFolderFlag(command),
      noCache("no-cache", cl::sub(command), cl::desc("Compile anew; neither read nor write the object cache")) {}

Error CacheFlags::check() const {
  if (noCache && !folder.empty())
    return usageError("--cache-dir and --no-cache exclude each other; give one of them");
  return Error::success();
}

/// LLVM's own options are hidden, but every verb takes them. They can change what is generated, and no key tells of
/// them. (The verbs' own stand in their subcommands alone.)
static bool foreignOptionGiven() {
  return any_of(cl::getRegisteredOptions(cl::SubCommand::getTopLevel()),
                [](const auto &entry) { return entry.second->getNumOccurrences() > 0; });
}

std::optional<ObjectCache> CacheFlags::cache() const {
  if (noCache || path().empty() || foreignOptionGiven())
    return std::nullopt;
  return ObjectCache(path());
}
