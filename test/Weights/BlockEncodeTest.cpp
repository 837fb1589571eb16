//===- BlockEncodeTest.cpp - How well weights are kept in blocks ----------===//
#include "Support/SplitMix.h"
#include "ckjit/Weights/BlockCodec.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace ckjit;
using namespace ckjit::test;

namespace {
std::vector<uint8_t> encoded(DType type, const std::vector<float> &values, Zeros zeros = Zeros::Free) {
  const WeightFormat &format = formatOf(type);
  std::vector<uint8_t> bytes(values.size() / format.elements * format.bytes, 0xCC);
  std::optional<size_t> bad = quantize(type, values, bytes, zeros);
  INFO(format.name.str() << ": value " << bad.value_or(0));
  REQUIRE_FALSE(bad.has_value());
  return bytes;
}
std::vector<float> roundTrip(DType type, const std::vector<float> &values, Zeros zeros = Zeros::Free) {
  std::vector<float> result(values.size());
  dequantize(type, encoded(type, values, zeros), result);
  return result;
}
double squaredError(const std::vector<float> &a, const std::vector<float> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
  return sum;
}
double relativeError(const std::vector<float> &values, const std::vector<float> &kept) {
  return std::sqrt(squaredError(values, kept) / squaredError(values, std::vector<float>(values.size())));
}
std::vector<float> normals(size_t count, uint64_t seed, float deviation = 0.03f) {
  SplitMix random(seed);
  std::vector<float> values(count);
  for (float &v : values)
    v = deviation * random.normal();
  return values;
}
bool blocksWithOffset(DType type) { return type == DType::Q4_1 || type == DType::Q5_1 || type == DType::Q4_K; }

/// Sum of squared errors of plain rounding: the range of each run of `run` weights in equal steps, scales unrounded.
double plainError(const std::vector<float> &values, size_t run, int levels, bool offset) {
  double sum = 0;
  for (size_t at = 0; at < values.size(); at += run) {
    double low = values[at], high = values[at];
    for (size_t i = at; i < at + run; ++i) {
      low = std::min<double>(low, values[i]);
      high = std::max<double>(high, values[i]);
    }
    double extreme = -low > high ? low : high, step = offset ? (high - low) / (levels - 1) : extreme / -(levels / 2);
    for (size_t i = at; i < at + run && step != 0; ++i) {
      double from = offset ? low : 0, quant = std::nearbyint((values[i] - from) / step);
      quant = std::clamp<double>(quant, offset ? 0 : -levels / 2, offset ? levels - 1 : levels / 2 - 1);
      sum += std::pow(values[i] - from - step * quant, 2);
    }
  }
  return sum;
}
} // namespace

TEST_CASE("relative RMS errors of normal weights") {
  // Plain rounding to q4_k gives 7.8 %, to q4_0 8.9 %; fp16 has 11 bits and bf16 8, so 2^-12 and 2^-9 over sqrt(3), less
  // where the fraction is large.
  const std::pair<DType, double> most[] = {{DType::FP32, 0},      {DType::BF16, 0.0018}, {DType::FP16, 0.00022},
                                           {DType::Q4_0, 0.082},  {DType::Q4_1, 0.071},  {DType::Q5_0, 0.041},
                                           {DType::Q5_1, 0.0345}, {DType::Q8_0, 0.006},  {DType::Q4_K, 0.0715},
                                           {DType::Q6_K, 0.0175}};
  std::vector<float> values = normals(256 * 400, 1);
  for (auto [type, error] : most) {
    double found = relativeError(values, roundTrip(type, values));
    INFO(dtypeName(type).str() << ": " << found);
    CHECK(found <= error);
  }
}

TEST_CASE("a search never does worse than plain rounding") {
  struct Row {
    DType type;
    size_t run;
    int levels;
    bool offset;
  };
  const Row rows[] = {{DType::Q4_0, 32, 16, false}, {DType::Q4_1, 32, 16, true}, {DType::Q5_0, 32, 32, false},
                      {DType::Q5_1, 32, 32, true},  {DType::Q8_0, 32, 256, false}};
  SplitMix random(5);
  for (const Row &row : rows)
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<float> values = normals(32 * 200, 7 + kind);
      for (size_t i = 0; i < values.size(); ++i) {
        if (kind == 1) // heavy tails
          values[i] *= values[i] * values[i] * 1e4f;
        else if (kind == 2) // one sign
          values[i] = std::fabs(values[i]);
        else if (kind == 3) // one outlier a block
          values[i] *= i % 32 == 9 ? 20.0f : 1.0f;
        else if (kind == 4) // far from 0
          values[i] += 1.0f;
      }
      double found = squaredError(values, roundTrip(row.type, values));
      double plain = plainError(values, row.run, row.levels, row.offset);
      INFO(dtypeName(row.type).str() << ", weights of kind " << kind << ": " << found << ", plain " << plain);
      // Plain rounding as above has scales of any precision; a half is off by up to 2^-11, which far from 0 is much.
      CHECK(found <= plain * (row.type == DType::Q8_0 ? 1.03 : 1.0) + (kind == 4 ? 6400 * std::pow(2e-4, 2) : 0));
    }
}

TEST_CASE("q8_0 worked out by hand") {
  // 127 steps of 1/127 of the largest: d = 0.5, so that weights are half their quants; 0.25 and 0.75 are ties.
  std::vector<float> values(32);
  values[0] = -63.5f;
  values[1] = 1.0f;
  values[2] = 0.25f;
  values[3] = 0.75f;
  values[4] = -0.25f;
  values[5] = -0.7f;
  values[31] = 63.5f;
  std::vector<uint8_t> expected = {0x00, 0x38, 0x81, 2, 0, 2, 0, 0xFF};
  expected.resize(34);
  expected[33] = 127;
  CHECK(encoded(DType::Q8_0, values) == expected);
}

TEST_CASE("what a block holds exactly comes back exactly") {
  // Whole numbers in the format's range, the ends of the range among them.
  struct Row {
    DType type;
    int low, high;
  };
  for (const Row &row : {Row{DType::Q4_0, -8, 7}, Row{DType::Q4_1, -5, 10}, Row{DType::Q5_0, -16, 15},
                         Row{DType::Q5_1, -20, 11}, Row{DType::Q8_0, -127, 127}, Row{DType::Q6_K, -32, 31}}) {
    std::vector<float> values(256);
    for (int i = 0; i < 256; ++i)
      values[i] = static_cast<float>(i % 16 == 0 ? row.low : i % 16 == 1 ? row.high : row.low + i % (row.high - row.low));
    INFO(dtypeName(row.type).str());
    CHECK(roundTrip(row.type, values) == values);
  }
  std::vector<float> q4k(256); // scale 63 of d = 1/64, offset 63 of dmin = 1/16 in every group
  for (int i = 0; i < 256; ++i)
    q4k[i] = 63.0f / 64 * static_cast<float>(i % 16) - 63.0f / 16;
  CHECK(relativeError(q4k, roundTrip(DType::Q4_K, q4k)) < 2e-3);
}

TEST_CASE("zeros, constants and single weights") {
  for (const WeightFormat &format : weightFormats()) {
    INFO(format.name.str());
    std::vector<float> zeros(512);
    for (float v : roundTrip(format.type, zeros))
      REQUIRE((v == 0 && !std::signbit(v)));
    for (float constant : {1.0f, -1.0f, 0.3f, -123.0f}) {
      std::vector<float> same(256, constant);
      for (float v : roundTrip(format.type, same))
        REQUIRE(v == Approx(constant).epsilon(0.01));
    }
    for (size_t at : {0, 31, 32, 100, 255})
      for (float value : {2.5f, -2.5f}) {
        std::vector<float> single(256);
        single[at] = value;
        std::vector<float> kept = roundTrip(format.type, single);
        for (size_t i = 0; i < 256; ++i)
          REQUIRE(std::fabs(kept[i] - single[i]) <= 0.01);
      }
  }
}

TEST_CASE("magnitudes from denormals to the largest that a block holds") {
  for (const WeightFormat &format : weightFormats())
    for (int exponent = -149; exponent <= 100; ++exponent) {
      std::vector<float> values = normals(256, 11, 1.0f);
      for (float &v : values)
        v = std::ldexp(v, exponent);
      std::vector<uint8_t> bytes(256 / format.elements * format.bytes);
      std::vector<float> kept(256);
      std::optional<size_t> bad = quantize(format.type, values, bytes);
      INFO(format.name.str() << " at 2^" << exponent);
      // |v| < 3.5: a seventh of it times 2^16 is a half, and so are weights and the offsets of q4_1 below 2^14 times it.
      bool near = format.type == DType::FP16 || format.type == DType::Q4_1 || format.type == DType::Q5_1;
      bool fits = exponent <= (near ? 14 : 16) || format.type == DType::FP32 || format.type == DType::BF16;
      if (bad) {
        CHECK_FALSE(fits);
        CHECK(*bad < 256);
        continue;
      }
      dequantize(format.type, bytes, kept);
      double error = relativeError(values, kept);
      CHECK(error <= 1.0 + 1e-6); // at worst all are 0
      if (exponent >= -8)
        CHECK(error < 0.1);
    }
}

TEST_CASE("the smallest scale still holds what it can") {
  // Weights around 2^-20 are 16 steps of 2^-24, though a hundredth of them is no half.
  std::vector<float> values = normals(256, 3, 0x1p-20f);
  CHECK(relativeError(values, roundTrip(DType::Q8_0, values)) < 0.03);
  CHECK(relativeError(values, roundTrip(DType::Q6_K, values)) < 0.03);
  CHECK(relativeError(values, roundTrip(DType::Q4_0, values)) < 0.13);
  CHECK(relativeError(values, roundTrip(DType::Q4_K, values)) < 0.13);
}

TEST_CASE("q8_0 cuts nothing off where scales are coarse") {
  // A 127th of 127 * 1.4 * 2^-24 is nearest to the half 2^-24, which reaches 127 * 2^-24 only: the next is taken.
  std::vector<float> values(32);
  for (int i = 0; i < 32; ++i)
    values[i] = static_cast<float>(i - 16) / 16 * 127 * 1.4f * 0x1p-24f;
  std::vector<uint8_t> bytes = encoded(DType::Q8_0, values);
  CHECK((bytes[0] | bytes[1] << 8) == 2);
  std::vector<float> kept = roundTrip(DType::Q8_0, values);
  for (int i = 0; i < 32; ++i)
    CHECK(std::fabs(kept[i] - values[i]) <= 0x1p-24f); // half a step
}

TEST_CASE("what cannot be encoded is found, with its place") {
  for (const WeightFormat &format : weightFormats()) {
    INFO(format.name.str());
    std::vector<uint8_t> bytes(1024 / format.elements * format.bytes);
    for (float bad : {NAN, -NAN, INFINITY, -INFINITY})
      for (size_t at : {0, 31, 300, 1023}) {
        std::vector<float> values = normals(1024, 1);
        values[at] = bad;
        CHECK(quantize(format.type, values, bytes) == at);
      }
    std::vector<float> values = normals(1024, 1);
    values[777] = -3.3e38f;
    values[776] = 3.2e38f;
    if (format.type != DType::FP32 && format.type != DType::BF16)
      CHECK(quantize(format.type, values, bytes) == (format.isQuantized() ? 777 : 776));
    else
      CHECK(quantize(format.type, values, bytes) == std::nullopt);
  }
  std::vector<uint8_t> half(2), block(34);
  CHECK(quantize(DType::FP16, {65519.0f}, half) == std::nullopt);
  CHECK(quantize(DType::FP16, {65520.0f}, half) == 0);
  CHECK(quantize(DType::BF16, {3.4028235e38f}, half) == 0);
  std::vector<float> values(32);
  values[5] = 127 * 65504.0f;
  CHECK(quantize(DType::Q8_0, values, block) == std::nullopt);
  values[5] = 127 * 65520.0f;
  CHECK(quantize(DType::Q8_0, values, block) == 5);
}

TEST_CASE("zeros that must be kept are kept, and at a small cost") {
  for (const WeightFormat &format : weightFormats()) {
    INFO(format.name.str());
    std::vector<float> values = normals(256 * 100, 21);
    for (size_t i = 0; i < values.size(); ++i)
      if (i % 32 >= 24 || i / 256 % 3 == 1)
        values[i] = 0;
    for (size_t i = 0; i < 256 * 5; ++i) // of one sign
      values[i] = i / 256 % 2 ? std::fabs(values[i]) : -std::fabs(values[i]);
    std::vector<float> kept = roundTrip(format.type, values, Zeros::Kept);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] == 0 && kept[i] != 0)
        FAIL(format.name.str() << ": weight " << i << " is " << kept[i]);
    CHECK(relativeError(values, kept) <= 1.25 * relativeError(values, roundTrip(format.type, values)));
    if (blocksWithOffset(format.type)) {
      std::vector<float> free = roundTrip(format.type, values);
      size_t lost = 0;
      for (size_t i = 0; i < values.size(); ++i)
        lost += values[i] == 0 && free[i] != 0;
      CHECK(lost > 0); // else the test proves nothing
    }
    // Where there are none, nothing changes.
    std::vector<float> none = normals(2560, 22);
    for (float &v : none)
      v = v == 0 ? 1e-3f : v;
    CHECK(encoded(format.type, none, Zeros::Kept) == encoded(format.type, none));
  }
}

TEST_CASE("zeros are kept at any magnitude") {
  for (DType type : {DType::Q4_1, DType::Q5_1, DType::Q4_K})
    for (int exponent = -30; exponent <= 12; ++exponent) {
      std::vector<float> values = normals(256, 4, 1.0f);
      for (size_t i = 0; i < 256; ++i)
        values[i] = i % 32 < 8 ? 0.0f : std::ldexp(values[i], exponent);
      std::vector<float> kept = roundTrip(type, values, Zeros::Kept);
      INFO(dtypeName(type).str() << " at 2^" << exponent);
      for (size_t i = 0; i < 256; ++i)
        if (values[i] == 0 && kept[i] != 0)
          FAIL("weight " << i << " is " << kept[i]);
      if (exponent > -10)
        CHECK(relativeError(values, kept) < 0.13);
    }
}

TEST_CASE("blocks don't see their neighbours") {
  for (const WeightFormat &format : weightFormats()) {
    std::vector<float> values = normals(256 * 3, 31);
    std::vector<uint8_t> together = encoded(format.type, values), apart;
    for (size_t at = 0; at < values.size(); at += format.elements) {
      std::vector<uint8_t> one = encoded(format.type, {values.begin() + at, values.begin() + at + format.elements});
      apart.insert(apart.end(), one.begin(), one.end());
    }
    CHECK(together == apart);
  }
}

TEST_CASE("bytes are the same whatever compiler and CPU") {
  // SHA-256 of what g++ without optimization and clang for AVX2 and FMA made alike.
  const std::pair<DType, const char *> rows[] = {
      {DType::FP32, "20086230b9418565b473569375746f4828daa568bfa96b9b32abe110684a44da"},
      {DType::BF16, "5d62c8d85ee28e09f4cc70c011bfffaf6262843060dd9b6d74f51334be275709"},
      {DType::FP16, "58d54ac31e31a9dab87b16909507143db0c05eab7ed2b4d2bba49e7a4f76504f"},
      {DType::Q4_0, "5fe27d8e4b78878420b2d018b8af2b344c8bb33c6480f6a15c75ee1cd48f6c71"},
      {DType::Q4_1, "e5118ed1e160c33a723d24793e7b855c997d5e76e67f99e9bfe357f46056d1fb"},
      {DType::Q5_0, "8d0ef4c7de6c98b8c720f5e554b6b84a4e34eb86b3d45c38a32bdceece4fb6cd"},
      {DType::Q5_1, "f206dc30f13c793f56a313398c886e721e3512b8fc9b296622aaf507ddc3bc9d"},
      {DType::Q8_0, "ea1e69a096e83397ae4fc9f1b1f7f9e728d4fec63c978d95096876af0603952c"},
      {DType::Q4_K, "7317314cb4a3ec56fcdf3596ea410a8085730f2a3a353d9254ef7d0b72f3c996"},
      {DType::Q6_K, "9e40ae5ad973319dc92016d8ad95f1c0470d5551aecc259013a8610f4ee7c014"},
  };
  CHECK(std::size(rows) == weightFormats().size());
  for (auto [type, sha256] : rows) {
    INFO(dtypeName(type).str());
    std::vector<uint8_t> bytes = encoded(type, normals(256 * 50, 77)), kept;
    std::vector<float> values = normals(256 * 50, 79);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = i % 7 == 0 ? 0 : values[i] * values[i] * values[i] * std::ldexp(1.0f, static_cast<int>(i / 256 % 40) - 20);
    kept = encoded(type, values, Zeros::Kept);
    bytes.insert(bytes.end(), kept.begin(), kept.end());
    CHECK(llvm::toHex(llvm::SHA256::hash(bytes), /*LowerCase=*/true) == sha256);
  }
}
