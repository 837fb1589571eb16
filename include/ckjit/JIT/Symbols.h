//===- Symbols.h - What generated code may call -----------------*- C++ -*-===//
#ifndef CKJIT_JIT_SYMBOLS_H
#define CKJIT_JIT_SYMBOLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ckjit {

/// A function that generated code may call.
struct AllowedSymbol {
  llvm::StringRef name;
  void *address; ///< in this process
};

/// All that generated code may refer to outside its object.
llvm::ArrayRef<AllowedSymbol> allowedSymbols();

/// Names of what the ELF object `object` refers to and doesn't define, weak ones too, in order. Error for bytes that
/// are no object.
llvm::Expected<std::vector<std::string>> undefinedSymbols(llvm::StringRef object);

/// Error that names the first undefined symbol that isn't allowed.
llvm::Error checkSymbols(llvm::StringRef object);

} // namespace ckjit
#endif
