//===- ObjectCache.cpp - Compiled objects kept on disk --------------------===//
#include "ckjit/JIT/ObjectCache.h"
#include "Stopwatch.h"
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace ckjit;

static constexpr StringLiteral kSuffix = ".ckobj", kTemporarySuffix = ".tmp";
/// No writer takes longer: it died.
static constexpr std::chrono::minutes kTemporaryAge(60);

std::string ObjectCache::defaultFolder() {
  for (auto [variable, below] : {std::pair("XDG_CACHE_HOME", "ck-jit"), std::pair("HOME", ".cache/ck-jit")})
    if (const char *value = std::getenv(variable); value && sys::path::is_absolute(value)) {
      SmallString<128> folder(value);
      sys::path::append(folder, below);
      return std::string(folder);
    }
  return "";
}

std::string ObjectCache::pathOf(const CacheKey &key) const {
  SmallString<128> path(folderPath);
  sys::path::append(path, toHex(key, /*LowerCase=*/true) + kSuffix);
  return std::string(path);
}

/// The key that the name of an entry tells; none for another name.
static std::optional<CacheKey> keyOfName(StringRef name) {
  std::string digits;
  CacheKey key;
  if (!name.consume_back(kSuffix) || name.size() != 2 * key.size() || name != name.lower() ||
      !tryGetFromHex(name, digits))
    return std::nullopt;
  std::copy(digits.begin(), digits.end(), key.begin());
  return key;
}

/// Whether a writer made this name for an entry it was about to write.
static bool isTemporary(StringRef name) {
  return name.consume_back(kTemporarySuffix) && keyOfName(name.rsplit('.').first).has_value();
}

static std::string octal(mode_t mode) {
  std::string text;
  raw_string_ostream(text) << format("%o", static_cast<unsigned>(mode));
  return text;
}

Expected<bool> ObjectCache::checkFolder() const {
  struct stat status;
  if (::stat(folderPath.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return false;
    return createStringError(folderPath + ": folder: " + std::generic_category().message(errno));
  }
  if (!S_ISDIR(status.st_mode))
    return fieldError(folderPath, "object cache", "something else", "a folder");
  if (status.st_uid != ::geteuid())
    return fieldError(folderPath, "owner of the folder", "user " + Twine(status.st_uid),
                      "user " + Twine(::geteuid()) + ", who would run what it holds");
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return fieldError(folderPath, "mode of the folder", octal(status.st_mode & 07777),
                      "one that lets nobody else write, such as 700");
  return true;
}

/// The folder's files that are the cache's own.
struct ObjectCache::Scan {
  std::vector<File> entries, temporaries;
};

Expected<ObjectCache::Scan> ObjectCache::scan() const {
  Scan result;
  auto there = checkFolder();
  if (!there)
    return there.takeError();
  std::error_code code;
  for (sys::fs::directory_iterator at(folderPath, code, /*follow_symlinks=*/false), end; *there && !code && at != end;
       at.increment(code)) {
    StringRef name = sys::path::filename(at->path());
    std::optional<CacheKey> key = keyOfName(name);
    sys::fs::file_status status;
    // It may have gone meanwhile.
    if ((!key && !isTemporary(name)) || sys::fs::status(at->path(), status, /*follow=*/false))
      continue;
    auto &files = key ? result.entries : result.temporaries;
    files.push_back({at->path(), key.value_or(CacheKey()), status.getSize(), status.getLastModificationTime()});
  }
  if (*there && code)
    return createStringError(folderPath + ": folder: cannot be read: " + code.message());
  llvm::sort(result.entries, [](const File &a, const File &b) { return a.path < b.path; });
  return result;
}

Expected<std::vector<ObjectCache::File>> ObjectCache::list() const {
  auto found = scan();
  if (!found)
    return found.takeError();
  return std::move(found->entries);
}

Expected<CacheEntry> ObjectCache::read(const File &file) {
  auto opened = RegularFile::open(file.path, Links::Refuse);
  if (!opened)
    return opened.takeError();
  // Whoever owns a folder above this one may put another folder in its place, but not a file of this user's.
  if (!(*opened)->belongsTo(::geteuid()))
    return fieldError(file.path, "owner and mode", "another user's file, or one that others may write",
                      "a file that only its user writes");
  uint64_t size = (*opened)->size();
  if (size > kMaxEntryBytes)
    return fieldError(file.path, "size", Twine(size) + " bytes", "at most " + Twine(kMaxEntryBytes));
  std::string bytes(size, '\0');
  if (Error error = (*opened)->read(0, bytes.data(), size))
    return error;
  auto entry = parseCacheEntry(bytes, file.path);
  if (entry && entry->key != file.key)
    return fieldError(file.path, "key", toHex(entry->key, /*LowerCase=*/true), "that of the file's name");
  return entry;
}

Expected<std::optional<CompiledObject>> ObjectCache::load(const CacheKey &key, const TargetDescription &target) const {
  auto there = checkFolder();
  if (!there)
    return there.takeError();
  std::string path = pathOf(key);
  auto absent = [&] {
    sys::fs::file_status status;
    return sys::fs::status(path, status, /*follow=*/false) == std::errc::no_such_file_or_directory;
  };
  if (!*there || absent())
    return std::nullopt;
  auto entry = read({path, key, /*bytes=*/0, /*used=*/{}});
  if (!entry && absent()) { // removed meanwhile, which is no fault
    consumeError(entry.takeError());
    return std::nullopt;
  }
  if (!entry)
    return entry.takeError();
  if (entry->object.target != target)
    return fieldError(path, "target", entry->object.target.cpu + " or other features or caches", target.cpu);
  // Eviction goes by this. Where it can't be set, nothing can be evicted either.
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return std::move(entry->object);
}

Error ObjectCache::store(const CacheEntry &entry) const {
  std::string bytes = writeCacheEntry(entry);
  if (bytes.size() > kMaxEntryBytes)
    return Error::success();
  auto there = checkFolder();
  if (!there)
    return there.takeError();
  if (!*there)
    if (std::error_code code = sys::fs::create_directories(folderPath, /*IgnoreExisting=*/true, sys::fs::owner_all))
      return createStringError(folderPath + ": folder: cannot be made: " + code.message());
  std::string path = pathOf(entry.key);
  if (Error error = writeDisposableFile(path, bytes))
    return error;
  evict(path);
  return Error::success();
}

/// Several processes may evict at once: whatever is gone already is no fault, and what can't be removed stays.
void ObjectCache::evict(StringRef newest) const {
  auto found = scan();
  if (!found)
    return consumeError(found.takeError());
  auto now = std::chrono::system_clock::now();
  for (const File &file : found->temporaries)
    if (now - file.used > kTemporaryAge)
      (void)::unlink(file.path.c_str());
  uint64_t bytes = 0;
  for (const File &file : found->entries)
    bytes += file.bytes;
  llvm::stable_sort(found->entries, [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : found->entries) {
    if (bytes <= limitBytes)
      break;
    if (file.path != newest && ::unlink(file.path.c_str()) == 0)
      bytes -= file.bytes;
  }
}

Expected<ObjectCache::Removed> ObjectCache::clean() const {
  auto found = scan();
  if (!found)
    return found.takeError();
  Removed removed;
  Error failed = Error::success();
  for (const std::vector<File> *files : {&found->entries, &found->temporaries})
    for (const File &file : *files) {
      if (::unlink(file.path.c_str()) == 0)
        removed.files += 1, removed.bytes += file.bytes;
      else if (errno != ENOENT)
        failed =
            joinErrors(std::move(failed),
                       createStringError(file.path + ": cannot be removed: " + std::generic_category().message(errno)));
    }
  if (failed)
    return failed;
  return removed;
}

static void addNote(std::string &notes, Twine note) { notes += (notes.empty() ? "" : "; ") + note.str(); }

Expected<CompiledObject> ObjectCache::compile(const CKIRGraph &graph, StringRef where,
                                              const CompileOptions &options) const {
  std::string compiler = compilerIdentity(), note;
  double milliseconds = 0;
  CacheEntry entry;
  if (compiler.empty())
    note = "object cache not used: this program has no build id (link it with -Wl,--build-id)";
  else {
    Stopwatch watch(milliseconds);
    entry.key = cacheKey(graph, options, compiler);
    auto loaded = load(entry.key, options.target);
    if (!loaded)
      note = "object cache: " + toString(loaded.takeError()) + "; compiled anew";
    else if (*loaded)
      entry.object = std::move(**loaded), entry.object.cached = true;
  }
  if (!entry.object.cached) {
    auto compiled = compileGraph(graph, where, options);
    if (!compiled)
      return compiled.takeError();
    entry.config = graph.config;
    entry.object = std::move(*compiled);
  }
  if (!entry.object.cached && !compiler.empty()) {
    Stopwatch watch(milliseconds);
    if (Error error = store(entry)) {
      std::string reason = toString(std::move(error));
      if (!StringRef(note).contains(reason))
        addNote(note, "object cache: " + reason + "; the compiled object isn't kept");
    }
  }
  entry.object.times.cache = milliseconds;
  entry.object.cacheNote = std::move(note);
  return std::move(entry.object);
}
