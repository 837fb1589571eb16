//===- GraphOptions.h - CONFIG or --ir, for every verb ----------*- C++ -*-===//
#ifndef CKJIT_TOOLS_GRAPHOPTIONS_H
#define CKJIT_TOOLS_GRAPHOPTIONS_H

#include "Files.h"
#include "ckjit/Graph/CKIRGraph.h"
#include <memory>

namespace ckjit::tool {

/// Whether a verb only needs a model's shape, and so may take configs that
/// the weight format can't express.
enum class ShapeOnly : bool { Refuse, Offer };

/// The options by which a verb is told its graph: the positional CONFIG, or
/// --ir FILE instead; with ShapeOnly::Offer also --shape-only. Declared once
/// a verb, as a static beside its subcommand.
struct GraphOptions {
  explicit GraphOptions(llvm::cl::SubCommand &command, ShapeOnly offer = ShapeOnly::Refuse);

  PathOption config;
  PathOption ir;

  /// True if either was given.
  bool given() const { return !config.empty() || !ir.empty(); }
  /// The file that was named, for messages.
  const std::string &path() const { return ir.empty() ? config.getValue() : ir.getValue(); }

  /// Both, as files that an output must not replace.
  std::vector<NamedFile> inputs() const { return {{"CONFIG", config}, {"--ir", ir}}; }

  /// Reads, builds and validates the graph, which is then a program. Naming
  /// no file, or both, is a usage error.
  llvm::Expected<CKIRGraph> load() const;

private:
  llvm::Expected<CKIRGraph> buildFromConfig() const;
  std::unique_ptr<llvm::cl::opt<bool>> shapeOnly;
};

/// Reads and validates the graph of an IR file, for verbs that take --ir beside a weight file.
llvm::Expected<CKIRGraph> loadProgram(llvm::StringRef path);

} // namespace ckjit::tool
#endif
