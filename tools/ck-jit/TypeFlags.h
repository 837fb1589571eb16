//===- TypeFlags.h - The types of weights to compile for --------*- C++ -*-===//
#ifndef CKJIT_TOOLS_TYPEFLAGS_H
#define CKJIT_TOOLS_TYPEFLAGS_H

#include "FormatFlags.h"
#include "GraphOptions.h"

namespace ckjit::tool {

/// The type that was given, if one was.
std::optional<DType> givenType(const FormatOption &option);

/// What --weight-dtype is, of the verbs that open a weight file.
inline constexpr llvm::StringLiteral kWeightTypeHelp =
    "What all weights of a file without a dtype table (headerless, BUMPWGT2) are: fp32 (default), q4_k, ...";

/// --type, --embed and --layers, or --weights, of the verbs that compile or lay out a model without loading it. Declared once a
/// verb, as a static beside its subcommand and its GraphOptions.
struct TypeFlags {
  explicit TypeFlags(llvm::cl::SubCommand &command);

  FormatFlags formats;
  PathOption weights;

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
