//===- CKKernelOps.cpp - Verifiers of the micro-kernels -------------------===//
#include "ckjit/Dialect/CK/CKDialect.h"

using namespace mlir;
using namespace ckjit::ck;

LogicalResult RegisterTileOp::verify() {
  size_t rows = getRowOffsets().size(), columns = getColumnOffsets().size();
  if (rows == 0 || columns == 0)
    return emitOpError("has ") << rows << " rows and " << columns << " vectors, expected at least one of each";
  if (getNumResults() != rows * columns)
    return emitOpError("gives ") << getNumResults() << " vectors, expected rows x vectors = " << rows << " x " << columns;
  if (static_cast<int64_t>(getSegments()) < 1)
    return emitOpError("has ") << static_cast<int64_t>(getSegments()) << " segments, expected at least 1";
  if (static_cast<int64_t>(getUnroll()) < 1)
    return emitOpError("unrolls by ") << static_cast<int64_t>(getUnroll()) << ", expected at least 1";
  if (getParts() && (static_cast<int64_t>(*getParts()) < 1 || rows % *getParts() != 0))
    return emitOpError("prefetches for ") << static_cast<int64_t>(*getParts()) << " parts, expected a divisor of its "
                                          << rows << " rows";
  if (!llvm::all_equal(getResultTypes()))
    return emitOpError("results differ in type, expected one vector type");
  return success();
}

LogicalResult DotTileOp::verify() {
  size_t rows = getRowOffsets().size(), tokens = getTokenOffsets().size();
  if (!llvm::isPowerOf2_64(rows) || tokens == 0)
    return emitOpError("has ") << rows << " rows and " << tokens
                               << " tokens, expected a power of two of rows and at least one token";
  if (getNumResults() != tokens)
    return emitOpError("gives ") << getNumResults() << " vectors, expected one a token, " << tokens;
  for (Type type : getResultTypes())
    if (cast<VectorType>(type).getDimSize(0) != static_cast<int64_t>(rows))
      return emitOpError("gives ") << type << ", expected a vector of its " << rows << " rows";
  if (static_cast<int64_t>(getSegments()) < 1 || static_cast<int64_t>(getDepth()) < 1)
    return emitOpError("has ") << static_cast<int64_t>(getSegments()) << " segments of depth "
                               << static_cast<int64_t>(getDepth()) << ", expected at least 1 of at least 1";
  if (!llvm::isPowerOf2_64(getLanes()) || !llvm::isPowerOf2_64(getUnroll()))
    return emitOpError("has steps of ") << static_cast<int64_t>(getUnroll()) << " vectors of "
                                        << static_cast<int64_t>(getLanes()) << " lanes, expected powers of two";
  return success();
}

/// Rows of `depth` weights are whole blocks, at least one.
static LogicalResult checkDepth(Operation *op, Format format, int64_t depth) {
  int64_t block = traitsOf(format).elements;
  if (depth < block || depth % block != 0)
    return op->emitOpError("depth is ") << depth << ", expected whole blocks of " << block;
  return success();
}

LogicalResult UnpackRowOp::verify() {
  auto elementOf = [&](unsigned i) { return cast<MemRefType>(getOuts()[i].getType()).getElementType(); };
  bool floats = getOuts().size() == 1 && elementOf(0).isF32();
  bool codes = getOuts().size() == 3 && elementOf(0).isInteger(8) && elementOf(1).isF32() && elementOf(2).isF32();
  if (!floats && !codes)
    return emitOpError("has ") << getOuts().size() << " outputs, expected fp32 alone, or bytes and two of fp32";
  return checkDepth(*this, getFormat(), getDepth());
}

LogicalResult Int8TileOp::verify() {
  size_t rows = getRowOffsets().size(), columns = getColumnOffsets().size();
  if (rows == 0 || columns == 0)
    return emitOpError("has ") << rows << " rows and " << columns << " vectors, expected at least one of each";
  if (getNumResults() != rows * columns)
    return emitOpError("gives ") << getNumResults() << " vectors, expected rows x vectors = " << rows << " x " << columns;
  if (!llvm::all_equal(getResultTypes()))
    return emitOpError("results differ in type, expected one vector type");
  int64_t tokens = cast<VectorType>(getResultTypes().front()).getDimSize(0);
  if (tokens != 4 && tokens != 8 && tokens != 16)
    return emitOpError("gives vectors of ") << tokens << " tokens, expected 4, 8 or 16 as in ck.panel_block";
  return checkDepth(*this, getFormat(), getDepth());
}

LogicalResult QuantizeRowOp::verify() { return checkDepth(*this, getFormat(), getDepth()); }

LogicalResult Int8DotTileOp::verify() {
  size_t rows = getRowOffsets().size(), tokens = getTokens().size();
  if (!llvm::isPowerOf2_64(rows) || tokens == 0)
    return emitOpError("has ") << rows << " rows and " << tokens
                               << " tokens, expected a power of two of rows and at least one token";
  if (getNumResults() != tokens)
    return emitOpError("gives ") << getNumResults() << " vectors, expected one a token, " << tokens;
  for (Type type : getResultTypes())
    if (cast<VectorType>(type).getDimSize(0) != static_cast<int64_t>(rows))
      return emitOpError("gives ") << type << ", expected a vector of its " << rows << " rows";
  return checkDepth(*this, getFormat(), getDepth());
}
