//===- AtomicFile.cpp - A file that appears whole or not at all -----------===//
#include "AtomicFile.h"
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

/// Only programs set it, at their start.
static std::atomic<bool> removeOnSignals{false};

void ckjit::removeTemporaryFilesOnSignals() { removeOnSignals = true; }
bool ckjit::removesTemporaryFilesOnSignals() { return removeOnSignals; }

/// As many links as the kernel follows.
static constexpr int kMaxLinks = 40;

/// Where the links that start at `path` end, be there a file or not yet.
static Expected<std::string> behindLinks(StringRef path) {
  SmallString<128> at(path);
  for (int links = 0; sys::fs::is_symlink_file(at); ++links) {
    std::error_code code = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    SmallString<128> to;
    if (links < kMaxLinks)
      to = std::filesystem::read_symlink(at.c_str(), code).string();
    if (code)
      return createStringError(code, path + ": " + code.message());
    if (sys::path::is_relative(to)) {
      SmallString<128> folder = sys::path::parent_path(at);
      sys::path::append(folder, to);
      to = folder;
    }
    at = to;
  }
  return std::string(at);
}

/// Opens a file of a name of its own beside `target`; -1 and errno when that fails. (LLVM's makers of unique names
/// would also replace each % in the folders' names.)
static int openNew(StringRef target, mode_t mode, std::string &path) {
  constexpr int kTries = 100;
  int fd = -1;
  for (int i = 0; i < kTries && fd < 0 && (i == 0 || errno == EEXIST); ++i) {
    path = formatv("{0}.{1:x-8}.tmp", target, sys::Process::GetRandomNumber()).str();
    fd = sys::RetryAfterSignal(-1, ::open, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }
  return fd;
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::create(StringRef path, FileKind kind) {
  bool output = kind != FileKind::Disposable;
  Expected<std::string> target = output ? behindLinks(path) : path.str();
  if (!target)
    return target.takeError();
  sys::fs::file_status status;
  bool exists = !sys::fs::status(*target, status, /*follow=*/output);
  if (exists && (output ? status.type() != sys::fs::file_type::regular_file
                        : status.type() == sys::fs::file_type::directory_file))
    return fieldError(path, "output file",
                      status.type() == sys::fs::file_type::directory_file ? "a directory" : "a device or pipe",
                      "the path of a regular file, or of none yet");
  // A new output gets what the umask leaves.
  mode_t mode = !output ? 0600 : exists ? static_cast<mode_t>(status.permissions()) : 0666;
  constexpr mode_t kMayRead = 0444;
  if (kind == FileKind::Program)
    mode |= (mode & kMayRead) >> 2;
  std::string temporary;
  int fd = openNew(*target, mode, temporary);
  if (fd < 0)
    return createStringError(path + ": cannot create a temporary file beside it: " + sys::StrError() +
                             "; expected a writable folder");
  if (output && removeOnSignals)
    sys::RemoveFileOnSignal(temporary);
  std::unique_ptr<AtomicFile> file(new AtomicFile(std::move(*target), std::move(temporary), fd, kind));
  if (output && exists && ::fchmod(fd, mode) != 0)
    return file->failed("setting its mode");
  return file;
}

AtomicFile::~AtomicFile() {
  ::close(fd);
  if (temporary.empty())
    return;
  (void)sys::fs::remove(temporary);
  if (kind != FileKind::Disposable && removeOnSignals)
    sys::DontRemoveFileOnSignal(temporary);
}

Error AtomicFile::checkSpace(uint64_t bytes) const {
  ErrorOr<sys::fs::space_info> space = sys::fs::disk_space(temporary);
  if (!space || space->available >= bytes)
    return Error::success();
  return createStringError(formatv("{0}: needs {1} bytes, its file system has {2} free; nothing was changed", target,
                                   bytes, space->available));
}

Error AtomicFile::failed(StringRef step) const {
  int code = errno;
  return createStringError(formatv("{0}: {1}: {2}; nothing was changed", target, step, sys::StrError(code)));
}

Error AtomicFile::append(ArrayRef<uint8_t> bytes) {
  if (Error error = overwrite(end, bytes))
    return error;
  end += bytes.size();
  return Error::success();
}

Error AtomicFile::overwrite(uint64_t offset, ArrayRef<uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t written =
        sys::RetryAfterSignal(-1, ::pwrite, fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0)
      return failed("writing");
    bytes = bytes.drop_front(written);
    offset += written;
  }
  return Error::success();
}

/// Makes the rename itself durable. Not every file system can sync a folder; the file's bytes are safe by then.
static void syncFolderOf(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  int fd = ::open(folder.empty() ? "." : folder.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  (void)::fsync(fd);
  ::close(fd);
}

Error AtomicFile::flush() {
  return sys::RetryAfterSignal(-1, ::fsync, fd) == 0 ? Error::success() : failed("fsync");
}

Error AtomicFile::commit() {
  bool output = kind != FileKind::Disposable;
  if (output)
    if (Error error = flush())
      return error;
  if (std::error_code code = sys::fs::rename(temporary, target))
    return createStringError(target + ": rename of the temporary file: " + code.message() + "; nothing was changed");
  if (output && removeOnSignals)
    sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  if (output)
    syncFolderOf(target);
  return Error::success();
}

Error ckjit::checkWritable(StringRef path) { return AtomicFile::create(path).takeError(); }

/// The file of `bytes`, not yet in its place.
static Expected<std::unique_ptr<AtomicFile>> begin(StringRef path, StringRef bytes, FileKind kind) {
  Expected<std::unique_ptr<AtomicFile>> file = AtomicFile::create(path, kind);
  if (!file)
    return file.takeError();
  if (Error error = (*file)->append(arrayRefFromStringRef(bytes)))
    return error;
  return file;
}

Error ckjit::writeFilesAtomically(ArrayRef<NewFile> files) {
  std::vector<std::unique_ptr<AtomicFile>> begun;
  for (const NewFile &file : files) {
    auto next = begin(file.path, file.bytes, file.executable ? FileKind::Program : FileKind::Output);
    if (!next)
      return next.takeError();
    if (Error error = (*next)->flush())
      return error;
    begun.push_back(std::move(*next));
  }
  for (const std::unique_ptr<AtomicFile> &file : begun)
    if (Error error = file->commit())
      return error;
  return Error::success();
}

Error ckjit::writeFileAtomically(StringRef path, StringRef bytes, bool executable) {
  return writeFilesAtomically({{path.str(), bytes, executable}});
}

Error ckjit::writeDisposableFile(StringRef path, StringRef bytes) {
  auto file = begin(path, bytes, FileKind::Disposable);
  return file ? (*file)->commit() : file.takeError();
}
