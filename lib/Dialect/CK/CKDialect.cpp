//===- CKDialect.cpp - Registration and attribute checks ------------------===//
#include "ckjit/Dialect/CK/CKDialect.h"
#include "ckjit/Layout/WeightFormat.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ckjit::ck;

#include "ckjit/Dialect/CK/CKDialect.cpp.inc"
#include "ckjit/Dialect/CK/CKEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ckjit/Dialect/CK/CKTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ckjit/Dialect/CK/CKAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "ckjit/Dialect/CK/CKOps.cpp.inc"

void CKDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ckjit/Dialect/CK/CKAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ckjit/Dialect/CK/CKTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ckjit/Dialect/CK/CKOps.cpp.inc"
      >();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr cpu, StringAttr features,
                                 int64_t vectorBits, bool fma, int64_t registers, int64_t l1, int64_t l2) {
  if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512)
    return emitError() << "target vectorBits is " << vectorBits << ", expected 128, 256 or 512";
  if (registers < 8)
    return emitError() << "target registers is " << registers << ", expected at least 8";
  if (l1 <= 0 || l2 <= 0)
    return emitError() << "target cache sizes are " << l1 << " and " << l2 << " bytes, expected positive numbers";
  return success();
}

static const ckjit::WeightFormat &formatOf(Format format) {
  return ckjit::formatOf(static_cast<ckjit::DType>(format));
}

int64_t BlockType::getElements() const { return ::formatOf(getFormat()).elements; }
int64_t BlockType::getBytes() const { return ::formatOf(getFormat()).bytes; }

LogicalResult PanelBlockType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t features, int64_t tokens) {
  if (features != 32)
    return emitError() << "panel_block has " << features << " features, expected 32";
  if (tokens != 4 && tokens != 8 && tokens != 16)
    return emitError() << "panel_block has " << tokens << " tokens, expected the lanes of a vector: 4, 8 or 16";
  return success();
}

FormatTraits ckjit::ck::traitsOf(Format format) {
  const ckjit::WeightFormat &stored = ::formatOf(format);
  auto traits = [&](int64_t group, int64_t zeroPoint, bool minima) {
    return FormatTraits{stored.elements, stored.bytes, group, zeroPoint, minima};
  };
  switch (format) {
  case Format::Q4_0: return traits(32, 8, false);
  case Format::Q4_1: return traits(32, 0, true);
  case Format::Q5_0: return traits(32, 16, false);
  case Format::Q5_1: return traits(32, 0, true);
  case Format::Q8_0: return traits(32, 128, false);
  case Format::Q4_K: return traits(32, 0, true);
  case Format::Q6_K: return traits(16, 32, false);
  }
  llvm_unreachable("every format has traits");
}

int64_t ckjit::ck::rowLength(MemRefType weight) {
  BlockType block = blockOf(weight);
  return weight.getShape().back() * (block ? block.getElements() : 1);
}

LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t vectors,
                               int64_t panels, int64_t unroll, bool strict, bool quantize) {
  if (rows < 1 || rows > 16)
    return emitError() << "tile rows is " << rows << ", expected 1 to 16";
  if (vectors < 1 || vectors > 8)
    return emitError() << "tile vectors is " << vectors << ", expected 1 to 8";
  if (panels < vectors)
    return emitError() << "tile panels is " << panels << ", expected at least vectors = " << vectors;
  if (unroll < 1 || unroll > 16)
    return emitError() << "tile unroll is " << unroll << ", expected 1 to 16";
  if (strict && quantize)
    return emitError() << "tile is strict and quantizes, expected one of both: quantized sums aren't double";
  return success();
}

SmallVector<OpOperand *> ckjit::ck::writtenOperands(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<OpOperand *>>(op)
      .Case<EmbedOp, LinearOp, GatedLinearOp, AttnProjectOp, AttentionOp, AttentionMergeOp, AddOp, SwiGLUOp, LMHeadOp,
            CrossEntropyOp, QuantizeOp, PackOp, UnpackOp>([](auto layer) { return SmallVector<OpOperand *>{&layer.getOutMutable()}; })
      .Case<RMSNormOp>([](RMSNormOp norm) {
        SmallVector<OpOperand *> written{&norm.getOutMutable()};
        for (OpOperand &rstd : norm.getRstdMutable())
          written.push_back(&rstd);
        return written;
      })
      .Case<RopeOp>([](RopeOp rope) { return SmallVector<OpOperand *>{&rope.getXMutable()}; })
      .Case<AttentionPartOp>([](AttentionPartOp part) { return SmallVector<OpOperand *>{&part.getPartsMutable()}; })
      .Case<SplitOp>([](SplitOp split) {
        return SmallVector<OpOperand *>{&split.getFirstMutable(), &split.getSecondMutable()};
      })
      .Default([](Operation *) { return SmallVector<OpOperand *>{}; });
}
