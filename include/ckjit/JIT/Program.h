//===- Program.h - An in-memory program -------------------------*- C++ -*-===//
#ifndef CKJIT_JIT_PROGRAM_H
#define CKJIT_JIT_PROGRAM_H

#include "ckjit/JIT/Compiler.h"
#include <memory>

namespace ckjit {

/// A linked program: machine code in memory, valid as long as the object lives.
class Program {
public:
  /// (team, tid, threads, T, first row of logits wanted, position of the first token, weights, state). Called on
  /// every thread of the team at once; `team` is a ThreadTeam. `weights` and `state` are arenas of the compiled
  /// size, and may be one.
  using Entry = void (*)(void *team, uint64_t tid, uint64_t threads, uint64_t tokens, uint64_t firstRow,
                         uint64_t position, const void *weights, void *state);

  /// Links `compiled` with ORC and JITLink; adds the time to its `times.link`. The only symbol
  /// that code may call is ckjit_barrier. Error for a target that this machine lacks instructions of.
  static llvm::Expected<std::unique_ptr<Program>> link(CompiledObject compiled);
  ~Program();

  /// For any number of tokens, up to the context.
  Entry prefill() const { return prefillEntry; }
  /// For 1 to kMaxTokensInRows tokens; null unless compiled with `decode`. Gives no losses.
  Entry decode() const { return decodeEntry; }
  const CompiledObject &compiled() const { return object; }

private:
  struct State;
  Program();
  CompiledObject object;
  Entry prefillEntry = nullptr, decodeEntry = nullptr;
  std::unique_ptr<State> state;
};

} // namespace ckjit
#endif
