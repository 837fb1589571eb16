//===- ProgramUses.h - Who reads and writes a buffer of a program -*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_PROGRAMUSES_H
#define CKJIT_LIB_TRANSFORMS_PROGRAMUSES_H

#include "ckjit/Dialect/CK/CKDialect.h"

namespace ckjit::ck {

/// The op that writes `buffer`, if it is a scratch buffer written by exactly one op; else null.
mlir::Operation *soleWriter(mlir::Value buffer);

/// True when `writer` and `reader` are the only ops that touch `buffer`.
bool usedOnlyBy(mlir::Value buffer, mlir::Operation *writer, mlir::Operation *reader);

/// True when `buffer` is complete before `op`: no op at or after `op` writes it.
bool completeBefore(mlir::Value buffer, mlir::Operation *op);

/// True for an op of the forward pass (it has `outs`).
bool isLayerOp(mlir::Operation *op);

/// The #ck.model or #ck.target of the module around `op`; null with an error when absent.
ModelAttr modelOf(mlir::Operation *op);
TargetAttr targetOf(mlir::Operation *op);

} // namespace ckjit::ck
#endif
