//===- RandomModel.cpp - A seeded random model ----------------------------===//
//
// The same seed gives the same bytes on every machine: integers come from
// splitmix64, a normal deviate is a sum of uniform ones, and each value is one
// rounded product, so that neither libm nor fused multiply-adds can differ.
//
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace ckjit;

namespace {
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ull; // splitmix64's increment, 2^64 / golden ratio

uint64_t splitmix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// Standard deviation of the sum of four uniform 16-bit numbers: sqrt((2^32 - 1) / 3).
constexpr double kSumDeviation = 37837.2258;

/// Sum of the four 16-bit parts of `bits`, centred: near normal, deviation kSumDeviation.
int32_t centredSum(uint64_t bits) {
  int32_t sum = int32_t(bits & 0xFFFF) + int32_t(bits >> 16 & 0xFFFF) + int32_t(bits >> 32 & 0xFFFF) +
                int32_t(bits >> 48);
  return sum - 2 * 0xFFFF;
}

/// A value is (centredSum + shift) * factor.
struct Distribution {
  int32_t shift;
  float factor;
};

Distribution normal(double deviation) { return {0, static_cast<float>(deviation / kSumDeviation)}; }
/// Mean `mean`, deviation a fifth of it.
Distribution around(double mean) {
  return {static_cast<int32_t>(5 * kSumDeviation), static_cast<float>(mean / (5 * kSumDeviation))};
}

/// Unit variance is kept through the layers; the last gamma makes logits of deviation 3, so that the largest
/// of some thousands is of order 10.
Distribution distributionOf(StringRef name, const ModelConfig &config) {
  double hidden = static_cast<double>(config.hiddenSize), intermediate = static_cast<double>(config.intermediateSize);
  return StringSwitch<Distribution>(name)
      .Case("token_emb", normal(1.0))
      .Case("pos_emb", normal(0.5))
      .Cases({"ln1_gamma", "ln2_gamma"}, around(1.0))
      .Cases({"wq", "wk", "wv", "wo", "w1"}, normal(1.0 / std::sqrt(hidden)))
      .Case("w2", normal(1.0 / std::sqrt(intermediate)))
      .Case("final_ln_weight", around(3.0 / std::sqrt(hidden)))
      .Default(normal(0.1)); // biases
}

/// Hands elements on in pieces. After an error it takes no more.
class Pieces {
public:
  explicit Pieces(TensorSink sink) : sink(sink) { pending.reserve(kPieceElements); }

  void append(float value) {
    pending.push_back(value);
    ++count;
    if (pending.size() == kPieceElements)
      flush();
  }
  void appendZerosUpTo(int64_t position) {
    while (count < position)
      append(0.0f);
  }
  bool failed() { return static_cast<bool>(failure); }
  Error finish() {
    flush();
    return std::move(failure);
  }

private:
  static constexpr size_t kPieceElements = size_t(1) << 16;

  void flush() {
    if (!failed())
      failure = sink(pending);
    pending.clear();
  }

  TensorSink sink;
  std::vector<float> pending;
  int64_t count = 0;
  Error failure = Error::success();
};

Error produceTensor(const TensorSpec &spec, const Distribution &distribution, uint64_t state, TensorSink sink) {
  Pieces pieces(sink);
  spec.forEachLogicalRun([&](int64_t first, int64_t count) {
    if (pieces.failed())
      return;
    pieces.appendZerosUpTo(first);
    for (int64_t i = 0; i < count; ++i) {
      state += kGolden;
      pieces.append(static_cast<float>(centredSum(splitmix(state)) + distribution.shift) * distribution.factor);
    }
  });
  if (!pieces.failed())
    pieces.appendZerosUpTo(spec.elements());
  return pieces.finish();
}
} // namespace

Error ckjit::produceRandomTensor(const TensorSpec &spec, size_t index, const ModelConfig &config, uint64_t seed,
                                 TensorSink sink) {
  // Each tensor has a stream of its own, far from the others.
  uint64_t state = splitmix(splitmix(seed + kGolden) + (index + 1) * kGolden);
  return produceTensor(spec, distributionOf(spec.name, config), state, sink);
}

Error ckjit::writeRandomModel(StringRef path, const ModelConfig &config, uint64_t seed,
                              function_ref<void(int64_t, int64_t)> progress, BumpKind kind) {
  if (Error error = validateConfig(config, path))
    return error;
  int64_t total = 0, done = 0;
  for (const TensorSpec &spec : weightTensors(config))
    total = checkedAdd(total, spec.elements()).value_or(std::numeric_limits<int64_t>::max());
  size_t index = 0;
  auto produce = [&](const TensorSpec &spec, TensorSink sink) {
    if (progress)
      progress(done, total);
    done += spec.elements();
    return produceRandomTensor(spec, index++, config, seed, sink);
  };
  return writeBumpInPieces(path, config, produce, kind);
}
