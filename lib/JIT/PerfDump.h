//===- PerfDump.h - Kernel names for perf -----------------------*- C++ -*-===//
#ifndef CKJIT_LIB_JIT_PERFDUMP_H
#define CKJIT_LIB_JIT_PERFDUMP_H

#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace ckjit {

/// A jitdump file, which tells perf the name, place and code of every function that is linked. It is a new file for
/// each program: <base>/.debug/jit/ckjit-XXXXXX/jit-PID.dump, where base is $JITDUMPDIR or else the home directory.
///
/// LLVM has a PerfSupportPlugin; its writer keeps one state a process, which programs would take from each other, and
/// ends the process when the disk is full.
class PerfDump : public llvm::orc::ObjectLinkingLayer::Plugin {
public:
  /// Error, with the path, when the file can't be made or mapped.
  static llvm::Expected<std::shared_ptr<PerfDump>> create();
  ~PerfDump() override;

  /// Error if what was written so far didn't get into the file.
  llvm::Error flush();

  void modifyPassConfig(llvm::orc::MaterializationResponsibility &, llvm::jitlink::LinkGraph &,
                        llvm::jitlink::PassConfiguration &passes) override;
  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility &) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib &, llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib &, llvm::orc::ResourceKey, llvm::orc::ResourceKey) override {}

private:
  PerfDump(std::string path, int file) : path(std::move(path)), stream(file, /*shouldClose=*/true), file(file) {}
  llvm::Error map();
  void writeHeader();
  void writeFunction(const llvm::jitlink::Symbol &function);

  std::string path;
  llvm::raw_fd_ostream stream;
  int file;
  bool failed = false;    ///< not all of it could be written: there is no program that it tells of
  void *marker = nullptr; ///< a page of the file, mapped: perf finds the file by that event
  uint64_t functions = 0;
};

} // namespace ckjit
#endif
