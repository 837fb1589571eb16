//===- CKProgramOps.cpp - Verifiers of buffers and launches ---------------===//
#include "ckjit/Dialect/CK/CKDialect.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace ckjit::ck;

/// Layers are numbered in 16 bits, as the graph's nodes are.
static constexpr int64_t kMaxLayer = 0xFFFF;

std::optional<int64_t> ckjit::ck::bytesOf(MemRefType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  std::optional<int64_t> bits;
  if (BlockType block = blockOf(type))
    bits = 8 * block.getBytes();
  else if (PanelBlockType block = panelBlockOf(type))
    bits = 8 * block.getBytes();
  else
    bits = static_cast<int64_t>(type.getElementTypeBitWidth());
  for (int64_t extent : type.getShape())
    bits = bits ? llvm::checkedMul(*bits, extent) : std::nullopt;
  return bits ? std::optional<int64_t>(*bits / 8) : std::nullopt;
}

LogicalResult BufferOp::verify() {
  if (getOffset() && static_cast<int64_t>(*getOffset()) < 0)
    return emitOpError("offset ") << static_cast<int64_t>(*getOffset()) << " is negative";
  if (getOffset() && *getOffset() % 64 != 0)
    return emitOpError("offset ") << *getOffset() << " is not a multiple of 64 bytes";
  if (getLayer() && static_cast<int64_t>(*getLayer()) < 0)
    return emitOpError("layer ") << static_cast<int64_t>(*getLayer()) << " is negative";
  if (getLayer() && static_cast<int64_t>(*getLayer()) > kMaxLayer)
    return emitOpError("layer is ") << static_cast<int64_t>(*getLayer()) << ", expected at most " << kMaxLayer;
  if (getName().empty())
    return emitOpError("name is empty, expected a buffer of the arena plan");
  Type element = cast<MemRefType>(getType()).getElementType();
  bool isBlock = isa<BlockType, PanelBlockType>(element);
  if (!isBlock && (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0))
    return emitOpError("element type is ") << element << ", expected blocks, or an integer or float of whole bytes";
  auto type = cast<MemRefType>(getType());
  if (!type.getLayout().isIdentity())
    return emitOpError("\"") << getName() << "\" is " << type << ", expected a memref without a layout";
  // In bits, as some of MLIR counts.
  std::optional<int64_t> bytes = bytesOf(type);
  if (!bytes)
    return emitOpError("\"") << getName() << "\" is " << type << ", expected less than 2^60 bytes";
  if (getOffset() && !llvm::checkedAdd(static_cast<int64_t>(*getOffset()), *bytes))
    return emitOpError("\"") << getName() << "\" ends at byte " << *getOffset() << " + " << *bytes
                            << ", expected below 2^63";
  return success();
}

LogicalResult BytesOp::verify() {
  MemRefType type = cast<MemRefType>(getBuffer().getType());
  if (!blockOf(type) && !panelBlockOf(type))
    return emitOpError("buffer is ") << type << ", expected blocks of weights or of activations";
  std::optional<int64_t> bytes = bytesOf(type);
  if (!bytes || getResult().getType().getDimSize(0) != *bytes)
    return emitOpError("gives ") << getResult().getType() << ", expected the buffer's " << bytes.value_or(-1) << " bytes";
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
