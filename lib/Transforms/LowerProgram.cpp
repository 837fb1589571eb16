//===- LowerProgram.cpp - The SPMD entry function -------------------------===//
#include "ckjit/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERPROGRAM
#include "ckjit/Transforms/Passes.h.inc"

namespace {
constexpr StringLiteral kBarrierName = "ckjit_barrier";

struct LowerProgramPass : impl::LowerProgramBase<LowerProgramPass> {
  void runOnOperation() override {
    auto arenaBytes = getOperation()->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function->hasAttr(kKernelAttr)) {
        takeBytes(function);
        continue;
      }
      if (function.isExternal())
        continue;
      if (!arenaBytes) {
        function.emitError() << "the module has no " << kArenaBytesAttr << "; run ck-plan-memory first";
        return signalPassFailure();
      }
      if (failed(lower(function, arenaBytes.getInt())))
        return signalPassFailure();
    }
  }

  /// memref<N x i8> for one of blocks.
  static MemRefType storedAs(MemRefType type) {
    if (!blockOf(type) && !panelBlockOf(type))
      return type;
    return MemRefType::get({*bytesOf(type)}, IntegerType::get(type.getContext(), 8));
  }

  /// A kernel's buffers of blocks become their bytes.
  void takeBytes(func::FuncOp kernel) {
    SmallVector<Type> inputs;
    for (Type type : kernel.getArgumentTypes()) {
      auto memref = dyn_cast<MemRefType>(type);
      inputs.push_back(memref ? storedAs(memref) : type);
    }
    if (llvm::equal(inputs, kernel.getArgumentTypes()))
      return;
    kernel.setFunctionType(FunctionType::get(&getContext(), inputs, kernel.getResultTypes()));
    if (kernel.isExternal())
      return;
    for (auto [argument, type] : llvm::zip(kernel.getArguments(), inputs))
      argument.setType(type);
    kernel.walk([&](BytesOp bytes) {
      bytes.getResult().replaceAllUsesWith(bytes.getBuffer());
      bytes.erase();
    });
  }

  LogicalResult lower(func::FuncOp program, int64_t arenaBytes) {
    addArguments(program, arenaBytes);
    WalkResult result = program.walk([&](Operation *op) {
      if (auto buffer = dyn_cast<BufferOp>(op))
        return failed(lowerBuffer(buffer)) ? WalkResult::interrupt() : WalkResult::advance();
      // Each of these erases the op: nothing may look at it afterwards.
      if (auto launch = dyn_cast<LaunchOp>(op))
        lowerLaunch(launch, program);
      else if (auto barrier = dyn_cast<BarrierOp>(op))
        lowerBarrier(barrier, program);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// (team, tid, threads, T, first row, position, weights, state): two arenas of one plan, so that states share weights.
  void addArguments(func::FuncOp program, int64_t arenaBytes) {
    Builder builder(&getContext());
    SmallVector<Type> inputs{LLVM::LLVMPointerType::get(&getContext())};
    inputs.append(kFirstBuffer, builder.getIndexType());
    inputs.append(2, MemRefType::get({arenaBytes}, builder.getI8Type()));
    program.setFunctionType(builder.getFunctionType(inputs, {}));
    for (Type type : inputs)
      program.getBody().addArgument(type, program.getLoc());
  }

  LogicalResult lowerBuffer(BufferOp buffer) {
    if (!buffer->use_empty() && !buffer.getOffset())
      return buffer.emitOpError("\"") << buffer.getName() << "\" has no offset; run ck-plan-memory first";
    if (!buffer->use_empty()) {
      OpBuilder builder(buffer);
      auto program = buffer->getParentOfType<func::FuncOp>();
      bool weight = buffer.getSpace() == Space::Weight;
      Value arena = program.getArgument(program.getNumArguments() - (weight ? 2 : 1));
      Value offset = arith::ConstantIndexOp::create(builder, buffer.getLoc(), *buffer.getOffset());
      Value view = memref::ViewOp::create(builder, buffer.getLoc(), storedAs(cast<MemRefType>(buffer.getType())), arena, offset,
                                          ValueRange());
      buffer.getResult().replaceAllUsesWith(view);
    }
    buffer.erase();
    return success();
  }

  void lowerLaunch(LaunchOp launch, func::FuncOp program) {
    OpBuilder builder(launch);
    SmallVector<Value> arguments(program.getArguments().slice(1, kFirstBuffer));
    llvm::append_range(arguments, launch.getOperands());
    func::CallOp::create(builder, launch.getLoc(), launch.getKernel(), TypeRange(), arguments);
    launch.erase();
  }

  void lowerBarrier(BarrierOp barrier, func::FuncOp program) {
    OpBuilder builder(barrier);
    Type team = program.getArgument(0).getType();
    if (!getOperation().lookupSymbol(kBarrierName)) {
      OpBuilder top = OpBuilder::atBlockBegin(getOperation().getBody());
      auto declared =
          func::FuncOp::create(top, barrier.getLoc(), kBarrierName, builder.getFunctionType({team}, {}));
      declared.setPrivate();
    }
    func::CallOp::create(builder, barrier.getLoc(), kBarrierName, TypeRange(), ValueRange{program.getArgument(0)});
    barrier.erase();
  }
};
} // namespace
} // namespace ckjit::ck
