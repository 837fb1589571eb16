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

/// Brings those of places `sorted` to count - 1 to the front in the order of their likelihood; in front of `sorted` they
/// are already.
void Sampler::sortFront(std::vector<Candidate> &candidates, size_t sorted, size_t count) {
  auto likelier = [](const Candidate &a, const Candidate &b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  auto from = candidates.begin() + sorted, to = candidates.begin() + count, end = candidates.end();
  // Few are best picked by a heap, which most of the others don't get into.
  constexpr size_t kFew = 32;
  if (count * kFew < candidates.size())
    return std::partial_sort(from, to, end, likelier);
  if (to != end)
    std::nth_element(from, to, end, likelier);
  std::sort(from, to, likelier);
}

/// Cuts by top-k, top-p and min-p; at least one stays. A vocabulary takes longer to sort than to run some models, so
/// only as much of it is sorted as the cuts need.
void Sampler::keepLikely(std::vector<Candidate> &candidates, double largest) const {
  size_t sorted = 0;
  if (options.topK > 0 && static_cast<uint64_t>(options.topK) < candidates.size()) {
    sorted = options.topK;
    sortFront(candidates, 0, sorted);
    candidates.resize(sorted);
  }
  if (options.topP == 1 && options.minP == 0)
    return;
  double sum = 0;
  for (Candidate &candidate : candidates)
    sum += candidate.probability = std::exp(candidate.logit - largest);
  if (options.topP < 1) {
    constexpr size_t kFirst = 64, kGrowth = 4;
    double reached = 0;
    size_t likely = 0;
    for (; likely < candidates.size() && (likely == 0 || reached < options.topP * sum); ++likely) {
      if (likely == sorted) {
        sorted = std::min(candidates.size(), std::max(kFirst, kGrowth * likely));
        sortFront(candidates, likely, sorted);
      }
      reached += candidates[likely].probability;
    }
    candidates.resize(likely);
  }
  // Relative to the likeliest, whose probability stands as 1.
  llvm::erase_if(candidates, [&](const Candidate &candidate) { return candidate.probability < options.minP; });
}

int32_t Sampler::draw(const std::vector<Candidate> &candidates, double largest) {
  double sum = 0;
  std::vector<double> upTo;
  upTo.reserve(candidates.size());
  for (const Candidate &candidate : candidates)
    upTo.push_back(sum += std::exp((candidate.logit - largest) / options.temperature));
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
  auto best = std::max_element(candidates.begin(), candidates.end(),
                               [](const Candidate &a, const Candidate &b) { return a.logit < b.logit; });
  if (options.temperature == 0)
    return best->id;
  double largest = best->logit;
  keepLikely(candidates, largest);
  return draw(candidates, largest);
}
