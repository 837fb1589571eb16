//===- BlockFit.h - Scales that fit a run of weights ------------*- C++ -*-===//
//
// Single precision operations of IEEE 754 in a fixed order, none of them fused and none from libm, so that the bits are
// the same on every CPU. Vectors of four lanes are the widest that every x86-64 has.
//
#ifndef CKJIT_LIB_WEIGHTS_BLOCKFIT_H
#define CKJIT_LIB_WEIGHTS_BLOCKFIT_H

#include "ckjit/Weights/BlockCodec.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ckjit::weights {

using Lanes = float __attribute__((vector_size(16)));
constexpr int kLanes = 4;

inline Lanes load(const float *at) {
  Lanes v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
inline Lanes lanesOf(float value) { return Lanes{value, value, value, value}; }
inline float sumOf(Lanes v) { return (v[0] + v[1]) + (v[2] + v[3]); }
inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

/// The nearest integer of a value within +-2^22, ties to even: adding 1.5 * 2^23 leaves no bits for a fraction.
template <typename Float> Float nearest(Float v) { return (v + 0x1.8p23f) - 0x1.8p23f; }

/// Quants: v cut to [lowest, highest], then rounded.
inline Lanes quantsOf(Lanes v, float lowest, float highest) {
  return nearest(larger(smaller(v, lanesOf(highest)), lanesOf(lowest)));
}

/// The value of largest magnitude, the first of several.
template <int n> float extremeOf(const float *x) {
  Lanes least = load(x), most = least;
  for (int i = kLanes; i < n; i += kLanes) {
    least = smaller(load(x + i), least);
    most = larger(load(x + i), most);
  }
  float low = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  float high = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  return -low > high ? low : high;
}

/// Weights no larger than this are 0 in every block: half of the smallest scale of fp16.
constexpr float kVanishing = 0x1p-25f;
/// No block has weights as large: the largest scales make 65504 * 128 * 32.
constexpr float kUnreachable = 0x1p28f;

/// The halves on both sides of `value`, the nearest first; without Inf, and without 0 unless `value` is 0.
inline llvm::SmallVector<uint16_t, 2> halvesAround(float value) {
  uint16_t near = floatToHalf(value), magnitude = near & 0x7FFF, sign = near & 0x8000;
  if (value == 0)
    return {0};
  float distance = std::fabs(value) - halfToFloat(magnitude);
  llvm::SmallVector<uint16_t, 2> halves;
  for (int candidate : {int(magnitude), distance > 0 ? magnitude + 1 : magnitude - 1})
    if (candidate > 0 && candidate < 0x7C00)
      halves.push_back(static_cast<uint16_t>(sign | candidate));
  return halves;
}
/// Whether a scale of that size has a half near enough.
inline bool isHalf(float value) { return std::fabs(value) <= 65504.0f; }

/// sum (x - d q)^2 with the best q in [-levels, levels - 1].
template <int n> float symmetricError(const float *x, float d, int levels) {
  float inverse = d == 0 ? 0 : 1 / d;
  Lanes sum = {};
  for (int i = 0; i < n; i += kLanes) {
    Lanes v = load(x + i), e = v - d * quantsOf(v * inverse, -levels, levels - 1);
    sum += e * e;
  }
  return sumOf(sum);
}

/// The d that makes symmetricError small, found among scales around extreme / -levels, each replaced by the best one
/// for the q that it gives: sum xq / sum qq.
template <int n> float fitSymmetric(const float *x, float extreme, int levels) {
  constexpr int kSteps = 8;
  float bestGain = 0, best = extreme / static_cast<float>(-levels);
  for (int side : {0, 1})
    for (int step = -kSteps; step <= kSteps; ++step) {
      // The extreme goes to -levels, or to levels - 1.
      float top = static_cast<float>(side ? levels - 1 : -levels) + (side ? 0.1f : -0.1f) * static_cast<float>(step);
      float inverse = top / extreme;
      Lanes xq = {}, qq = {};
      for (int i = 0; i < n; i += kLanes) {
        Lanes v = load(x + i), q = quantsOf(v * inverse, -levels, levels - 1);
        xq += v * q;
        qq += q * q;
      }
      float sumXq = sumOf(xq), sumQq = sumOf(qq), gain = sumQq > 0 ? sumXq * sumXq / sumQq : 0;
      if (gain > bestGain) {
        bestGain = gain;
        best = sumXq / sumQq;
      }
    }
  return best;
}

/// w = scale q + offset, q in [0, highest].
struct Line {
  float scale = 0, offset = 0;
};

/// sum (x - w)^2 with the best q.
template <int n> float lineError(const float *x, Line line, int highest) {
  float inverse = line.scale == 0 ? 0 : 1 / line.scale;
  Lanes sum = {};
  for (int i = 0; i < n; i += kLanes) {
    Lanes v = load(x + i), q = quantsOf((v - line.offset) * inverse, 0, highest), e = v - (line.scale * q + line.offset);
    sum += e * e;
  }
  return sumOf(sum);
}

/// Whether the offset may be above 0.
enum class Offset : bool { Any, NotPositive };

/// The line that makes lineError small, found as in fitSymmetric among scales around (most - least) / highest: each
/// time the line of least squares through the points (q, x).
template <int n> Line fitLine(const float *x, int highest, Offset allowed) {
  constexpr int kSteps = 10;
  Lanes least = load(x), most = least;
  for (int i = kLanes; i < n; i += kLanes) {
    least = smaller(load(x + i), least);
    most = larger(load(x + i), most);
  }
  float low = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  float high = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  if (allowed == Offset::NotPositive)
    low = std::min(low, 0.0f);
  if (low == high)
    return {0, low};
  Line best{(high - low) / static_cast<float>(highest), low};
  float bestGain = -std::numeric_limits<float>::infinity();
  for (int step = -kSteps; step <= kSteps; ++step) {
    float inverse = (static_cast<float>(highest) + 0.1f * static_cast<float>(step)) / (high - low);
    Lanes y = {}, q = {}, qq = {}, yq = {}; // sums, y = x - low
    for (int i = 0; i < n; i += kLanes) {
      Lanes v = load(x + i) - low, quants = quantsOf(v * inverse, 0, highest);
      y += v;
      q += quants;
      qq += quants * quants;
      yq += v * quants;
    }
    float sumY = sumOf(y), sumQ = sumOf(q), sumQq = sumOf(qq), sumYq = sumOf(yq);
    float determinant = n * sumQq - sumQ * sumQ; // of small integers: exact
    if (determinant <= 0)
      continue;
    Line line{(n * sumYq - sumY * sumQ) / determinant, (sumQq * sumY - sumQ * sumYq) / determinant};
    if (allowed == Offset::NotPositive && line.offset + low > 0) {
      line = {(sumYq + low * sumQ) / sumQq, -low};
    }
    // sum (y - w)^2 = sum y^2 - gain
    float gain = 2 * (line.scale * sumYq + line.offset * sumY) - line.scale * line.scale * sumQq -
                 2 * line.scale * line.offset * sumQ - n * line.offset * line.offset;
    if (gain > bestGain && line.scale > 0) {
      bestGain = gain;
      best = {line.scale, line.offset + low};
    }
  }
  return best;
}

} // namespace ckjit::weights
#endif
