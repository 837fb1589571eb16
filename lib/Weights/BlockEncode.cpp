//===- BlockEncode.cpp - Puts weights into blocks -------------------------===//
#include "BlockFit.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace llvm::support;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
void putHalf(uint8_t *at, uint16_t half) { endian::write16le(at, half); }

/// Quants of a run under the scale d; all `zero` where d is 0.
template <int n> void putSymmetric(const float *x, float d, int levels, uint8_t *quants) {
  float inverse = d == 0 ? 0 : 1 / d;
  for (int i = 0; i < n; i += kLanes) {
    Lanes q = quantsOf(load(x + i) * inverse, -levels, levels - 1) + static_cast<float>(levels);
    for (int lane = 0; lane < kLanes; ++lane)
      quants[i + lane] = static_cast<uint8_t>(static_cast<int>(q[lane]));
  }
}
template <int n> void putLine(const float *x, Line line, int highest, uint8_t *quants) {
  float inverse = line.scale == 0 ? 0 : 1 / line.scale;
  for (int i = 0; i < n; i += kLanes) {
    Lanes q = quantsOf((load(x + i) - line.offset) * inverse, 0, highest);
    for (int lane = 0; lane < kLanes; ++lane)
      quants[i + lane] = static_cast<uint8_t>(static_cast<int>(q[lane]));
  }
}

/// Low bits of 32 quants, two in a byte (SPEC 5).
void packNibbles(const uint8_t *quants, uint8_t *out) {
  for (int i = 0; i < 16; ++i)
    out[i] = static_cast<uint8_t>((quants[i] & 15) | quants[i + 16] << 4);
}
void packFifthBits(const uint8_t *quants, uint8_t *out) {
  uint32_t bits = 0;
  for (int i = 0; i < 32; ++i)
    bits |= uint32_t(quants[i] >> 4) << i;
  endian::write32le(out, bits);
}

/// q4_0 and q5_0: false if the scale passes fp16.
bool encodeSymmetric(const float *x, int levels, uint8_t *out) {
  float extreme = extremeOf<32>(x), d = 0;
  uint16_t half = 0;
  if (std::fabs(extreme) > kVanishing) {
    float fitted = fitSymmetric<32>(x, extreme, levels), bestError = std::numeric_limits<float>::infinity();
    if (!isHalf(fitted))
      return false;
    for (uint16_t candidate : halvesAround(fitted))
      if (float error = symmetricError<32>(x, halfToFloat(candidate), levels); error < bestError) {
        bestError = error;
        half = candidate;
      }
    d = halfToFloat(half);
  }
  uint8_t quants[32];
  putSymmetric<32>(x, d, levels, quants);
  putHalf(out, half);
  if (levels == 16)
    packFifthBits(quants, out + 2);
  packNibbles(quants, out + (levels == 16 ? 6 : 2));
  return true;
}
bool encodeQ4_0(const float *x, uint8_t *out, Zeros) { return encodeSymmetric(x, 8, out); }
bool encodeQ5_0(const float *x, uint8_t *out, Zeros) { return encodeSymmetric(x, 16, out); }

struct HalfLine {
  uint16_t scale = 0, offset = 0;
  Line line() const { return {halfToFloat(scale), halfToFloat(offset)}; }
};

/// The best of the halves around a line.
HalfLine nearestHalves(const float *x, Line fitted, int highest) {
  HalfLine best;
  float bestError = std::numeric_limits<float>::infinity();
  for (uint16_t scale : halvesAround(fitted.scale))
    for (uint16_t offset : halvesAround(fitted.offset)) {
      HalfLine candidate{scale, offset};
      if (float error = lineError<32>(x, candidate.line(), highest); error < bestError) {
        bestError = error;
        best = candidate;
      }
    }
  return best;
}

bool hasZero(const float *x, int n) { return std::find(x, x + n, 0.0f) != x + n; }

/// A line that passes 0 at a quant k: its scale has so few bits that k times it is a half too.
HalfLine lineThroughZero(const float *x, Line fitted, int highest) {
  // 11 bits of a half without those of the largest k, 4 or 5.
  const uint32_t dropped = 13 + (highest == 15 ? 4 : 5), half = 1u << (dropped - 1);
  uint32_t bits = bit_cast<uint32_t>(fitted.scale);
  float scale = std::max(bit_cast<float>((bits + half) >> dropped << dropped), 0x1p-24f);
  float at = nearest(std::clamp(-fitted.offset / scale, 0.0f, static_cast<float>(highest)));
  HalfLine best;
  float bestError = std::numeric_limits<float>::infinity();
  for (float k = at - 1; k <= at + 1; ++k) {
    Line line{scale, -k * scale};
    // Below 2^-14 a half has fewer bits.
    HalfLine candidate{floatToHalf(line.scale), floatToHalf(line.offset)};
    candidate.offset = floatToHalf(-k * halfToFloat(candidate.scale));
    if (k < 0 || k > static_cast<float>(highest) || halfToFloat(candidate.offset) != -k * halfToFloat(candidate.scale))
      continue;
    if (float error = lineError<32>(x, candidate.line(), highest); error < bestError) {
      bestError = error;
      best = candidate;
    }
  }
  return best;
}

/// q4_1 and q5_1.
bool encodeLine(const float *x, int highest, Zeros zeros, uint8_t *out) {
  HalfLine best;
  bool throughZero = zeros == Zeros::Kept && hasZero(x, 32);
  if (std::fabs(extremeOf<32>(x)) > kVanishing) {
    Line fitted = fitLine<32>(x, highest, Offset::Any);
    if (!isHalf(fitted.scale) || !isHalf(fitted.offset))
      return false;
    best = throughZero ? lineThroughZero(x, fitted, highest) : nearestHalves(x, fitted, highest);
    if (throughZero && best.scale == 0) // the offset passes fp16's range
      return false;
  }
  uint8_t quants[32];
  putLine<32>(x, best.line(), highest, quants);
  putHalf(out, best.scale);
  putHalf(out + 2, best.offset);
  if (highest == 31)
    packFifthBits(quants, out + 4);
  packNibbles(quants, out + (highest == 31 ? 8 : 4));
  return true;
}
bool encodeQ4_1(const float *x, uint8_t *out, Zeros zeros) { return encodeLine(x, 15, zeros, out); }
bool encodeQ5_1(const float *x, uint8_t *out, Zeros zeros) { return encodeLine(x, 31, zeros, out); }

/// The scale of which `steps` are as large as `largest`. Rounded up where fp16 is so coarse that the largest would be cut
/// off.
uint16_t sharedScale(float largest, float steps) {
  if (largest == 0)
    return 0;
  float wanted = largest / steps;
  uint16_t half = floatToHalf(wanted);
  bool tooSmall = std::fabs(largest) > std::fabs(halfToFloat(half) * (steps > 0 ? steps + 0.5f : steps - 0.5f));
  return tooSmall ? half + 1 : half;
}

bool encodeQ8_0(const float *x, uint8_t *out, Zeros) {
  float extreme = std::fabs(extremeOf<32>(x));
  if (!isHalf(extreme / 127))
    return false;
  // A scale below the smallest half would lose what that one still holds.
  uint16_t half = extreme > kVanishing ? std::max<uint16_t>(sharedScale(extreme, 127), 1) : 0;
  float d = halfToFloat(half), inverse = half ? 1 / d : 0;
  putHalf(out, half);
  for (int i = 0; i < 32; i += kLanes) {
    Lanes q = quantsOf(load(x + i) * inverse, -127, 127);
    for (int lane = 0; lane < kLanes; ++lane)
      out[2 + i + lane] = static_cast<uint8_t>(static_cast<int>(q[lane]));
  }
  return true;
}

struct Group {
  int scale = 0, offset = 0; ///< of q4_k: in steps of d and dmin
};

constexpr int kGroups = 8, kGroupSize = 32, kMostSteps = 63;

/// The best steps near the fitted line.
Group nearestSteps(const float *x, Line fitted, float d, float dmin) {
  auto steps = [](float value, float step) {
    return step == 0 ? 0 : static_cast<int>(nearest(std::min(value / step, float(kMostSteps))));
  };
  int scale = steps(fitted.scale, d), offset = steps(-fitted.offset, dmin);
  Group best;
  float bestError = std::numeric_limits<float>::infinity();
  for (int s = std::max(scale - 1, 0); s <= std::min(scale + 1, kMostSteps); ++s)
    for (int o = std::max(offset - 1, 0); o <= std::min(offset + 1, kMostSteps); ++o) {
      Line line{d * static_cast<float>(s), -dmin * static_cast<float>(o)};
      if (float error = lineError<kGroupSize>(x, line, 15); error < bestError) {
        bestError = error;
        best = {s, o};
      }
    }
  return best;
}

/// The same with dmin = d, and an offset that is some quant times the scale, so that this quant stands for 0.
Group nearestStepsThroughZero(const float *x, Line fitted, float d) {
  if (fitted.scale == 0)
    return {};
  int scale = static_cast<int>(nearest(std::min(fitted.scale / d, float(kMostSteps))));
  int zero = static_cast<int>(nearest(std::min(-fitted.offset / fitted.scale, 15.0f)));
  Group best;
  float bestError = std::numeric_limits<float>::infinity();
  for (int s = std::max(scale - 1, 1); s <= std::min(scale + 1, kMostSteps); ++s)
    for (int k = std::max(zero - 1, 0); k <= std::min({zero + 1, 15, kMostSteps / s}); ++k) {
      Line line{d * static_cast<float>(s), -d * static_cast<float>(s * k)};
      if (float error = lineError<kGroupSize>(x, line, 15); error < bestError) {
        bestError = error;
        best = {s, s * k};
      }
    }
  return best;
}

void packGroups(const Group *groups, uint8_t *out) {
  for (int j = 0; j < 4; ++j) {
    const Group &low = groups[j], &high = groups[j + 4];
    out[j] = static_cast<uint8_t>(low.scale | high.scale >> 4 << 6);
    out[j + 4] = static_cast<uint8_t>(low.offset | high.offset >> 4 << 6);
    out[j + 8] = static_cast<uint8_t>((high.scale & 15) | (high.offset & 15) << 4);
  }
}

bool encodeQ4_K(const float *x, uint8_t *out, Zeros zeros) {
  std::memset(out, 0, 144);
  if (std::fabs(extremeOf<256>(x)) <= kVanishing)
    return true;
  Line fitted[kGroups];
  float largestScale = 0, largestOffset = 0;
  for (int j = 0; j < kGroups; ++j) {
    fitted[j] = fitLine<kGroupSize>(x + kGroupSize * j, 15, Offset::NotPositive);
    largestScale = std::max(largestScale, fitted[j].scale);
    largestOffset = std::max(largestOffset, -fitted[j].offset);
  }
  bool throughZero = zeros == Zeros::Kept && hasZero(x, 256);
  if (throughZero)
    largestScale = largestOffset = std::max(largestScale, largestOffset);
  uint16_t halfD = sharedScale(largestScale, kMostSteps), halfMin = sharedScale(largestOffset, kMostSteps);
  if (!isHalf(halfToFloat(halfD)) || !isHalf(halfToFloat(halfMin)))
    return false;
  float d = halfToFloat(halfD), dmin = halfToFloat(halfMin);
  Group groups[kGroups];
  uint8_t quants[256];
  for (int j = 0; j < kGroups; ++j) {
    const float *group = x + kGroupSize * j;
    groups[j] = throughZero && hasZero(group, kGroupSize) ? nearestStepsThroughZero(group, fitted[j], d)
                                                          : nearestSteps(group, fitted[j], d, dmin);
    Line line{d * static_cast<float>(groups[j].scale), -dmin * static_cast<float>(groups[j].offset)};
    putLine<kGroupSize>(group, line, 15, quants + kGroupSize * j);
  }
  putHalf(out, halfD);
  putHalf(out + 2, halfMin);
  packGroups(groups, out + 4);
  for (int pair = 0; pair < 4; ++pair)
    for (int i = 0; i < kGroupSize; ++i)
      out[16 + 32 * pair + i] = static_cast<uint8_t>(quants[64 * pair + i] | quants[64 * pair + 32 + i] << 4);
  return true;
}

void packQ6_K(const uint8_t *quants, uint8_t *out) {
  for (int half = 0; half < 2; ++half)
    for (int l = 0; l < 32; ++l) {
      const uint8_t *q = quants + 128 * half + l;
      out[64 * half + l] = static_cast<uint8_t>((q[0] & 15) | q[64] << 4);
      out[64 * half + 32 + l] = static_cast<uint8_t>((q[32] & 15) | q[96] << 4);
      out[128 + 32 * half + l] = static_cast<uint8_t>(q[0] >> 4 | q[32] >> 4 << 2 | q[64] >> 4 << 4 | q[96] >> 4 << 6);
    }
}

bool encodeQ6_K(const float *x, uint8_t *out, Zeros) {
  constexpr int kRuns = 16, kRun = 16, kLevels = 32;
  float fitted[kRuns] = {}, largest = 0;
  for (int j = 0; j < kRuns; ++j) {
    float extreme = extremeOf<kRun>(x + kRun * j);
    if (std::fabs(extreme) > kVanishing)
      fitted[j] = fitSymmetric<kRun>(x + kRun * j, extreme, kLevels);
    if (std::fabs(fitted[j]) > std::fabs(largest))
      largest = fitted[j];
  }
  uint16_t half = sharedScale(largest, -128);
  float d = halfToFloat(half);
  if (!isHalf(d))
    return false;
  uint8_t quants[256];
  for (int j = 0; j < kRuns; ++j) {
    const float *run = x + kRun * j;
    int steps = d == 0 ? 0 : static_cast<int>(nearest(std::clamp(fitted[j] / d, -128.0f, 127.0f))), best = steps;
    float bestError = std::numeric_limits<float>::infinity();
    for (int s : {steps, std::max(steps - 1, -128), std::min(steps + 1, 127)})
      if (float error = symmetricError<kRun>(run, d * static_cast<float>(s), kLevels); error < bestError) {
        bestError = error;
        best = s;
      }
    putSymmetric<kRun>(run, d * static_cast<float>(best), kLevels, quants + kRun * j);
    out[192 + j] = static_cast<uint8_t>(best);
  }
  packQ6_K(quants, out);
  putHalf(out + 208, half);
  return true;
}

bool encodeFp32(const float *x, uint8_t *out, Zeros) {
  endian::write32le(out, bit_cast<uint32_t>(*x));
  return true;
}
bool encodeBf16(const float *x, uint8_t *out, Zeros) {
  uint16_t bits = floatToBf16(*x);
  putHalf(out, bits);
  return (bits & 0x7FFF) != 0x7F80;
}
bool encodeFp16(const float *x, uint8_t *out, Zeros) {
  uint16_t bits = floatToHalf(*x);
  putHalf(out, bits);
  return (bits & 0x7FFF) != 0x7C00;
}

using EncodeBlock = bool (*)(const float *, uint8_t *, Zeros);
EncodeBlock encoderOf(DType type) {
  switch (type) {
  case DType::BF16: return encodeBf16;
  case DType::FP16: return encodeFp16;
  case DType::Q4_0: return encodeQ4_0;
  case DType::Q4_1: return encodeQ4_1;
  case DType::Q5_0: return encodeQ5_0;
  case DType::Q5_1: return encodeQ5_1;
  case DType::Q8_0: return encodeQ8_0;
  case DType::Q4_K: return encodeQ4_K;
  case DType::Q6_K: return encodeQ6_K;
  default: return encodeFp32;
  }
}

size_t placeOfLargest(ArrayRef<float> values) {
  auto smaller = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
  return std::max_element(values.begin(), values.end(), smaller) - values.begin();
}
} // namespace

std::optional<size_t> ckjit::quantize(DType type, ArrayRef<float> values, MutableArrayRef<uint8_t> bytes, Zeros zeros) {
  const WeightFormat &format = formatOf(type);
  assert(values.size() % format.elements == 0 && bytes.size() == values.size() / format.elements * format.bytes);
  EncodeBlock encode = encoderOf(type);
  // |v| < Inf is false for NaN too, and the sum of all is finite only if each is.
  for (size_t at = 0; at < values.size(); at += format.elements) {
    ArrayRef<float> block = values.slice(at, format.elements);
    bool finite = true, reachable = true;
    for (float v : block) {
      finite &= std::fabs(v) <= std::numeric_limits<float>::max();
      reachable &= std::fabs(v) <= kUnreachable;
    }
    if (!finite)
      return at + (find_if(block, [](float v) { return !std::isfinite(v); }) - block.begin());
    if ((format.isQuantized() && !reachable) ||
        !encode(block.data(), bytes.data() + at / format.elements * format.bytes, zeros))
      return at + placeOfLargest(block);
  }
  return std::nullopt;
}
