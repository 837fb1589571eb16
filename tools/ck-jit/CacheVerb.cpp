//===- CacheVerb.cpp - ck-jit cache: the compiled objects on disk ---------===//
#include "CacheFlags.h"
#include "Verbs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand cacheCommand(
    "cache", "List, check or remove the compiled objects on disk\n\n"
             "  `run` and `generate` keep what they compile in a folder of the user's, a file for each model, CPU and\n"
             "  set of options, and start faster the next time. Another build of ck-jit or LLVM doesn't use it. A\n"
             "  damaged file is replaced by itself, and beyond 1 GiB what was used longest ago goes, so nobody has\n"
             "  to look after the folder:\n"
             "    ls      what is there, of which model, for which CPU, and when it was last used\n"
             "    verify  check every file's form and checksum; fails and names those that are damaged\n"
             "    clean   remove all of it; files that aren't the cache's stay\n\n"
             "  Examples:\n"
             "    ck-jit cache ls\n"
             "    ck-jit cache verify --cache-dir build/cache --json\n"
             "    ck-jit cache clean");

cl::opt<std::string> what(cl::Positional, cl::sub(cacheCommand), cl::value_desc("ls|verify|clean"),
                          cl::desc("ls|verify|clean"));
CacheFolderFlag folderFlag(cacheCommand);
cl::opt<bool> jsonFlag("json", cl::sub(cacheCommand), cl::desc("Print JSON for programs (ls, verify)"));

/// A file of the cache, with what it holds or what is wrong with it.
struct Item {
  ObjectCache::File file;
  std::optional<CacheEntry> entry;
  std::string fault;
};

Expected<std::vector<Item>> readAll(const ObjectCache &cache) {
  auto files = cache.list();
  if (!files)
    return files.takeError();
  std::vector<Item> items;
  for (ObjectCache::File &file : *files) {
    auto entry = ObjectCache::read(file);
    if (entry)
      items.push_back({std::move(file), std::move(*entry), ""});
    else
      items.push_back({std::move(file), std::nullopt, toString(entry.takeError())});
  }
  return items;
}

int64_t secondsSince(sys::TimePoint<> time) {
  auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now() - time);
  return std::max<int64_t>(passed.count(), 0); // a clock may have been set back
}

std::string ageText(int64_t seconds) {
  constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (seconds < 2 * kMinute)
    return fmt::format("{} s", seconds);
  if (seconds < 2 * kHour)
    return fmt::format("{} min", seconds / kMinute);
  return seconds < 2 * kDay ? fmt::format("{} h", seconds / kHour) : fmt::format("{} days", seconds / kDay);
}

/// Enough of the key to tell entries apart.
std::string shortKey(const CacheKey &key) { return toHex(key, /*LowerCase=*/true).substr(0, 12); }

std::string modelText(const ModelConfig &c) {
  return fmt::format("{} layers, {} hidden, {} heads ({} kv), vocab {}, context {}", c.numLayers, c.hiddenSize,
                     c.numHeads, c.numKVHeads, c.vocabSize, c.contextWindow);
}

std::string rowText(const Item &item) {
  std::string start =
      fmt::format("  {}  {:>8}  {:>8}  ", shortKey(item.file.key), ageText(secondsSince(item.file.used)),
                  fmt::format("{:.1f} KB", static_cast<double>(item.file.bytes) / 1e3));
  if (!item.entry)
    return start + "damaged: `ck-jit cache verify` tells how\n";
  const CompiledObject &object = item.entry->object;
  return start + fmt::format("{}, {} bits; {} kernels{}; {}\n", object.target.cpu, object.target.vectorBits,
                             object.kernels.size(), object.decode ? ", decode" : "", modelText(item.entry->config));
}

uint64_t bytesOf(ArrayRef<Item> items) {
  uint64_t bytes = 0;
  for (const Item &item : items)
    bytes += item.file.bytes;
  return bytes;
}

void listText(const ObjectCache &cache, ArrayRef<Item> items) {
  outs() << fmt::format("{}: {} entr{}, {} bytes\n", cache.folder(), items.size(), items.size() == 1 ? "y" : "ies",
                        bytesOf(items));
  if (!items.empty())
    outs() << fmt::format("  {:<12}  {:>8}  {:>8}  holds\n", "key", "used", "size");
  for (const Item &item : items)
    outs() << rowText(item);
}

json::Object itemJson(const Item &item) {
  json::Object object{{"key", toHex(item.file.key, /*LowerCase=*/true)},
                      {"file", json::fixUTF8(item.file.path)},
                      {"bytes", item.file.bytes},
                      {"age_seconds", secondsSince(item.file.used)},
                      {"sound", item.entry.has_value()}};
  if (!item.entry) {
    object["fault"] = json::fixUTF8(item.fault);
    return object;
  }
  const ModelConfig &c = item.entry->config;
  const CompiledObject &compiled = item.entry->object;
  object["model"] = json::Object{
      {"layers", c.numLayers},    {"hidden", c.hiddenSize}, {"intermediate", c.intermediateSize}, {"heads", c.numHeads},
      {"kv_heads", c.numKVHeads}, {"vocab", c.vocabSize},   {"context", c.contextWindow}};
  object["target"] =
      json::Object{{"cpu", json::fixUTF8(compiled.target.cpu)}, {"vector_bits", compiled.target.vectorBits}};
  json::Array kernels;
  for (const std::string &kernel : compiled.kernels)
    kernels.push_back(json::fixUTF8(kernel));
  object["kernels"] = std::move(kernels);
  object["decode"] = compiled.decode;
  object["object_bytes"] = compiled.object.size();
  return object;
}

void printJson(const ObjectCache &cache, ArrayRef<Item> items) {
  json::Array entries;
  for (const Item &item : items)
    entries.push_back(itemJson(item));
  json::Object object{
      {"folder", json::fixUTF8(cache.folder())}, {"bytes", bytesOf(items)}, {"entries", std::move(entries)}};
  outs() << formatv("{0:2}", json::Value(std::move(object))) << "\n";
}

Error list(const ObjectCache &cache) {
  auto items = readAll(cache);
  if (!items)
    return items.takeError();
  jsonFlag ? printJson(cache, *items) : listText(cache, *items);
  return Error::success();
}

Error verifyEntries(const ObjectCache &cache) {
  auto items = readAll(cache);
  if (!items)
    return items.takeError();
  Error faults = Error::success();
  size_t damaged = 0;
  for (const Item &item : *items)
    if (!item.entry) {
      faults = joinErrors(std::move(faults), createStringError(item.fault));
      ++damaged;
    }
  if (jsonFlag)
    printJson(cache, *items);
  else
    outs() << fmt::format("{}: {} sound, {} damaged\n", cache.folder(), items->size() - damaged, damaged);
  return faults;
}

Error clean(const ObjectCache &cache) {
  auto removed = cache.clean();
  if (!removed)
    return removed.takeError();
  outs() << fmt::format("{}: removed {} file{}, {} bytes\n", cache.folder(), removed->files,
                        removed->files == 1 ? "" : "s", removed->bytes);
  return Error::success();
}

Error run() {
  if (what != "ls" && what != "verify" && what != "clean")
    return usageError("cache '" + what + "': expected ls, verify or clean");
  if (what == "clean" && jsonFlag)
    return usageError("--json is for ls and verify");
  if (folderFlag.path().empty())
    return createStringError("there is no object cache: neither XDG_CACHE_HOME nor HOME is an absolute path; name a "
                             "folder by --cache-dir");
  ObjectCache cache(folderFlag.path());
  return what == "ls" ? list(cache) : what == "verify" ? verifyEntries(cache) : clean(cache);
}

} // namespace

Verb cacheVerb() { return {&cacheCommand, run}; }

} // namespace ckjit::tool
