//===- TileSums.h - Sums of vectors ------------------------------*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_TILESUMS_H
#define CKJIT_LIB_TRANSFORMS_TILESUMS_H

#include "mlir/IR/Builders.h"

namespace ckjit::ck {

/// One vector of the sums of `vectors` (a power of two, each of a power of two of lanes), each summed as a tree of
/// halves: the same sum whatever stands beside it.
mlir::Value sumOfVectors(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> vectors);

} // namespace ckjit::ck
#endif
