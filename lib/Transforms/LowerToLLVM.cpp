//===- LowerToLLVM.cpp - Everything to the LLVM dialect at once -----------===//
#include "LoopDialects.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// A loop or branch gives a block argument on as it came. MLIR's conversion without rollback loses such a value when
/// the block it belongs to is converted, and crashes; no kernel of ours has one, a .mlir file may.
bool yieldsArgument(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    bool yields = op->hasTrait<OpTrait::IsTerminator>() && op->getParentOp() && !isa<func::FuncOp>(op->getParentOp());
    return yields && llvm::any_of(op->getOperands(), llvm::IsaPred<BlockArgument>) ? WalkResult::interrupt()
                                                                                  : WalkResult::advance();
  });
  return result.wasInterrupted();
}

struct LowerToLLVMPass : impl::LowerToLLVMBase<LowerToLLVMPass> {
  using Base::Base;

  LogicalResult checkStack() {
    DataLayout layout(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      std::optional<int64_t> bytes = 0;
      function.walk([&](memref::AllocaOp buffer) {
        std::optional<int64_t> own = static_cast<int64_t>(layout.getTypeSize(buffer.getType().getElementType()));
        for (int64_t extent : buffer.getType().getShape())
          own = own && !ShapedType::isDynamic(extent) ? llvm::checkedMul(*own, extent) : std::nullopt;
        bytes = bytes && own ? llvm::checkedAdd(*bytes, *own) : std::nullopt;
      });
      if (bytes && *bytes <= maxStack)
        continue;
      return function.emitError() << "kernel @" << function.getName() << ": needs "
                                  << (bytes ? std::to_string(*bytes) : "any number of") << " bytes of stack, expected at most "
                                  << maxStack.getValue()
                                  << "; rows of its weight are too long to be unpacked, give that weight in fp32";
    }
    return success();
  }

  void runOnOperation() override {
    if (failed(checkStack()))
      return signalPassFailure();
    mlir::LowerToLLVMOptions options(&getContext());
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(&getContext(), options);
    RewritePatternSet patterns(&getContext());
    SymbolTableCollection symbols;
    populateAffineToStdConversionPatterns(patterns);
    populateAffineToVectorConversionPatterns(patterns);
    populateSCFToControlFlowConversionPatterns(patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns, &symbols);
    populateFuncToLLVMConversionPatterns(converter, patterns, &symbols);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    ConversionConfig config;
    // A failure ends the compilation, so nothing has to be undone: a third faster.
    config.allowPatternRollback = yieldsArgument(getOperation());
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
} // namespace ckjit::ck
