//===- ObjectCache.h - Compiled objects kept on disk ------------*- C++ -*-===//
#ifndef CKJIT_JIT_OBJECTCACHE_H
#define CKJIT_JIT_OBJECTCACHE_H

#include "ckjit/JIT/CacheEntry.h"
#include "llvm/Support/Chrono.h"

namespace ckjit {

/// A folder of compiled objects, one file each, named by its key. Any number of threads and processes may share it:
/// files appear whole. The folder is the user's own (mode 0700 when made here); one that others own or may write is not
/// used, for what is read from it is run. When the files exceed a limit, those that were used longest ago are removed.
class ObjectCache {
public:
  static constexpr uint64_t kLimitBytes = uint64_t(1) << 30;
  /// A larger object is compiled each time, a larger file is no entry.
  static constexpr uint64_t kMaxEntryBytes = uint64_t(64) << 20;

  /// $XDG_CACHE_HOME/ck-jit, else $HOME/.cache/ck-jit; empty if neither is an absolute path.
  static std::string defaultFolder();

  explicit ObjectCache(std::string folder, uint64_t limitBytes = kLimitBytes)
      : folderPath(std::move(folder)), limitBytes(limitBytes) {}

  /// compileGraph through the cache: the object that is kept, or a new one, which is then kept. Errors are those of
  /// compileGraph alone. What is wrong with the cache (a damaged entry, which is replaced; a folder that can't be
  /// written or isn't safe) only costs the caching and is told in the object's `cacheNote`.
  llvm::Expected<CompiledObject> compile(const CKIRGraph &graph, llvm::StringRef where,
                                         const CompileOptions &options) const;

  /// A file of the folder that has an entry's name.
  struct File {
    std::string path;
    CacheKey key{}; ///< what the name says
    uint64_t bytes = 0;
    llvm::sys::TimePoint<> used; ///< last time it was written or read
  };
  /// The files with names of entries, by name; none if there is no folder. Error if the folder can't be read or isn't
  /// safe.
  llvm::Expected<std::vector<File>> list() const;
  /// Reads and checks one of them. Error, naming it, if it is damaged, or of another key than its name's.
  static llvm::Expected<CacheEntry> read(const File &file);

  struct Removed {
    uint64_t files = 0, bytes = 0;
  };
  /// Removes all entries, and what writers that died have left; other files stay. Error for what can't be removed.
  llvm::Expected<Removed> clean() const;

  const std::string &folder() const { return folderPath; }

private:
  struct Scan;
  std::string pathOf(const CacheKey &key) const;
  /// Whether there is a folder; error if it isn't safe.
  llvm::Expected<bool> checkFolder() const;
  llvm::Expected<Scan> scan() const;
  llvm::Expected<std::optional<CompiledObject>> load(const CacheKey &key, const TargetDescription &target) const;
  llvm::Error store(const CacheEntry &entry) const;
  void evict(llvm::StringRef newest) const;

  std::string folderPath;
  uint64_t limitBytes;
};

} // namespace ckjit
#endif
