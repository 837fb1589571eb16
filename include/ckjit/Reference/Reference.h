//===- Reference.h - Plain scalar semantics, the oracle ---------*- C++ -*-===//
#ifndef CKJIT_REFERENCE_REFERENCE_H
#define CKJIT_REFERENCE_REFERENCE_H

#include "ckjit/Graph/CKIRGraph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ckjit {

/// One computed value: [rows][cols] in double, logical (unpadded) columns.
struct ReferenceValue {
  std::string name;  ///< arena buffer it corresponds to: "embedded_input", "ln1_rstd", "ln1_out", "q", "k", "v",
                     ///< "attn_out", "proj_tmp", "residual1", "ln2_rstd", "ln2_out", "fc1_out", "swiglu_out",
                     ///< "mlp_out", "output", "final_ln_rstd", "final_output", "logits"; "node" for a node whose
                     ///< number, op or width isn't the canonical one
  int layer = -1;    ///< -1: global
  int node = -1;     ///< node number, -1 for the ops that import adds
  std::string op;    ///< "embed", "rmsnorm", "qkv_project", "rope" (q and k, unless theta is 0), "attention",
                     ///< "attn_project", "residual_add", "linear", "split", "swiglu", "lm_head"
  int64_t rows = 0;  ///< tokens (q, k, v, attn_out: heads * tokens, head-major)
  int64_t cols = 0;
  std::vector<double> data;
};

/// Weight values in the arena's (= the file's) fp32 shape: token_emb [V][aD], wq [H][ad][aD], ...
using WeightLookup = llvm::function_ref<const float *(llvm::StringRef name, int layer)>;

/// Walks the graph in double precision (SPEC 4) over `tokens` (all in range) and hands each value to
/// `sink` in execution order, logits last; `sink` returns false to stop. Shares no code with the compiler.
/// RMSNORM gives two values (rstd first, one column), LINEAR_QKV three, ATTENTION two, SPLIT none at its canonical
/// number (the halves are columns of fc1_out) and two elsewhere, gate first. Padding lanes of weights are never read.
/// Errors: a config or graph that isn't valid, no tokens or more than the context, an id outside [0, V), a tensor for
/// which `weights` gives null.
llvm::Error runReference(const CKIRGraph &graph, WeightLookup weights, llvm::ArrayRef<int32_t> tokens,
                         llvm::function_ref<bool(const ReferenceValue &)> sink);

/// Cross entropy of each row of `logits` [T][V] with its target, [T]; 0 where the target is negative and so
/// ignored. One target a row, each below V.
std::vector<double> referenceLosses(const ReferenceValue &logits, llvm::ArrayRef<int32_t> targets);

} // namespace ckjit
#endif
