//===- QuantizedRun.cpp - Weights in blocks and what they multiply --------===//
#include "QuantizedRun.h"
#include "Support/SplitMix.h"
#include "ckjit/Dialect/CK/CKDialect.h"
#include "ckjit/Weights/BlockCodec.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace llvm;

namespace ckjit::test {

std::vector<TargetDescription> quantizedTargets() {
  __builtin_cpu_init();
  const bool v2 =
      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt");
  const bool haswell = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
                       __builtin_cpu_supports("movbe");
  const bool v4 = haswell && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  std::vector<TargetDescription> targets;
  for (auto [name, runsHere] : {std::pair{"x86-64-v2", v2}, {"haswell", haswell}, {"x86-64-v4", v4}})
    if (runsHere)
      targets.push_back(must(describeTarget(name)));
    else
      WARN("skipped: this machine can't run code for " << name);
  targets.push_back(hostTarget());
  return targets;
}

std::string Mode::text() const {
  return formatv("{0}, {1}, {2}, {3}", target.cpu, dtypeName(type), panels ? "panels" : "rows",
                 int8 ? "int8" : strict ? "strict" : "fp32")
      .str();
}

void forModes(function_ref<void(const Mode &)> check) {
  for (const TargetDescription &target : quantizedTargets())
    for (const WeightFormat &format : weightFormats())
      for (bool panels : {true, false})
        for (auto [int8, strict] : {std::pair{true, false}, {false, false}, {false, true}}) {
          if (format.type == DType::FP32 || (int8 && !format.isQuantized()))
            continue;
          const Mode mode{target, format.type, panels, int8, strict};
          INFO(mode.text());
          check(mode);
        }
}

std::string elementOf(DType type) {
  if (formatOf(type).isQuantized())
    return ("!ck.block<" + formatOf(type).name + ">").str();
  return type == DType::FP32 ? "f32" : type == DType::BF16 ? "bf16" : "f16";
}

/// Bytes of a block's fp16 scales (SPEC 5), none of bf16 and fp16.
static SmallVector<size_t, 2> scalesOf(DType type) {
  switch (type) {
  case DType::Q4_0:
  case DType::Q5_0:
  case DType::Q8_0: return {0};
  case DType::Q4_1:
  case DType::Q5_1:
  case DType::Q4_K: return {0, 2};
  case DType::Q6_K: return {208};
  default: return {};
  }
}

static void writeHalf(uint8_t *at, uint16_t half) {
  at[0] = static_cast<uint8_t>(half);
  at[1] = static_cast<uint8_t>(half >> 8);
}

void setScale(DType type, uint8_t *bytes, uint16_t half) {
  const SmallVector<size_t, 2> scales = scalesOf(type);
  writeHalf(bytes + (scales.empty() ? 0 : scales[0]), half);
}

static void fillBlock(DType type, MutableArrayRef<uint8_t> block, Blocks blocks, SplitMix &rng) {
  if (!formatOf(type).isQuantized()) {
    const float value = rng.chance(10) ? 0.0f : rng.normal();
    if (type == DType::FP32)
      return void(std::memcpy(block.data(), &value, sizeof(value)));
    return writeHalf(block.data(), type == DType::BF16 ? floatToBf16(value) : floatToHalf(value));
  }
  const uint64_t kind = blocks == Blocks::Least ? 1 : blocks == Blocks::Most ? 2 : rng.below(12);
  const uint8_t least = type == DType::Q8_0 ? 0x80 : 0, most = type == DType::Q8_0 ? 0x7F : 0xFF;
  for (uint8_t &byte : block)
    byte = kind == 0 ? 0 : kind == 1 ? least : kind == 2 ? most : static_cast<uint8_t>(rng.next());
  // Sub-scales of the k-quants at an end too, where all bytes are: a scale of zero hides the codes.
  if (kind == 1 && type == DType::Q4_K)
    std::fill_n(block.begin() + 4, 12, uint8_t(0xFF));
  if (kind == 1 && type == DType::Q6_K)
    std::fill_n(block.begin() + 192, 16, uint8_t(0x80));
  for (size_t at : scalesOf(type)) {
    const double sign = rng.chance(50) ? 1 : -1;
    const double scale = kind == 0 ? 0 : kind == 3 ? 0x1p-24 : kind == 4 ? 40 : 0.002 + 0.001 * std::abs(rng.normal());
    writeHalf(&block[at], floatToHalf(static_cast<float>(sign * scale)));
  }
}

void fillBlocks(DType type, MutableArrayRef<uint8_t> bytes, Blocks blocks, uint64_t seed) {
  SplitMix rng(seed);
  for (const size_t size = static_cast<size_t>(formatOf(type).bytes); !bytes.empty(); bytes = bytes.drop_front(size))
    fillBlock(type, bytes.take_front(size), blocks, rng);
}

TokenCodes quantizedToken(ArrayRef<float> x, int64_t block) {
  TokenCodes token;
  for (; !x.empty(); x = x.drop_front(static_cast<size_t>(block))) {
    double largest = 0;
    for (float value : x.take_front(static_cast<size_t>(block)))
      largest = std::max(largest, std::abs(static_cast<double>(value)));
    const double scale = static_cast<double>(static_cast<float>(largest / 127));
    for (float value : x.take_front(static_cast<size_t>(block))) {
      const double quotient = largest > 0 ? static_cast<double>(value) * 127 / largest : 0;
      // A code comes from a few fp32 operations: beside the middle of two codes it may be either.
      const double fromMiddle = std::abs(std::abs(quotient - std::floor(quotient)) - 0.5);
      token.values.push_back(scale * std::nearbyint(quotient));
      token.slack.push_back(fromMiddle != 0 && fromMiddle < 127 * 4 * kRounding ? scale : 0);
    }
  }
  return token;
}

int64_t activationBlock(DType type) {
  static mlir::MLIRContext context;
  context.loadDialect<ck::CKDialect>();
  return ck::BlockType::get(&context, static_cast<ck::Format>(type)).getActivationBlock();
}

Oracle::Oracle(const Mode &mode, ArrayRef<uint8_t> weight, int64_t width) : mode(mode), width(width) {
  const WeightFormat &format = formatOf(mode.type);
  weights.resize(weight.size() / static_cast<size_t>(format.bytes) * static_cast<size_t>(format.elements));
  dequantize(mode.type, weight, weights);
}

Exact Oracle::dot(ArrayRef<float> x, int64_t row) const {
  const float *w = &weights[static_cast<size_t>(row * width)];
  Exact sum;
  if (!mode.int8) {
    for (size_t k = 0; k < x.size(); ++k)
      sum.addProduct(x[k], w[k]);
    return sum;
  }
  const TokenCodes token = quantizedToken(x, activationBlock(mode.type));
  double slack = 0;
  constexpr size_t kGroup = 16;
  for (size_t group = 0; group < x.size(); group += kGroup) {
    // Codes are multiplied by their distance from the least weight, then its part is taken off again: the magnitudes
    // that are rounded are up to three times those of the largest weight.
    double largest = 0, magnitude = 0;
    for (size_t k = group; k < group + kGroup; ++k) {
      sum.value += token.values[k] * static_cast<double>(w[k]);
      magnitude += std::abs(token.values[k]);
      largest = std::max(largest, std::abs(static_cast<double>(w[k])));
      slack += token.slack[k] * std::abs(static_cast<double>(w[k]));
    }
    sum.magnitude += 3 * largest * magnitude;
  }
  sum.magnitude += slack / (kRounding * static_cast<double>(roundings()));
  return sum;
}

int64_t Oracle::roundings() const { return mode.strict ? 1 : mode.int8 ? width / 8 + 4 : width; }

double Oracle::allowed(const Exact &exact, int64_t after) const {
  return exact.allowed(roundings() + after);
}

} // namespace ckjit::test
