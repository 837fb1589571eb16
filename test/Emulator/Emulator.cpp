//===- Emulator.cpp - Programs on an emulated CPU -------------------------===//
#include "Emulator.h"
#include "Payload/Disk.h"
#include "Support/TempDir.h"
#include "llvm-c/Disassembler.h"
#include "llvm-c/Target.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <cstring>

using namespace llvm;

namespace ckjit::test {

static_assert(sizeof(DiskRun) == 64);

const TargetDescription &emulatedTarget() {
  static const TargetDescription target = [] {
    TargetDescription made = must(describeTarget("tigerlake"));
    const size_t at = made.features.find("+gfni");
    if (at == std::string::npos)
      throw std::runtime_error("tigerlake: expected +gfni among its features, found " + made.features);
    made.features[at] = '-';
    return made;
  }();
  return target;
}

namespace {

constexpr unsigned kMostSeconds = 240;
/// A disk has whole cylinders.
constexpr uint64_t kCylinderBytes = 16 * 63 * kSectorBytes;

/// Nothing of the machine but what the payload uses; a fault of the processor ends it.
constexpr const char *kConfig = R"(display_library: term
romimage: file=$BXSHARE/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
cpu: model=tigerlake, count=1, ips=4000000, reset_on_triple_fault=0
memory: guest={1}, host={1}
ata0-master: type=disk, path={0}/disk, mode=flat
boot: disk
speaker: enabled=0
port_e9_hack: enabled=1
panic: action=fatal
error: action=report
info: action=ignore
debug: action=ignore
log: {0}/log
)";

/// Runs a program of the system with standard input and output in files of `folder`; its exit code, -2 if it was ended
/// after kMostSeconds.
Expected<int> execute(StringRef program, ArrayRef<StringRef> arguments, const TempDir &folder) {
  ErrorOr<std::string> path = sys::findProgramByName(program);
  if (!path)
    return createStringError(program + ": not found, expected on PATH; scripts/install-dependencies installs it");
  std::vector<StringRef> argv{program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const std::string input = folder.file("input"), output = folder.file("output");
  std::optional<StringRef> redirects[] = {StringRef(input), StringRef(output), StringRef(output)};
  // Of terminals only the name is needed: the emulated screen goes to a file.
  const StringRef environment[] = {"TERM=vt100"};
  return sys::ExecuteAndWait(*path, argv, ArrayRef(environment), redirects, kMostSeconds);
}

/// The program at the address where the payload puts it, as plain bytes.
Expected<std::string> place(const CompiledObject &compiled, const TempDir &folder) {
  writeBytes(folder.file("input"), "");
  writeBytes(folder.file("program.o"), std::string(compiled.object.begin(), compiled.object.end()));
  const std::string object = folder.file("program.o"), placed = folder.file("program");
  const StringRef arguments[] = {"-static", "--no-undefined", "--oformat=binary", "-T", CKJIT_PROGRAM_SCRIPT,
                                 object,    "-o",             placed};
  auto code = execute(CKJIT_LLD, arguments, folder);
  if (!code)
    return code.takeError();
  if (*code != 0)
    return createStringError("ld.lld: exit code " + Twine(*code) + ": " + readBytes(folder.file("output")));
  return readBytes(placed);
}

/// The disk's bytes, to which parts are added at whole sectors.
class Disk {
public:
  explicit Disk(std::string payload) : bytes(std::move(payload)) {
    bytes.resize((kTableSector + kTableSectors) * kSectorBytes);
  }
  /// The first sector of what is added, and their number.
  std::pair<uint32_t, uint32_t> add(StringRef part) {
    const size_t first = bytes.size();
    bytes += part;
    bytes.resize(alignTo(bytes.size(), kSectorBytes));
    return {static_cast<uint32_t>(first / kSectorBytes), static_cast<uint32_t>((bytes.size() - first) / kSectorBytes)};
  }
  void setRun(size_t index, const DiskRun &run) { std::memcpy(runAt(index), &run, sizeof(run)); }
  DiskRun getRun(size_t index) {
    DiskRun run;
    std::memcpy(&run, runAt(index), sizeof(run));
    return run;
  }
  ArrayRef<std::byte> part(uint32_t sector, size_t size) const {
    return ArrayRef(reinterpret_cast<const std::byte *>(bytes.data()) + uint64_t(sector) * kSectorBytes, size);
  }
  void write(const std::string &path) {
    bytes.resize(alignTo(bytes.size(), kCylinderBytes));
    writeBytes(path, bytes);
  }
  /// What has become of it.
  Error read(const std::string &path) {
    std::string after = readBytes(path);
    if (after.size() != bytes.size())
      return createStringError(formatv("{0}: found {1} bytes, expected {2}", path, after.size(), bytes.size()));
    bytes = std::move(after);
    return Error::success();
  }

private:
  char *runAt(size_t index) { return &bytes[kTableSector * kSectorBytes + index * sizeof(DiskRun)]; }
  std::string bytes;
};

Error add(Disk &disk, size_t index, const OpRun &op, const TempDir &folder) {
  auto code = place(op.kernel.compiled(), folder);
  if (!code)
    return code.takeError();
  const ArrayRef<std::byte> arena = op.kernel.memory();
  if (code->size() > kMostBytes || arena.size() > kMostBytes)
    return createStringError(formatv("program {0}: {1} bytes of code, an arena of {2}, expected up to {3} each", index,
                                     code->size(), arena.size(), int(kMostBytes)));
  DiskRun run{};
  std::tie(run.codeSector, run.codeSectors) = disk.add(*code);
  std::tie(run.arenaSector, run.arenaSectors) = disk.add({reinterpret_cast<const char *>(arena.data()), arena.size()});
  run.tokens = static_cast<uint64_t>(op.tokens);
  run.firstRow = static_cast<uint64_t>(op.firstRow);
  run.position = static_cast<uint64_t>(op.position);
  disk.setRun(index, run);
  return Error::success();
}

/// Starts the emulator; what it said when it ended.
Expected<std::string> boot(const TempDir &folder) {
  writeBytes(folder.file("config"), formatv(kConfig, folder.path, int(kMemoryMiB)).str());
  writeBytes(folder.file("input"), "c\n"); // Debian's is a debugger, which waits for `continue`
  writeBytes(folder.file("log"), "");
  const std::string config = folder.file("config");
  // The exit code is 1 after a shutdown too: states tell.
  auto code = execute("bochs", {"-q", "-f", config}, folder);
  if (!code)
    return code.takeError();
  return formatv("bochs: exit code {0}{1}\n{2}\n{3}", *code, *code == -2 ? ", too slow" : "",
                 StringRef(readBytes(folder.file("output"))).take_back(2000),
                 StringRef(readBytes(folder.file("log"))).take_back(4000))
      .str();
}

} // namespace

Error runEmulated(ArrayRef<std::unique_ptr<OpRun>> ops) {
  if (ops.size() > kMostRuns)
    return createStringError(formatv("{0} programs, expected up to {1}", ops.size(), int(kMostRuns)));
  const TempDir folder;
  Disk disk(readBytes(CKJIT_PAYLOAD));
  for (size_t i = 0; i < ops.size(); ++i)
    if (Error error = add(disk, i, *ops[i], folder))
      return error;
  disk.write(folder.file("disk"));
  auto said = boot(folder);
  if (!said)
    return said.takeError();
  if (Error error = disk.read(folder.file("disk")))
    return error;
  for (size_t i = 0; i < ops.size(); ++i) {
    const DiskRun run = disk.getRun(i);
    if (run.state != kDone)
      return createStringError(formatv("program {0} of {1} {2}: {3}", i, ops.size(),
                                       run.state == kStarted ? "didn't come to its end" : "wasn't reached", *said));
    ops[i]->kernel.adopt(disk.part(run.arenaSector, ops[i]->kernel.memory().size()));
  }
  return Error::success();
}

std::vector<std::string> instructionsOf(const CompiledObject &compiled) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86Disassembler();
  const std::unique_ptr<void, void (*)(LLVMDisasmContextRef)> context(
      LLVMCreateDisasmCPUFeatures("x86_64-unknown-linux-gnu", compiled.target.cpu.c_str(),
                                  compiled.target.features.c_str(), nullptr, 0, nullptr, nullptr),
      LLVMDisasmDispose);
  const auto file = must(object::ObjectFile::createObjectFile(
      MemoryBufferRef({compiled.object.data(), compiled.object.size()}, "program")));
  std::vector<std::string> instructions;
  for (const object::SectionRef &section : file->sections()) {
    if (!section.isText())
      continue;
    std::string bytes = must(section.getContents()).str();
    for (size_t at = 0, size = 0; at < bytes.size(); at += size) {
      char text[256];
      size = LLVMDisasmInstruction(context.get(), reinterpret_cast<uint8_t *>(&bytes[at]), bytes.size() - at, at, text,
                                   sizeof(text));
      if (size == 0)
        throw std::runtime_error(formatv("no instruction at {0} of {1}", at, must(section.getName())));
      instructions.push_back(text);
    }
  }
  return instructions;
}

} // namespace ckjit::test
