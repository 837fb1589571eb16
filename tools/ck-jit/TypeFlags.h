//===- TypeFlags.h - The types of weights to compile for --------*- C++ -*-===//
#ifndef CKJIT_TOOLS_TYPEFLAGS_H
#define CKJIT_TOOLS_TYPEFLAGS_H

#include "FormatFlags.h"
#include "GraphOptions.h"
#include "WeightFileFlags.h"

namespace ckjit::tool {

/// --type, --embed and --layers, or --weights and of what kind it is, of the verbs that compile or lay out a model without
/// loading it. Declared once a verb, as a static beside its subcommand and its GraphOptions.
struct TypeFlags {
  explicit TypeFlags(llvm::cl::SubCommand &command);

  FormatFlags formats;
  PathOption weights;
  FileKindFlags kind;

  struct Program {
    CKIRGraph graph;
    WeightTypes types;
    std::string source; ///< names the graph in messages
  };
  /// The graph that `options` name and the types that are asked for; with --weights the file's, and its config unless
  /// one is named. Naming types in two ways is wrong usage.
  llvm::Expected<Program> load(const GraphOptions &options) const;
  /// The files that are read, for checkOutput.
  std::vector<NamedFile> inputs(const GraphOptions &options) const;

private:
  llvm::Expected<Program> ofFile(const GraphOptions &options) const;
};

} // namespace ckjit::tool
#endif
