//===- RowsElementwise.h - Ops without a matrix, on rows --------*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_ROWSELEMENTWISE_H
#define CKJIT_LIB_TRANSFORMS_ROWSELEMENTWISE_H

#include "KernelBuilder.h"

namespace ckjit::ck {

/// Write the loops of an op whose activations are in rows, memref<R x F>, before it: tokens outside, vectors of
/// features inside, features shared among threads. For few tokens; the op itself is left to the caller.
void lowerRows(EmbedOp op);
void lowerRows(RMSNormOp op);
void lowerRows(AddOp op);
void lowerRows(SwiGLUOp op, bool strict);
void lowerRows(SplitOp op);
void lowerRows(RopeOp op);

} // namespace ckjit::ck
#endif
