//===- PerfDump.cpp - Kernel names for perf -------------------------------===//
#include "PerfDump.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Threading.h"
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace ckjit;

// The format is tools/perf/Documentation/jitdump-specification.txt of the Linux kernel.
namespace {
constexpr uint32_t kMagic = 0x4A695444, kVersion = 1; ///< "JiTD" where bytes are read from the high end
constexpr uint32_t kHeaderBytes = 40, kRecordBytes = 16, kLoadBytes = kRecordBytes + 40;
enum RecordKind : uint32_t { CodeLoad = 0, CodeClose = 3 };

/// On the clock of `perf record -k 1`, which is CLOCK_MONOTONIC.
uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

Error refused(StringRef path, std::error_code code) {
  return createStringError("perf: can't write " + path + ": " + code.message() +
                           "; set JITDUMPDIR to a folder that can be written and executed from");
}

/// A folder of its own: perf wants the file to be called jit-PID.dump, and a process may have several programs.
Expected<std::string> makeFolder() {
  SmallString<128> base;
  if (auto given = sys::Process::GetEnv("JITDUMPDIR"); given && !given->empty())
    base = *given;
  else if (!sys::path::home_directory(base))
    base = ".";
  sys::path::append(base, ".debug", "jit");
  if (std::error_code code = sys::fs::create_directories(base))
    return refused(base, code);
  if (std::error_code code = sys::fs::make_absolute(base))
    return refused(base, code);
  sys::path::append(base, "ckjit-XXXXXX");
  // LLVM's makers of unique names would also replace each % in the names of the folders around it.
  std::string folder(base);
  if (!::mkdtemp(folder.data()))
    return refused(base, std::error_code(errno, std::generic_category()));
  return folder;
}
} // namespace

Expected<std::shared_ptr<PerfDump>> PerfDump::create() {
  auto folder = makeFolder();
  if (!folder)
    return folder.takeError();
  std::string path = *folder + "/jit-" + std::to_string(getpid()) + ".dump";
  int file = -1;
  if (std::error_code code = sys::fs::openFileForReadWrite(path, file, sys::fs::CD_CreateNew, sys::fs::OF_None))
    return refused(path, code);
  std::shared_ptr<PerfDump> dump(new PerfDump(path, file));
  dump->writeHeader();
  if (Error error = dump->flush())
    return error;
  if (Error error = dump->map())
    return error;
  return dump;
}

/// Never written through, and nothing in it runs: only the event counts, for which perf asks that it be executable.
Error PerfDump::map() {
  void *page = mmap(nullptr, sys::Process::getPageSizeEstimate(), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  failed = page == MAP_FAILED;
  if (failed)
    return refused(path, std::error_code(errno, std::generic_category()));
  marker = page;
  return Error::success();
}

PerfDump::~PerfDump() {
  if (failed) {
    (void)::unlink(path.c_str());
    (void)::rmdir(sys::path::parent_path(path).str().c_str());
  }
  support::endian::Writer out(stream, endianness::little);
  out.write<uint32_t>(CodeClose);
  out.write(kRecordBytes);
  out.write(now());
  // Perf reads what there is; a stream that still has its error would end the process.
  consumeError(flush());
  if (marker)
    munmap(marker, sys::Process::getPageSizeEstimate());
}

Error PerfDump::flush() {
  stream.flush();
  if (!stream.has_error())
    return Error::success();
  failed = true;
  std::error_code code = stream.error();
  stream.clear_error();
  return refused(path, code);
}

void PerfDump::writeHeader() {
  support::endian::Writer out(stream, endianness::little);
  out.write(kMagic);
  out.write(kVersion);
  out.write(kHeaderBytes);
  out.write<uint32_t>(ELF::EM_X86_64);
  out.write<uint32_t>(0);
  out.write<uint32_t>(getpid());
  out.write(now());
  out.write<uint64_t>(0); // flags
}

void PerfDump::writeFunction(const jitlink::Symbol &function) {
  StringRef name = *function.getName();
  ArrayRef<char> code = function.getBlock().getContent().slice(function.getOffset(), function.getSize());
  uint64_t address = function.getAddress().getValue();
  support::endian::Writer out(stream, endianness::little);
  out.write<uint32_t>(CodeLoad);
  out.write<uint32_t>(kLoadBytes + name.size() + 1 + code.size());
  out.write(now());
  out.write<uint32_t>(getpid());
  out.write<uint32_t>(get_threadid());
  out.write(address); // where it is linked,
  out.write(address); // and where it runs
  out.write<uint64_t>(code.size());
  out.write(functions++);
  stream << name << '\0';
  stream.write(code.data(), code.size());
}

void PerfDump::modifyPassConfig(orc::MaterializationResponsibility &, jitlink::LinkGraph &,
                                jitlink::PassConfiguration &passes) {
  // Nothing but a relative call refers to a kernel, so its name would go as unused.
  passes.PrePrunePasses.push_back([](jitlink::LinkGraph &graph) {
    for (jitlink::Symbol *symbol : graph.defined_symbols())
      if (symbol->isCallable())
        symbol->setLive(true);
    return Error::success();
  });
  passes.PostFixupPasses.push_back([this](jitlink::LinkGraph &graph) {
    for (jitlink::Symbol *symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->isCallable() && symbol->getSize() > 0)
        writeFunction(*symbol);
    return flush();
  });
}
