//===- ConfigLimits.h - What BUMPWGT3 can't express -------------*- C++ -*-===//
#ifndef CKJIT_LIB_GRAPH_CONFIGLIMITS_H
#define CKJIT_LIB_GRAPH_CONFIGLIMITS_H

#include "ckjit/Graph/ModelConfig.h"
#include "llvm/Support/JSON.h"

namespace ckjit::detail {

/// Refuses a model_type that isn't known to be the seed's decoder; none at all
/// is accepted. Asks only for names, so it works before the dims are read.
llvm::Error checkModelType(const llvm::json::Object &scope, const llvm::json::Object &root,
                           llvm::StringRef where);

/// Refuses a config whose model computes something other than the seed's
/// decoder (SPEC 0.9). `scope` is the object the dims came from, `root` the
/// whole file (the same object unless there is a text_config). The one
/// message names every field that stands in the way.
llvm::Error checkExpressible(const llvm::json::Object &scope, const llvm::json::Object &root,
                             const ModelConfig &config, llvm::StringRef where);

} // namespace ckjit::detail
#endif
