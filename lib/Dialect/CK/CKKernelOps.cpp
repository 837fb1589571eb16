//===- CKKernelOps.cpp - Verifier of the register tile --------------------===//
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
