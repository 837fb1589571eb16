//===- Sampler.cpp - The next token from logits ---------------------------===//
#include "ckjit/Engine/Sampler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace llvm;
using namespace ckjit;

Error ckjit::checkSampler(const SamplerOptions &o) {
  auto refuse = [](StringRef name, double value, StringRef range) {
    // All digits that tell the value from others: 1.001 isn't at most 1.
    return createStringError(name + " is " + fmt::format("{}", value) + ", expected " + range);
  };
  if (!(o.repeatPenalty > 0) || !std::isfinite(o.repeatPenalty))
    return refuse("repeat-penalty", o.repeatPenalty, "a positive number (1: off)");
  if (o.repeatLast < 0)
    return refuse("repeat-last", static_cast<double>(o.repeatLast), "0 or more");
  if (o.topK < 0)
    return refuse("top-k", static_cast<double>(o.topK), "0 or more (0: off)");
  if (!(o.topP > 0 && o.topP <= 1))
    return refuse("top-p", o.topP, "more than 0, at most 1 (1: off)");
  if (!(o.minP >= 0 && o.minP <= 1))
    return refuse("min-p", o.minP, "0 to 1 (0: off)");
  if (!(o.temperature >= 0) || !std::isfinite(o.temperature))
    return refuse("temp", o.temperature, "0 or more (0: greedy)");
  return Error::success();
}

void Sampler::penalize(std::vector<Candidate> &candidates, ArrayRef<int32_t> history) const {
  if (options.repeatPenalty == 1)
    return;
  std::vector<int32_t> recent = history.take_back(std::min<size_t>(history.size(), options.repeatLast)).vec();
  llvm::sort(recent);
  recent.erase(std::unique(recent.begin(), recent.end()), recent.end());
  for (int32_t id : recent) {
    double &logit = candidates[id].logit;
    logit = logit > 0 ? logit / options.repeatPenalty : logit * options.repeatPenalty;
  }
}

/// Sorts by likelihood and cuts by top-k, top-p and min-p; at least one stays.
void Sampler::keepLikely(std::vector<Candidate> &candidates) const {
  auto likelier = [](const Candidate &a, const Candidate &b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  size_t keep = options.topK > 0 ? std::min<size_t>(options.topK, candidates.size()) : candidates.size();
  std::partial_sort(candidates.begin(), candidates.begin() + keep, candidates.end(), likelier);
  candidates.resize(keep);
  double sum = 0;
  for (Candidate &candidate : candidates)
    sum += candidate.probability = std::exp(candidate.logit - candidates.front().logit);
  double reached = 0;
  size_t likely = 0;
  while (likely < candidates.size() && (likely == 0 || reached < options.topP * sum))
    reached += candidates[likely++].probability;
  // Relative to the likeliest, whose probability stands as 1.
  while (likely > 1 && candidates[likely - 1].probability < options.minP)
    --likely;
  candidates.resize(likely);
}

int32_t Sampler::draw(const std::vector<Candidate> &candidates) {
  double sum = 0;
  std::vector<double> upTo;
  for (const Candidate &candidate : candidates)
    upTo.push_back(sum += std::exp((candidate.logit - candidates.front().logit) / options.temperature));
  // 53 random bits: the standard's distributions differ from library to library.
  double at = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
  size_t chosen = std::upper_bound(upTo.begin(), upTo.end(), at) - upTo.begin();
  return candidates[std::min(chosen, candidates.size() - 1)].id;
}

namespace {
/// A piece of logits that a loop without exits goes over, so that it becomes vector code.
constexpr size_t kPiece = 1024;

/// Bits of a float as a number that is larger where the float is.
int32_t orderOf(uint32_t bits) {
  int32_t number = static_cast<int32_t>(bits);
  return number ^ ((number >> 31) & 0x7fffffff);
}

/// Least and largest of a piece, as orderOf gives them.
struct Extent {
  int32_t least = std::numeric_limits<int32_t>::max(), most = std::numeric_limits<int32_t>::min();
  void add(int32_t order) {
    least = order < least ? order : least;
    most = order > most ? order : most;
  }
  /// NaN and the infinities stand beyond all numbers, on both sides.
  bool finite() const {
    constexpr uint32_t kInfinity = 0x7f800000;
    return most < orderOf(kInfinity) && least > orderOf(kInfinity | 0x80000000);
  }
  float largest() const { return llvm::bit_cast<float>(orderOf(static_cast<uint32_t>(most))); }
};

/// Of `count` logits, for code of the caller's target.
[[gnu::always_inline]] inline Extent extentHere(const float *logits, size_t count) {
  Extent extent;
  for (size_t i = 0; i < count; ++i)
    extent.add(orderOf(llvm::bit_cast<uint32_t>(logits[i])));
  return extent;
}

[[gnu::target("avx2")]] Extent extentOfPieceAVX2(const float *logits) { return extentHere(logits, kPiece); }
Extent extentOfPiece(const float *logits) { return extentHere(logits, kPiece); }

Extent extentOf(ArrayRef<float> logits) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (logits.size() != kPiece)
    return extentHere(logits.data(), logits.size());
  return avx2 ? extentOfPieceAVX2(logits.data()) : extentOfPiece(logits.data());
}
} // namespace

/// The lowest id of the largest logit.
static Expected<int32_t> likeliest(ArrayRef<float> logits) {
  float best = -std::numeric_limits<float>::infinity();
  size_t piece = 0;
  for (size_t from = 0; from < logits.size(); from += kPiece) {
    Extent extent = extentOf(logits.slice(from).take_front(kPiece));
    if (!extent.finite())
      for (auto [id, logit] : enumerate(logits.slice(from)))
        if (!std::isfinite(logit))
          return createStringError(formatv("logit of id {0} is {1}, expected a finite number; are the weights whole? "
                                           "`ck-jit inspect --check-tensors` looks at them",
                                           from + id, logit));
    // As floats: the two zeros are equal.
    if (extent.largest() > best)
      best = extent.largest(), piece = from;
  }
  ArrayRef<float> rest = logits.slice(piece);
  return static_cast<int32_t>(piece + (llvm::find(rest, best) - rest.begin()));
}

Expected<int32_t> Sampler::next(ArrayRef<float> logits, ArrayRef<int32_t> history) {
  auto first = likeliest(logits);
  if (!first || (options.temperature == 0 && options.repeatPenalty == 1))
    return first;
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (auto [id, logit] : enumerate(logits))
    candidates.push_back({static_cast<int32_t>(id), logit});
  penalize(candidates, history);
  if (options.temperature == 0)
    return std::max_element(candidates.begin(), candidates.end(),
                            [](const Candidate &a, const Candidate &b) { return a.logit < b.logit; })
        ->id;
  keepLikely(candidates);
  return draw(candidates);
}
