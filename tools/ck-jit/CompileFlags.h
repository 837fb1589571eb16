//===- CompileFlags.h - Options of every verb that compiles -----*- C++ -*-===//
#ifndef CKJIT_TOOLS_COMPILEFLAGS_H
#define CKJIT_TOOLS_COMPILEFLAGS_H

#include "ckjit/JIT/Program.h"
#include "llvm/Support/CommandLine.h"

namespace ckjit::tool {

/// Whether a verb lets slots be looked at.
enum class Slots : bool { Offer, Hide };

/// What quantized weights multiply.
enum class Activations : uint8_t { Default, Int8, FP32 };

/// --target-cpu, --strict, --activations, --materialize and the hidden switches of the pipeline. Declared once a verb, as a static
/// beside its subcommand.
struct CompileFlags {
  explicit CompileFlags(llvm::cl::SubCommand &command, Slots slots = Slots::Offer);

  llvm::cl::opt<std::string> cpu;
  llvm::cl::opt<bool> strict, materialize;
  llvm::cl::opt<Activations> activations;
  llvm::cl::opt<bool> noFuse;
  llvm::cl::opt<int64_t> rows, vectors, panels, unroll;
  llvm::cl::opt<std::string> fault;

  llvm::Expected<CompileOptions> options() const;
};

/// --perf and --gdb, of the verbs that run what they compile. Declared once a verb, as a static beside its subcommand.
struct LinkFlags {
  explicit LinkFlags(llvm::cl::SubCommand &command);

  llvm::cl::opt<bool> perf, gdb;

  LinkOptions options() const { return {perf, gdb}; }
};

} // namespace ckjit::tool
#endif
