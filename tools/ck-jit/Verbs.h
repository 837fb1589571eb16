//===- Verbs.h - The verbs of the ck-jit tool -------------------*- C++ -*-===//
#ifndef CKJIT_TOOLS_VERBS_H
#define CKJIT_TOOLS_VERBS_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace ckjit::tool {

/// A verb: its subcommand (declared with its options in its own file) and what it does.
/// run() prints its result on stdout; an error ends the tool with exit code 1.
struct Verb {
  llvm::cl::SubCommand *command;
  llvm::Error (*run)();
};

Verb irVerb();      ///< IrVerb.cpp
Verb layoutVerb();  ///< LayoutVerb.cpp
Verb inspectVerb(); ///< InspectVerb.cpp
Verb initVerb();    ///< InitVerb.cpp
Verb quantizeVerb();///< QuantizeVerb.cpp
Verb emitVerb();    ///< EmitVerb.cpp
Verb compileVerb(); ///< CompileVerb.cpp
Verb runVerb();     ///< RunVerb.cpp
Verb benchVerb();   ///< BenchVerb.cpp
Verb generateVerb();///< GenerateVerb.cpp
Verb cacheVerb();   ///< CacheVerb.cpp

/// Wrong usage noticed after parsing; the tool exits with code 2.
llvm::Error usageError(const llvm::Twine &message);

} // namespace ckjit::tool
#endif
