//===- Program.h - An in-memory program -------------------------*- C++ -*-===//
#ifndef CKJIT_JIT_PROGRAM_H
#define CKJIT_JIT_PROGRAM_H

#include "ckjit/JIT/Compiler.h"
#include <memory>

namespace ckjit {

/// Who else is told of the linked code.
struct LinkOptions {
  bool perf = false; ///< perf, by a jitdump file: $JITDUMPDIR (else the home)/.debug/jit/ckjit-XXXXXX/jit-PID.dump
  bool gdb = false;  ///< debuggers that know GDB's JIT interface
};

/// A linked program: machine code in memory, valid as long as the object lives.
class Program {
public:
  /// (team, tid, threads, T, first row of logits wanted, position of the first token, weights, state). Called on
  /// every thread of the team at once; `team` is a ThreadTeam. `weights` and `state` are arenas of the compiled
  /// size, and may be one.
  using Entry = void (*)(void *team, uint64_t tid, uint64_t threads, uint64_t tokens, uint64_t firstRow,
                         uint64_t position, const void *weights, void *state);

  /// Links `compiled` with ORC and JITLink; adds the time to its `times.link`. Error for a target that this machine
  /// lacks instructions of, for code that refers to what Symbols.h doesn't list (its name), and for a jitdump that
  /// can't be written. Pages are written first and made executable afterwards, never both at once.
  static llvm::Expected<std::unique_ptr<Program>> link(CompiledObject compiled, const LinkOptions &options = {});
  ~Program();

  /// For any number of tokens, up to the context.
  Entry prefill() const { return prefillEntry; }
  /// For 1 to maxTokensInRows() tokens (Import.h); null unless compiled with `decode`. Gives no losses.
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
