//===- MatrixProblem.h - One matrix op, ready to be lowered -----*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_MATRIXPROBLEM_H
#define CKJIT_LIB_TRANSFORMS_MATRIXPROBLEM_H

#include "KernelBuilder.h"

namespace ckjit::ck {

/// Where the rows of a weight lie. A tile takes `rows / parts` rows from each part, so that
/// values that are combined (gate and up, the two halves of a head) are in registers together.
struct RowMap {
  int64_t groups = 1;      ///< independent groups of rows (heads)
  int64_t rows = 0;        ///< rows of a part in a group
  int64_t parts = 1;
  int64_t groupStride = 0; ///< elements of the weight (bytes of one in blocks) from group to group
  int64_t rowStride = 0;   ///< ... from row to row
  int64_t partStride = 0;  ///< ... from part to part
  int64_t biasGroup = 0;   ///< elements of the bias from group to group
  int64_t biasPart = 0;
  int64_t outGroup = 0;    ///< features of the output from group to group
  int64_t outPart = 0;     ///< ... from part to part
  int64_t segments = 1;    ///< pieces of the depth that lie segmentStride apart
  int64_t segmentStride = 0;
};

/// What linear, gated_linear, attn_project and lm_head have in common: y = epilogue(x W^T + bias). Operands that
/// an op lacks are null.
struct MatrixProblem {
  mlir::Operation *op = nullptr;
  mlir::Value x, weight, bias, out;
  mlir::Value residual, cos, sin;
  int64_t depth = 0; ///< input features used, of each segment
  TileAttr tile;
  RowMap map;
  bool gated = false;        ///< silu(first part) * second part
  bool rowsOut = false;      ///< panels in, token-major out
  bool fromFirstRow = false; ///< only rows from the first row wanted on (lm_head)
  bool strict = false;
  BlockType block;   ///< of a weight in blocks, or null
  int64_t width = 0; ///< weights of a row in blocks, padding included

  /// Rows of each part that a tile takes.
  int64_t rowsOfTile() const { return tile.getRows() / map.parts; }
  int64_t tilesOfGroup() const { return (map.rows + rowsOfTile() - 1) / rowsOfTile(); }
  /// Row i of a tile, from its first one; a group with fewer rows than a tile repeats its last.
  int64_t rowInTile(int64_t i) const { return std::min(i, map.rows - 1); }
};

/// Where a tile stands: its group, and its first row within the group.
struct TilePlace {
  mlir::Value group, row;
};

/// The place of tile `index` of groups x tilesOfGroup(). The last tile of a group moves back over rows of the one
/// before: no branch in the tile, its stores write equal values, and the rows of every tile lie a constant apart.
TilePlace tileAt(KernelBuilder &b, const MatrixProblem &problem, mlir::Value index);

/// Elements of the flat weight where the rows of a tile begin, part by part.
llvm::SmallVector<mlir::Value> rowOffsets(KernelBuilder &b, const MatrixProblem &problem, const TilePlace &at);

/// What unpacking the rows of a tile gives, on the thread's stack.
struct UnpackedRows {
  /// For activations in codes: codes, scales, offsets; else floats alone.
  llvm::SmallVector<mlir::Value> buffers;
  bool wide = false; ///< codes are signed
};
UnpackedRows unpackedRows(KernelBuilder &b, const MatrixProblem &problem, bool codes);
/// Unpacks the tile's rows, part by part, from where rowOffsets(...) says that each part begins.
void unpackTile(KernelBuilder &b, const MatrixProblem &problem, const UnpackedRows &to, mlir::ValueRange offsets);

/// Replaces the op by loops of ck.register_tile: activations in panels, a lane is a token.
void lowerToPanels(const MatrixProblem &problem);
/// Replaces the op by loops of ck.dot_tile: activations in rows, for few tokens.
void lowerToRows(const MatrixProblem &problem);

} // namespace ckjit::ck
#endif
