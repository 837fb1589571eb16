//===- SplitMix.h - Seeded numbers, the same on every machine ---*- C++ -*-===//
#ifndef CKJIT_TEST_SUPPORT_SPLITMIX_H
#define CKJIT_TEST_SUPPORT_SPLITMIX_H

#include <cstdint>

namespace ckjit::test {

/// The splitmix64 generator (Steele, Lea, Flood 2014). Integer arithmetic and
/// exact float operations only, so a seed means the same everywhere.
class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// A number in [0, bound); bound > 0.
  uint64_t below(uint64_t bound) { return next() % bound; }

  /// True in `percent` of 100 draws.
  bool chance(uint64_t percent) { return below(100) < percent; }

  /// Roughly normal, mean 0 and variance 1, within +-3.5: the sum of four 16-bit uniforms.
  float normal() {
    const uint64_t bits = next();
    int32_t sum = -2 * 65535;
    for (int shift = 0; shift < 64; shift += 16)
      sum += static_cast<int32_t>((bits >> shift) & 0xFFFF);
    return static_cast<float>(sum) * (1.0f / 37837.2f);
  }

private:
  uint64_t state;
};

} // namespace ckjit::test
#endif
