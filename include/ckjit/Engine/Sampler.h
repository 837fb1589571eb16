//===- Sampler.h - The next token from logits -------------------*- C++ -*-===//
#ifndef CKJIT_ENGINE_SAMPLER_H
#define CKJIT_ENGINE_SAMPLER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <random>
#include <vector>

namespace ckjit {

/// How a token is chosen. The steps run in this order; each at its default changes nothing.
struct SamplerOptions {
  double repeatPenalty = 1;  ///< > 0: logits of recent ids are divided by it (positive) or multiplied (negative)
  int64_t repeatLast = 64;   ///< ids that count as recent
  int64_t topK = 0;          ///< keep the k likeliest; 0: all
  double topP = 1;           ///< keep the likeliest ids whose probabilities first sum to this
  double minP = 0;           ///< keep ids at least this likely, relative to the likeliest
  double temperature = 0;    ///< logits are divided by it; 0: the likeliest id, the lowest of equals
  uint64_t seed = 0;
};

/// Error that names the option out of range, its value and the range.
llvm::Error checkSampler(const SamplerOptions &options);

/// Chooses tokens one after the other. The same options and logits give the same ids everywhere.
class Sampler {
public:
  explicit Sampler(const SamplerOptions &options) : options(options), random(options.seed) {}
  /// The next id after `history`, from logits [V]. Error if a logit is not finite: the place and value.
  llvm::Expected<int32_t> next(llvm::ArrayRef<float> logits, llvm::ArrayRef<int32_t> history);

private:
  struct Candidate {
    int32_t id;
    double logit;
    double probability = 0;
  };
  void penalize(std::vector<Candidate> &candidates, llvm::ArrayRef<int32_t> history) const;
  static void sortFront(std::vector<Candidate> &candidates, size_t sorted, size_t count);
  void keepLikely(std::vector<Candidate> &candidates, double largest) const;
  int32_t draw(const std::vector<Candidate> &candidates, double largest);

  SamplerOptions options;
  std::mt19937_64 random;
};

} // namespace ckjit
#endif
