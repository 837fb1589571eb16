//===- DebuggerEntries.cpp - Linked code on the debuggers' list -----------===//
#include "DebuggerEntries.h"
#include <mutex>

using namespace ckjit;

// LLVM's, by the names that debuggers look for.
extern "C" {
extern jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code();
}

/// LLVM has a lock of its own for adding; between our programs this one keeps adding and removing apart.
static std::mutex listMutex;

void DebuggerEntries::collect(llvm::function_ref<void()> link) {
  std::lock_guard<std::mutex> lock(listMutex);
  const jit_code_entry *before = __jit_debug_descriptor.first_entry;
  link();
  for (jit_code_entry *entry = __jit_debug_descriptor.first_entry; entry && entry != before; entry = entry->next_entry)
    entries.push_back(entry);
}

DebuggerEntries::~DebuggerEntries() {
  if (entries.empty())
    return;
  std::lock_guard<std::mutex> lock(listMutex);
  for (jit_code_entry *entry : entries) {
    (entry->prev_entry ? entry->prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry->next_entry;
    if (entry->next_entry)
      entry->next_entry->prev_entry = entry->prev_entry;
    __jit_debug_descriptor.relevant_entry = entry;
    __jit_debug_descriptor.action_flag = JIT_UNREGISTER_FN;
    __jit_debug_register_code();
    __jit_debug_descriptor.relevant_entry = nullptr;
    __jit_debug_descriptor.action_flag = JIT_NOACTION;
    delete entry;
  }
}
