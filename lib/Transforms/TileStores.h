//===- TileStores.h - Store a register tile in token-major rows -*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_TILESTORES_H
#define CKJIT_LIB_TRANSFORMS_TILESTORES_H

#include "KernelBuilder.h"

namespace ckjit::ck {

/// Where the rows of a tile go: out[lead...][shift + firstToken + lane][column ...].
struct RowStore {
  mlir::Value out;
  mlir::Value column;              ///< first column
  mlir::Value firstToken;          ///< token of lane 0
  mlir::Value shift;               ///< row of token 0; null: 0
  mlir::Value firstRow;            ///< tokens before it are not stored; null: none
  mlir::SmallVector<mlir::Value, 1> lead; ///< leading indices
  mlir::Value stack;               ///< memref<N x f32> of at least the tile's elements (rows rounded to a power of two)
  mlir::Value stackBase;           ///< first element of `stack` to use
  mlir::Value valid;               ///< number of values to store, at most the tile's; null: all
};

/// Stores values[r][lane] as out[token of lane][column + r] for the tokens below T.
void storeTransposed(KernelBuilder &b, mlir::ValueRange values, const RowStore &rows);

} // namespace ckjit::ck
#endif
