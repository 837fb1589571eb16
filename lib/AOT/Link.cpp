//===- Link.cpp - The model's code and its runtime as one ELF file --------===//
#include "Parts.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include <cstdlib>
#include <link.h>

using namespace llvm;
using namespace ckjit;

/// RuntimeArchive.S.
extern "C" const char ckjit_runtime_archive[], ckjit_runtime_archive_end[];

namespace {
#ifndef CKJIT_LLD
#define CKJIT_LLD ""
#endif

/// A folder of files for the linker, gone with the object and, in programs that want it so, when a signal ends them.
class WorkFolder {
public:
  static Expected<std::unique_ptr<WorkFolder>> create() {
    SmallString<128> path;
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
    if (path.str().contains('%'))
      return createStringError(path + ": has a % in its path, below which ld.lld cannot write; set $TMPDIR to another "
                                      "folder");
    sys::path::append(path, "ckjit-link-XXXXXX");
    if (!::mkdtemp(const_cast<char *>(path.c_str())))
      return createStringError(sys::path::parent_path(path) + ": cannot create a folder for the linker's files: " +
                               sys::StrError() + "; expected a writable folder ($TMPDIR, else /tmp)");
    std::unique_ptr<WorkFolder> folder(new WorkFolder());
    folder->path = std::string(path);
    return folder;
  }
  ~WorkFolder() {
    for (const std::string &file : files) {
      (void)sys::fs::remove(file);
      if (removesTemporaryFilesOnSignals())
        sys::DontRemoveFileOnSignal(file);
    }
    (void)sys::fs::remove(path);
  }

  /// The path of a file in it, which may not exist yet.
  std::string add(StringRef name) {
    SmallString<128> file(path);
    sys::path::append(file, name);
    files.push_back(std::string(file));
    if (removesTemporaryFilesOnSignals())
      sys::RemoveFileOnSignal(files.back());
    return files.back();
  }
  Expected<std::string> write(StringRef name, StringRef bytes) {
    std::string file = add(name);
    if (Error error = writeDisposableFile(file, bytes))
      return error;
    return file;
  }

private:
  std::string path;
  std::vector<std::string> files;
};

/// The C library that this process runs with is the one to link with: no development files are needed.
Expected<std::string> findLoaded(StringRef library) {
  std::pair<StringRef, std::string> search{library, ""};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &[name, found] = *static_cast<std::pair<StringRef, std::string> *>(data);
        if (sys::path::filename(info->dlpi_name) == name)
          found = info->dlpi_name;
        return found.empty() ? 0 : 1;
      },
      &search);
  if (search.second.empty())
    return createStringError("no " + library + " is loaded in this process; expected glibc 2.34 or later");
  return search.second;
}

std::string readIfThere(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().rtrim().str() : "";
}

/// The bytes that the linker wrote to `output`.
Expected<std::string> runLinker(StringRef linker, ArrayRef<std::string> arguments, StringRef output,
                                WorkFolder &folder) {
  std::vector<StringRef> argv{linker};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::string said = folder.add("messages"), message;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(said), StringRef(said)};
  bool notRun = false;
  int code = sys::ExecuteAndWait(linker, argv, std::nullopt, redirects, 0, 0, &message, &notRun);
  // In a host that ignores SIGCHLD, or waits for every child, how this one ended can't be known. It has ended, and
  // lld's output appears whole or not at all.
  bool unknown = code == -1 && !notRun;
  auto linked = MemoryBuffer::getFile(output);
  if (linked && (code == 0 || unknown))
    return (*linked)->getBuffer().str();
  if (code == 0)
    return createStringError(linker + ": wrote nothing; expected an ld.lld");
  return createStringError(linker + ": linking failed (exit code " + Twine(code) + "): " + message +
                           readIfThere(said));
}
} // namespace

Expected<std::string> ckjit::aot::findLinker(StringRef given, StringRef built) {
  if (!given.empty()) {
    if (sys::fs::can_execute(given))
      return given.str();
    return createStringError(given + ": not a program, expected the path of an ld.lld");
  }
  if (sys::fs::can_execute(built))
    return built.str();
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return createStringError("no linker: found no ld.lld on PATH; install LLVM's linker (Debian's package lld-22), or "
                           "name one with --linker");
}

namespace {
/// Puts what is linked into `folder`: the model's objects, the runtime, the system's C library.
Expected<std::vector<std::string>> gatherInputs(ArrayRef<StringRef> objects, WorkFolder &folder) {
  std::vector<std::pair<std::string, StringRef>> files;
  for (auto [index, object] : enumerate(objects))
    files.push_back({"model" + std::to_string(index) + ".o", object});
  files.push_back({"runtime.a", StringRef(ckjit_runtime_archive, ckjit_runtime_archive_end - ckjit_runtime_archive)});
  std::vector<std::string> inputs;
  for (auto &[name, bytes] : files) {
    auto written = folder.write(name, bytes);
    if (!written)
      return written.takeError();
    inputs.push_back(*written);
  }
  for (StringRef library : {"libm.so.6", "libc.so.6"}) {
    auto path = findLoaded(library);
    if (!path)
      return path.takeError();
    inputs.push_back(*path);
  }
  return inputs;
}

std::vector<std::string> linkerOptions(AotMode mode) {
  std::vector<std::string> options{"--as-needed", "--gc-sections", "--strip-debug", "--no-undefined",
                                   "--hash-style=gnu", "--build-id", "-z", "relro", "-z", "now", "-z", "noexecstack",
                                   "-z", "text", "-z", "separate-code"};
  // Several models may be in one process, and the host's own symbols: what the library calls is its own.
  if (mode == AotMode::Library)
    options.insert(options.end(), {"-shared", "-Bsymbolic", "-u", "ck_model_init"});
  else
    options.insert(options.end(), {"-pie", "-e", "_start", "-u", "_start", "-u", "main",
                                   "--dynamic-linker=/lib64/ld-linux-x86-64.so.2"});
  return options;
}
} // namespace

Expected<std::string> ckjit::aot::link(ArrayRef<StringRef> objects, AotMode mode, StringRef given) {
  auto linker = findLinker(given, CKJIT_LLD);
  if (!linker)
    return linker.takeError();
  auto folder = WorkFolder::create();
  if (!folder)
    return folder.takeError();
  auto inputs = gatherInputs(objects, **folder);
  if (!inputs)
    return inputs.takeError();
  // Of the model's code only the runtime may call; the seed's functions alone are for others.
  auto script = (*folder)->write("exports", "{ local: prefill; decode; };\n");
  if (!script)
    return script.takeError();
  std::string output = (*folder)->add("output");
  std::vector<std::string> arguments = linkerOptions(mode);
  arguments.insert(arguments.end(), {"--version-script=" + *script, "-o", output});
  arguments.insert(arguments.end(), inputs->begin(), inputs->end());
  return runLinker(*linker, arguments, output, **folder);
}
