//===- DebuggerEntries.h - Linked code on the debuggers' list ---*- C++ -*-===//
#ifndef CKJIT_LIB_JIT_DEBUGGERENTRIES_H
#define CKJIT_LIB_JIT_DEBUGGERENTRIES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include <vector>

namespace ckjit {

/// What one program has on the list of GDB's JIT interface, which is one a process. LLVM's ELFDebugObjectPlugin adds
/// to the list and never takes away; its memory goes with the program all the same.
class DebuggerEntries {
public:
  DebuggerEntries() = default;
  DebuggerEntries(const DebuggerEntries &) = delete;
  DebuggerEntries &operator=(const DebuggerEntries &) = delete;
  /// Takes the entries from the list and tells the debugger; their memory must still be there.
  ~DebuggerEntries();

  /// Runs `link` and keeps the entries that it adds. Others that link this way wait.
  void collect(llvm::function_ref<void()> link);

private:
  std::vector<jit_code_entry *> entries;
};

} // namespace ckjit
#endif
