//===- Pipeline.cpp - The pipeline from ck to the LLVM dialect ------------===//
#include "ckjit/Transforms/Pipeline.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ckjit;
using namespace ckjit::ck;

static void addProgramPasses(OpPassManager &manager, const PipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createFuseRope());
  if (options.fuse && !options.materialize) {
    functions.addPass(createFuseSwiGLU());
    functions.addPass(createFuseResidual());
  }
  functions.addPass(createSplitAttention());
  functions.addPass(createPackActivations());
  if (options.quantize && !options.strict)
    functions.addPass(createQuantizeActivations());
  if (options.materialize)
    functions.addPass(createMaterialize());
  manager.addPass(createPlanMemory());
  manager.addNestedPass<func::FuncOp>(createInsertBarriers());
  manager.addPass(createOutlineKernels());
  SelectStrategyOptions strategy;
  strategy.rows = options.rows;
  strategy.vectors = options.vectors;
  strategy.panels = options.panels;
  strategy.unroll = options.unroll;
  strategy.strict = options.strict;
  strategy.quantize = options.quantize;
  manager.addPass(createSelectStrategy(strategy));
}

static void addLoopPasses(OpPassManager &manager, const PipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  if (options.emptyKernels)
    functions.addPass(createEmptyKernels());
  functions.addPass(createLowerElementwise({options.strict}));
  functions.addPass(createLowerLinear({options.strict}));
  LowerAttentionOptions attention;
  attention.strict = options.strict;
  functions.addPass(createLowerAttention(attention));
}

static void addVectorPasses(OpPassManager &manager, const PipelineOptions &options) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createBlockPanels());
  functions.addPass(createJamPanels());
  functions.addPass(createVectorizeLanes());
  if (!options.faultyKernel.empty())
    functions.addPass(createInjectFault({options.faultyKernel}));
  functions.addPass(createLowerUnpack());
  functions.addPass(createLowerInt8Tile());
  functions.addPass(createLowerRegisterTile());
  functions.addPass(createLowerDotTile());
  functions.addPass(createExpandMath());
  functions.addPass(createCSEPass());
}

static void addLLVMPasses(OpPassManager &manager) {
  manager.addPass(createLowerProgram());
  manager.addPass(createLowerToLLVM());
}

void ckjit::addStage(OpPassManager &manager, const PipelineOptions &options, Stage stage) {
  switch (stage) {
  case Stage::CK: return addProgramPasses(manager, options);
  case Stage::Loops: return addLoopPasses(manager, options);
  case Stage::Vector: return addVectorPasses(manager, options);
  case Stage::LLVMDialect: return addLLVMPasses(manager);
  }
}

/// A stage of the pipeline under a name, for ck-opt.
template <Stage stage> static void registerStage(StringRef name, StringRef summary) {
  PassPipelineRegistration<>(name, summary, [](OpPassManager &manager) { addStage(manager, {}, stage); });
}

void ckjit::registerPasses() {
  registerCKPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  registerStage<Stage::CK>("ck-stage-ck", "From the import to kernels with a strategy");
  registerStage<Stage::Loops>("ck-stage-loops", "From kernels to affine loops and register tiles");
  registerStage<Stage::Vector>("ck-stage-vector", "From loops to vector ops");
  registerStage<Stage::LLVMDialect>("ck-stage-llvm", "From vector ops to the LLVM dialect");
}
