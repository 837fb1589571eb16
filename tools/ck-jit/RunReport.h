//===- RunReport.h - What a run tells ---------------------------*- C++ -*-===//
#ifndef CKJIT_TOOLS_RUNREPORT_H
#define CKJIT_TOOLS_RUNREPORT_H

#include "ckjit/Engine/Verify.h"
#include <optional>
#include <string>
#include <vector>

namespace ckjit::tool {

/// One candidate after the last token.
struct NextToken {
  int32_t id = 0;
  float logit = 0;
  double probability = 0;
};

/// Everything that `ck-jit run` prints.
struct RunReport {
  std::string model, target;
  std::string types; ///< of the weights: "fp32", "q4_k, embedding q6_k"
  bool int8 = false; ///< quantized weights multiply int8 activations
  ModelConfig config;
  int64_t parameters = 0;
  unsigned vectorBits = 0, threads = 0, kernels = 0;
  CompileTimes compile;
  bool cached = false; ///< the object came from the cache
  double loadMilliseconds = 0, prefillMilliseconds = 0;
  int64_t tokens = 0;
  std::optional<double> loss; ///< mean over the T-1 positions with a next token; none for T = 1
  std::vector<NextToken> next;
  std::optional<VerifyResult> verified;
  bool strict = false, timing = false;

  double tokensPerSecond() const { return tokens / (prefillMilliseconds / 1e3); }
};

/// The `count` largest logits, ties to the lower id, with their softmax probabilities.
std::vector<NextToken> topTokens(llvm::ArrayRef<float> logits, int64_t count);

std::string reportText(const RunReport &report);
std::string reportJson(const RunReport &report);

} // namespace ckjit::tool
#endif
