//===- Bench.h - What ck-jit bench measures ---------------------*- C++ -*-===//
#ifndef CKJIT_TOOLS_BENCH_H
#define CKJIT_TOOLS_BENCH_H

#include "FormatFlags.h"
#include "ckjit/JIT/Program.h"
#include "ckjit/Runtime/Arena.h"
#include "ckjit/Runtime/ThreadTeam.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace ckjit::tool {

struct BenchOptions {
  CompileOptions compile;
  LinkOptions link;
  std::vector<unsigned> threads; ///< each measured by itself
  unsigned runs = 9;             ///< medians are over so many
  std::string shape;             ///< "smollm-135m", "tinyllama-1.1b", ...
  std::vector<int64_t> tokens;   ///< M, or prefill lengths
  FormatRequest formats;         ///< of the weights
  int64_t decode = 0;            ///< tokens to decode one by one; 0: none
};

/// Median and spread of one figure.
struct Figure {
  double median = 0, least = 0, most = 0;
};
Figure figureOf(std::vector<double> samples);

/// What the machine can do with generated code, measured now: fp32 FMAs on registers, and reads of memory
/// as a GEMV reads it (one stream a thread or four distant ones, prefetched).
struct MachineLimits {
  Figure gflops;         ///< GFLOP/s
  Figure gops;           ///< the same of products of bytes; 0 where the target has no instruction for them
  Figure gigabytes;      ///< GB/s, of the faster number of streams
  int streams = 0;       ///< that number, a thread
};
llvm::Expected<MachineLimits> measureLimits(const CompileOptions &options, unsigned threads, unsigned runs);

/// A program of the ck dialect, ready to run over its own arena.
class BenchProgram {
public:
  static llvm::Expected<BenchProgram> make(const std::string &text, const CompileOptions &options,
                                           const LinkOptions &link = {});
  /// Fills `name` with small values that are all different from zero.
  void fill(llvm::StringRef name);
  /// Fills what begins with `name` with blocks of a weight format.
  void fillBlocks(llvm::StringRef name, DType type);
  /// Seconds of one run on `team`, of tokens behind `position` others.
  double run(ThreadTeam &team, uint64_t tokens, uint64_t position = 0);

private:
  BenchProgram(std::unique_ptr<Program> program, Arena arena) : program(std::move(program)), arena(std::move(arena)) {}
  std::unique_ptr<Program> program;
  Arena arena;
};

/// The last token of the context attending to all of it, in every layer of a model.
struct AttentionFigure {
  Figure perSecond;          ///< tokens, if attention were all
  int64_t keys = 0;          ///< the context
  double cacheBytes = 0, flops = 0; ///< that the token reads and does
};
llvm::Expected<AttentionFigure> measureAttention(const ModelConfig &config, const BenchOptions &options,
                                                 unsigned threads);

/// A named shape as a config, or an error that lists the names.
llvm::Expected<ModelConfig> shapeOf(llvm::StringRef name);

/// GEMM of the shape's matrices at each M, and the whole model's prefill. Rows of a table: first the heads.
struct BenchTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
  llvm::json::Array json;
  std::string markdown() const;
};
llvm::Expected<BenchTable> benchKernels(const BenchOptions &options);
llvm::Expected<BenchTable> benchModel(const BenchOptions &options);
/// What a decoded token costs outside the kernels, part by part: the session and the sampler with a model whose kernels
/// do nothing. How long threads wait for each other because of unequal shares of work is no part of it.
llvm::Expected<BenchTable> benchOverhead(const BenchOptions &options);

} // namespace ckjit::tool
#endif
