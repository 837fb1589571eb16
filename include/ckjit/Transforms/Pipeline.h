//===- Pipeline.h - The pipeline from ck to the LLVM dialect ----*- C++ -*-===//
#ifndef CKJIT_TRANSFORMS_PIPELINE_H
#define CKJIT_TRANSFORMS_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include <string>

namespace ckjit {

/// How far a module is lowered; each stage's text is what `emit --stage` prints.
enum class Stage : uint8_t { CK, Loops, Vector, LLVMDialect };

struct PipelineOptions {
  bool strict = false;      ///< accumulate in double, correctly rounded exp
  bool quantize = true;     ///< 8-bit activations for quantized weights; never when strict
  bool materialize = false; ///< every op's result also goes to its slot
  bool fuse = true;         ///< fuse-swiglu and fuse-residual
  int64_t rows = 0, vectors = 0, panels = 0, unroll = 0; ///< overrides of select-strategy, 0 = choose
  bool emptyKernels = false; ///< benchmarks only: kernels do nothing
  std::string faultyKernel; ///< test only: break the kernels whose name starts so
};

/// Adds the passes that bring a module of the stage before (for Stage::CK: an imported one,
/// with #ck.target) to `stage`.
void addStage(mlir::OpPassManager &manager, const PipelineOptions &options, Stage stage);

/// Registers all passes of the project and of the pipeline, for tools that take pass names.
void registerPasses();

} // namespace ckjit
#endif
