//===- RegularFile.cpp - Bounded reads of a regular file ------------------===//
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace ckjit;

Error ckjit::fieldError(StringRef path, const Twine &field, const Twine &found, const Twine &expected) {
  return createStringError(path + ": " + field + ": found " + found + ", expected " + expected);
}

static StringRef kindOf(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFDIR: return "a directory";
  case S_IFIFO: return "a pipe";
  case S_IFCHR: return "a character device";
  case S_IFBLK: return "a block device";
  case S_IFSOCK: return "a socket";
  default: return "something else";
  }
}

Expected<std::unique_ptr<RegularFile>> RegularFile::open(StringRef path, Links links) {
  // O_NONBLOCK: a pipe without a writer would hold open() for ever.
  int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == Links::Refuse ? O_NOFOLLOW : 0);
  int fd = sys::RetryAfterSignal(-1, ::open, path.str().c_str(), flags);
  if (fd < 0 && errno == ELOOP && links == Links::Refuse)
    return fieldError(path, "file", "a symbolic link", "a regular file");
  if (fd < 0)
    return createStringError(path + ": file: cannot be read: " + sys::StrError() +
                             "; expected the path of a readable file");
  std::unique_ptr<RegularFile> file(new RegularFile(path, fd));
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return createStringError(path + ": file: its size cannot be read: " + sys::StrError());
  if (!S_ISREG(status.st_mode))
    return fieldError(path, "file", kindOf(status.st_mode), "a regular file");
  file->bytes = static_cast<uint64_t>(status.st_size);
  file->owner = status.st_uid;
  file->mode = status.st_mode;
  return file;
}

RegularFile::~RegularFile() { ::close(fd); }

Error RegularFile::read(uint64_t offset, void *dst, uint64_t count) const {
  if (offset > bytes || count > bytes - offset)
    return fieldError(name, "file size", formatv("{0} bytes", bytes).str(),
                      formatv("at least {0} from byte {1}", count, offset).str());
  char *out = static_cast<char *>(dst);
  while (count != 0) {
    ssize_t got = sys::RetryAfterSignal(-1, ::pread, fd, out, count, static_cast<off_t>(offset));
    if (got < 0)
      return createStringError(formatv("{0}: reading {1} bytes at byte {2}: {3}", name, count, offset,
                                       sys::StrError()));
    if (got == 0)
      return fieldError(name, "file size", formatv("end at byte {0} while reading", offset).str(),
                        formatv("{0} bytes, as when it was opened", bytes).str());
    out += got;
    offset += got;
    count -= got;
  }
  return Error::success();
}
