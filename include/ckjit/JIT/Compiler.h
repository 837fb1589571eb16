//===- Compiler.h - From a graph to an object file --------------*- C++ -*-===//
#ifndef CKJIT_JIT_COMPILER_H
#define CKJIT_JIT_COMPILER_H

#include "ckjit/Graph/CKIRGraph.h"
#include "ckjit/Layout/ArenaPlan.h"
#include "ckjit/Target/TargetDescription.h"
#include "ckjit/Transforms/Pipeline.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace ckjit {

struct CompileOptions {
  TargetDescription target;
  PipelineOptions pipeline;
  WeightTypes weightTypes = {}; ///< of the file that will be loaded; none: all fp32
  bool decode = false; ///< the program for few tokens besides (not with pipeline.materialize)
};

/// Whether some weight of the program multiplies int8 activations.
bool usesInt8Activations(const CompileOptions &options);

/// What can be printed on the way (`ck-jit emit --stage`).
enum class EmitStage : uint8_t { Graph, CK, Loops, Vector, LLVMDialect, LLVM, Asm, Obj };
llvm::StringRef emitStageName(EmitStage stage);
std::optional<EmitStage> parseEmitStage(llvm::StringRef name);

/// Milliseconds of each step of a compilation.
struct CompileTimes {
  double import = 0, passes = 0, translate = 0, codegen = 0, link = 0;
  double cache = 0; ///< looking the object up and, where it was missing, storing it
  double total() const { return import + passes + translate + codegen + link + cache; }
};

/// Where the program finds a buffer in the arena.
struct ProgramBuffer {
  std::string name;
  int layer = -1;
  uint64_t offset = 0, bytes = 0;
};

/// A compiled program before it is linked: a relocatable ELF object with the function
/// `prefill` and its kernels, and the arena it runs on.
struct CompiledObject {
  llvm::SmallVector<char, 0> object;
  TargetDescription target;           ///< the CPU it was made for
  std::vector<ProgramBuffer> buffers; ///< weights, slots and extra buffers, not scratch
  uint64_t arenaBytes = 0;
  std::vector<std::string> kernels;   ///< their names, in the order of the program
  bool decode = false; ///< there is a function `decode` too
  CompileTimes times;
  bool cached = false;   ///< an ObjectCache had it
  std::string cacheNote; ///< why the cache could not be used as meant; empty if it was, or if there is none
  const ProgramBuffer *find(llvm::StringRef name, int layer = -1) const;
  /// What stands behind all named buffers and is shared by all layers: few blocks, read again and again.
  ByteRange scratch() const;
};

/// Compiles `graph`; `where` names it in messages. Errors: those of validateGraph, and any
/// diagnostic of a pass, as text.
llvm::Expected<CompiledObject> compileGraph(const CKIRGraph &graph, llvm::StringRef where,
                                            const CompileOptions &options);

/// Compiles the ck program `text` (MLIR; a function @prefill of ck ops over buffers) through the same
/// pipeline: kernels alone, for tests and benchmarks. A module without #ck.model may hold extra and scratch buffers.
llvm::Expected<CompiledObject> compileText(llvm::StringRef text, llvm::StringRef where, const CompileOptions &options);

/// An object that defines `symbol` as these bytes, read-only, on a cache line, hidden from other modules.
llvm::Expected<llvm::SmallVector<char, 0>> makeDataObject(llvm::StringRef symbol, llvm::ArrayRef<char> bytes,
                                                          const TargetDescription &target);

/// The text (for Obj: the bytes that the JIT links) of one stage.
llvm::Expected<std::string> emitGraph(const CKIRGraph &graph, llvm::StringRef where, const CompileOptions &options,
                                      EmitStage stage);

} // namespace ckjit
#endif
