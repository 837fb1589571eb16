//===- Codegen.h - From the LLVM dialect to machine code --------*- C++ -*-===//
#ifndef CKJIT_LIB_JIT_CODEGEN_H
#define CKJIT_LIB_JIT_CODEGEN_H

#include "ckjit/Target/TargetDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace ckjit {

/// Translates a module of the LLVM dialect and marks its functions for `target`.
llvm::Expected<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                        const TargetDescription &target);

/// Generates an object or assembly text for `target` (any x86-64 CPU).
llvm::Expected<llvm::SmallVector<char, 0>> generate(llvm::Module &module, const TargetDescription &target,
                                                    llvm::CodeGenFileType type);

} // namespace ckjit
#endif
