//===- Import.h - From a CKIRGraph to a ck program --------------*- C++ -*-===//
#ifndef CKJIT_IMPORT_IMPORT_H
#define CKJIT_IMPORT_IMPORT_H

#include "ckjit/Graph/CKIRGraph.h"
#include "ckjit/Layout/ArenaPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace ckjit {

/// Names of the programs that importGraph makes: for any number of tokens, and for few.
inline constexpr llvm::StringLiteral kPrefillName = "prefill";
inline constexpr llvm::StringLiteral kDecodeName = "decode";
/// Tokens that @decode runs at once, at most. Beyond, lanes of tokens are full enough: of 8 tokens for floats, later where
/// each tile of a weight is unpacked first.
int64_t maxTokensInRows(const WeightTypes &types);

/// Makes the module of `graph`: a function @prefill of ck ops, one or a few a
/// node, with embedding, RoPE, final norm, head and cross entropy around the
/// nodes (SPEC 0.8, 4). Errors are those of validateGraph; `where` names the
/// graph in them. The context must have the ck, func and memref dialects. With `decode` a function @decode
/// besides, over the same weights, cache and logits: its activations stay in rows, and it has no cross entropy.
/// Weights have the types of `weightTypes` (error if they can't, checkWeightTypes), which the module keeps as ck.weights.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importGraph(mlir::MLIRContext &context, const CKIRGraph &graph,
                                                              llvm::StringRef where, bool decode = false,
                                                              const WeightTypes &weightTypes = {});

} // namespace ckjit
#endif
