//===- AtomicFile.cpp - A file that appears whole or not at all -----------===//
#include "AtomicFile.h"
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

/// The file that is to be replaced: what a link points to, not the link.
static Expected<std::string> replaceable(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return path.str();
  if (status.type() != sys::fs::file_type::regular_file)
    return fieldError(path, "output file",
                      status.type() == sys::fs::file_type::directory_file ? "a directory" : "a device or pipe",
                      "the path of a regular file, or of none yet");
  SmallString<128> real;
  if (std::error_code code = sys::fs::real_path(path, real))
    return createStringError(code, path + ": " + code.message());
  return std::string(real);
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::create(StringRef path) {
  Expected<std::string> target = replaceable(path);
  if (!target)
    return target.takeError();
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(*target + ".%%%%%%%%.tmp");
  if (!file)
    return createStringError(path + ": cannot create a temporary file beside it: " + toString(file.takeError()) +
                             "; expected a writable folder");
  return std::unique_ptr<AtomicFile>(new AtomicFile(std::move(*target), std::move(*file)));
}

AtomicFile::~AtomicFile() {
  if (!done)
    consumeError(file.discard());
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
        sys::RetryAfterSignal(-1, ::pwrite, file.FD, bytes.data(), bytes.size(), static_cast<off_t>(offset));
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

Error AtomicFile::commit() {
  if (sys::RetryAfterSignal(-1, ::fsync, file.FD) != 0)
    return failed("fsync");
  done = true; // keep() removes the temporary file itself when it fails
  if (Error error = file.keep(target))
    return createStringError(target + ": rename of the temporary file: " + toString(std::move(error)) +
                             "; nothing was changed");
  syncFolderOf(target);
  return Error::success();
}

Error ckjit::writeFileAtomically(StringRef path, StringRef bytes) {
  Expected<std::unique_ptr<AtomicFile>> file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = (*file)->append(arrayRefFromStringRef(bytes)))
    return error;
  return (*file)->commit();
}
