//===- RandomModel.cpp - A seeded random model ----------------------------===//
//
// The same seed gives the same bytes on every machine: integers come from
// splitmix64, a normal deviate is a sum of uniform ones, and each value is one
// rounded product, so that neither libm nor fused multiply-adds can differ.
//
#include "ckjit/Weights/Conversion.h"
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
  /// Value `number` of the stream that begins behind `state`.
  float value(uint64_t state, uint64_t number) const {
    return static_cast<float>(centredSum(splitmix(state + (number + 1) * kGolden)) + shift) * factor;
  }
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
  uint64_t number = 0;
  spec.forEachLogicalRun([&](int64_t first, int64_t count) {
    if (pieces.failed())
      return;
    pieces.appendZerosUpTo(first);
    for (int64_t i = 0; i < count; ++i)
      pieces.append(distribution.value(state, number++));
  });
  if (!pieces.failed())
    pieces.appendZerosUpTo(spec.elements());
  return pieces.finish();
}

/// Each tensor has a stream of its own, far from the others.
uint64_t streamOf(uint64_t seed, size_t index) { return splitmix(splitmix(seed + kGolden) + (index + 1) * kGolden); }

/// Any rows of any tensor: numbers of a stream can be had one by one.
class RandomSource : public WeightSource {
public:
  RandomSource(const ModelConfig &config, uint64_t seed) : config(config), seed(seed) {}

  Error read(size_t index, const TensorSpec &spec, int64_t first, MutableArrayRef<float> values) const override {
    const Distribution distribution = distributionOf(spec.name, config);
    const uint64_t state = streamOf(seed, index);
    std::fill(values.begin(), values.end(), 0.0f);
    if (spec.shape.size() == 1) {
      uint64_t number = 0;
      spec.forEachLogicalRun([&](int64_t start, int64_t count) {
        for (int64_t i = start; i < start + count; ++i)
          values[i] = distribution.value(state, number++);
      });
      return Error::success();
    }
    const int64_t cols = spec.shape.back(), lanes = cols / spec.heads;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()) / cols; ++i)
      for (int64_t h = 0; h < spec.heads; ++h)
        if (std::optional<int64_t> number = firstNumber(spec, first + i, h))
          for (int64_t c = 0; c < spec.logical.back(); ++c)
            values[i * cols + h * lanes + c] = distribution.value(state, *number + c);
    return Error::success();
  }

private:
  /// Where the fp32 file's order has come to at a row's first weight, or at that of one of its heads; none in padding.
  static std::optional<int64_t> firstNumber(const TensorSpec &spec, int64_t row, int64_t head) {
    const size_t rank = spec.shape.size();
    const int64_t rows = spec.shape[rank - 2] / (rank == 2 ? spec.halves : 1), realRows = spec.logical[rank - 2];
    int64_t outer = row / rows + head, inner = row % rows;
    return inner < realRows ? std::optional((outer * realRows + inner) * spec.logical.back()) : std::nullopt;
  }

  const ModelConfig config;
  const uint64_t seed;
};
} // namespace

std::unique_ptr<WeightSource> ckjit::randomSource(const ModelConfig &config, uint64_t seed) {
  return std::make_unique<RandomSource>(config, seed);
}

Error ckjit::produceRandomTensor(const TensorSpec &spec, size_t index, const ModelConfig &config, uint64_t seed,
                                 TensorSink sink) {
  return produceTensor(spec, distributionOf(spec.name, config), streamOf(seed, index), sink);
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
