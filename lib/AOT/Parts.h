//===- Parts.h - The steps of emitRuntime -----------------------*- C++ -*-===//
#ifndef CKJIT_LIB_AOT_PARTS_H
#define CKJIT_LIB_AOT_PARTS_H

#include "ckjit/AOT/EmitRuntime.h"

namespace ckjit::aot {

/// The bytes of a ckrt_description and its tables (runtime/Description.h); `options` are those it was compiled with.
llvm::Expected<llvm::SmallVector<char, 0>> describeModel(const ModelConfig &config, const CompiledObject &compiled,
                                                         const CompileOptions &options);

/// The text of FILE.kernels.json. `file` is the name of what was emitted.
llvm::Expected<std::string> kernelManifest(const CompiledObject &compiled, AotMode mode, bool strict,
                                           llvm::StringRef file);

/// The path of an ld.lld: `given` if that isn't empty, else `built` (LLVM's own) if it is a program, else the one on
/// PATH. Error, which says what to install, if there is none.
llvm::Expected<std::string> findLinker(llvm::StringRef given, llvm::StringRef built);

/// Links objects with the runtime; the bytes of the ELF file.
llvm::Expected<std::string> link(llvm::ArrayRef<llvm::StringRef> objects, AotMode mode, llvm::StringRef linker);

} // namespace ckjit::aot
#endif
