//===- RowsAttention.h - Attention of few tokens ----------------*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_ROWSATTENTION_H
#define CKJIT_LIB_TRANSFORMS_ROWSATTENTION_H

#include "KernelBuilder.h"

namespace ckjit::ck {

/// Write the loops of an op before it, vectors over keys and over the lanes of a head; the op is left to the caller.
/// `strict` sums in double and takes the exact exp.
void lowerRows(AttentionPartOp op, bool strict);
void lowerRows(AttentionMergeOp op, bool strict);

} // namespace ckjit::ck
#endif
