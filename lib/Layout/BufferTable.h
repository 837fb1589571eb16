//===- BufferTable.h - The one table of the arena ---------------*- C++ -*-===//
#ifndef CKJIT_LIB_LAYOUT_BUFFERTABLE_H
#define CKJIT_LIB_LAYOUT_BUFFERTABLE_H

#include "ckjit/Layout/ArenaPlan.h"
#include "llvm/ADT/ArrayRef.h"

namespace ckjit::layout {

/// An axis of a buffer, named as in SPEC 3. C: context, V: vocab, D: hidden,
/// I: intermediate, H/K: query and KV heads, hd: head dim; a: rounded up to 16.
enum class Dim : uint8_t { None, V, C, AlignedC, AlignedD, HalfHd, H, K, AlignedHd, AlignedI, TwoAlignedI };

enum class Scope : uint8_t { Global, Layer };

/// When a buffer takes space.
enum class When : uint8_t { Always, WithRope, Training };

/// One row of the table; rows stand in allocation order.
struct BufferRow {
  llvm::StringLiteral name;
  BufferRole role;
  Scope scope;
  When when;
  Dim shape[3];
  /// Buffer whose offset this one shares instead of taking space; empty: its own.
  llvm::StringLiteral aliasOf = "";
};

/// All buffers of SPEC 3: the globals, then those of one layer.
llvm::ArrayRef<BufferRow> bufferTable();
/// The globals' rows and the rows of one layer.
llvm::ArrayRef<BufferRow> rowsOf(Scope scope);

/// Extent of `dim`, padded as in the arena (elements).
int64_t paddedExtent(Dim dim, const ModelConfig &config);
/// Extent of `dim` without padding; of TwoAlignedI: of one of its two halves.
int64_t logicalExtent(Dim dim, const ModelConfig &config);

} // namespace ckjit::layout
#endif
