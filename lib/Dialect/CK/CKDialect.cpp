//===- CKDialect.cpp - Registration and attribute checks ------------------===//
#include "ckjit/Dialect/CK/CKDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ckjit::ck;

#include "ckjit/Dialect/CK/CKDialect.cpp.inc"
#include "ckjit/Dialect/CK/CKEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ckjit/Dialect/CK/CKAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "ckjit/Dialect/CK/CKOps.cpp.inc"

void CKDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ckjit/Dialect/CK/CKAttrs.cpp.inc"
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

LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t vectors,
                               int64_t panels, int64_t unroll, bool strict) {
  if (rows < 1 || rows > 16)
    return emitError() << "tile rows is " << rows << ", expected 1 to 16";
  if (vectors < 1 || vectors > 8)
    return emitError() << "tile vectors is " << vectors << ", expected 1 to 8";
  if (panels < vectors)
    return emitError() << "tile panels is " << panels << ", expected at least vectors = " << vectors;
  if (unroll < 1 || unroll > 16)
    return emitError() << "tile unroll is " << unroll << ", expected 1 to 16";
  return success();
}

SmallVector<OpOperand *> ckjit::ck::writtenOperands(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<OpOperand *>>(op)
      .Case<EmbedOp, LinearOp, GatedLinearOp, AttnProjectOp, AttentionOp, AttentionMergeOp, AddOp, SwiGLUOp, LMHeadOp,
            CrossEntropyOp, PackOp, UnpackOp>([](auto layer) { return SmallVector<OpOperand *>{&layer.getOutMutable()}; })
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
