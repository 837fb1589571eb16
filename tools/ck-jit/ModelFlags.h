//===- ModelFlags.h - Options of the verbs that run a model -----*- C++ -*-===//
#ifndef CKJIT_TOOLS_MODELFLAGS_H
#define CKJIT_TOOLS_MODELFLAGS_H

#include "CacheFlags.h"
#include "CompileFlags.h"
#include "WeightFileFlags.h"
#include "ckjit/Engine/Model.h"

namespace ckjit::tool {

/// --weights and how it is opened, --ir, --threads, --perf, --gdb and the options of the object cache. Declared once a
/// verb, as a static beside its subcommand.
struct ModelFlags : private WeightFileFlags {
  explicit ModelFlags(llvm::cl::SubCommand &command);

  PathOption weights, ir;
  llvm::cl::opt<unsigned> threads;
  CacheFlags cache;
  LinkFlags link;

  /// Wrong usage: no weight file, options that exclude each other, too many threads.
  llvm::Error check() const;
  /// The files that are read, config.json beside the weights among them.
  std::vector<NamedFile> inputs() const;

  struct Source {
    std::unique_ptr<BumpFile> file;
    CKIRGraph graph;
  };
  /// Opens and checks the weight file, and the graph to run: that of --ir, else the canonical one. `overrides` as in
  /// BumpOpenOptions. Progress on a terminal.
  llvm::Expected<Source> open(const ModelConfig &overrides = {.vocabSize = 0, .contextWindow = 0}) const;
  /// Compiles a graph, or takes it from the object cache, whose faults are warned of; `threadCount` 0 means all usable
  /// cores. Progress on a terminal.
  llvm::Expected<std::unique_ptr<Model>> compile(const CKIRGraph &graph, const CompileOptions &options,
                                                 unsigned threadCount) const;
  /// Reads the weights. Progress on a terminal.
  llvm::Error load(Model &model, const BumpFile &file) const;
  /// Names the graph in messages.
  llvm::StringRef graphPath() const { return ir.empty() ? weights.getValue() : ir.getValue(); }
};

} // namespace ckjit::tool
#endif
