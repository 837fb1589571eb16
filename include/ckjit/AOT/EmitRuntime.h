//===- EmitRuntime.h - A model as a library or a program --------*- C++ -*-===//
#ifndef CKJIT_AOT_EMITRUNTIME_H
#define CKJIT_AOT_EMITRUNTIME_H

#include "ckjit/JIT/Compiler.h"

namespace ckjit {

enum class AotMode : uint8_t {
  Standalone, ///< an executable with the seed's options (SPEC 9)
  Library,    ///< a shared object with the seed's functions (SPEC 8)
};

/// Compiles `graph` (both programs: decode too, whatever `options` say) and links it with the runtime that the library
/// carries into the ELF file `path`, which needs libc and libm of this system and nothing else. Beside it,
/// `path`.kernels.json tells of each kernel. Both appear whole or neither. `where` names the graph in
/// messages; `linker` is an ld.lld, "" for LLVM's or the one on PATH. Errors: those of compileGraph, a model that the
/// runtime can't express, no linker, what the linker says, an unwritable path.
llvm::Error emitRuntime(const CKIRGraph &graph, llvm::StringRef where, const CompileOptions &options, AotMode mode,
                        llvm::StringRef path, llvm::StringRef linker = "");

} // namespace ckjit
#endif
