//===- CKProgramOps.cpp - Verifiers of buffers and launches ---------------===//
#include "ckjit/Dialect/CK/CKDialect.h"

using namespace mlir;
using namespace ckjit::ck;

LogicalResult BufferOp::verify() {
  if (getOffset() && static_cast<int64_t>(*getOffset()) < 0)
    return emitOpError("offset ") << static_cast<int64_t>(*getOffset()) << " is negative";
  if (getOffset() && *getOffset() % 64 != 0)
    return emitOpError("offset ") << *getOffset() << " is not a multiple of 64 bytes";
  if (getLayer() && static_cast<int64_t>(*getLayer()) < 0)
    return emitOpError("layer ") << static_cast<int64_t>(*getLayer()) << " is negative";
  if (getName().empty())
    return emitOpError("name is empty, expected a buffer of the arena plan");
  Type element = cast<MemRefType>(getType()).getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitOpError("element type is ") << element << ", expected an integer or float of whole bytes";
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("kernel @") << getKernel() << " is not defined";
  if (!kernel->hasAttr(kKernelAttr))
    return emitOpError("function @") << getKernel() << " is not marked " << kKernelAttr;
  ArrayRef<Type> inputs = kernel.getFunctionType().getInputs();
  size_t expected = inputs.size() - std::min<size_t>(inputs.size(), kFirstBuffer);
  if (getOperands().size() != expected)
    return emitOpError("passes ") << getOperands().size() << " buffers, kernel @" << getKernel() << " takes " << expected;
  for (auto [index, operand] : llvm::enumerate(getOperands()))
    if (operand.getType() != inputs[kFirstBuffer + index])
      return emitOpError("buffer ") << index << " is " << operand.getType() << ", kernel @" << getKernel() << " takes "
                                    << inputs[kFirstBuffer + index];
  return success();
}
