//===- Import.h - From a CKIRGraph to a ck program --------------*- C++ -*-===//
#ifndef CKJIT_IMPORT_IMPORT_H
#define CKJIT_IMPORT_IMPORT_H

#include "ckjit/Graph/CKIRGraph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace ckjit {

/// Name of the program that importGraph makes.
inline constexpr llvm::StringLiteral kPrefillName = "prefill";

/// Makes the module of `graph`: a function @prefill of ck ops, one or a few a
/// node, with embedding, RoPE, final norm, head and cross entropy around the
/// nodes (SPEC 0.8, 4). Errors are those of validateGraph; `where` names the
/// graph in them. The context must have the ck, func and memref dialects.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importGraph(mlir::MLIRContext &context, const CKIRGraph &graph,
                                                              llvm::StringRef where);

} // namespace ckjit
#endif
