//===- BlockCodecTest.cpp - Weights out of their blocks, bit for bit ------===//
#include "Support/SharedData.h"
#include "Support/SplitMix.h"
#include "TestFiles.h"
#include "ckjit/Weights/BlockCodec.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace ckjit;
using namespace ckjit::test;

namespace {
/// SHA-256 of floats as they stand in memory.
std::string digest(const std::vector<float> &values) {
  auto bytes = llvm::ArrayRef(reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(float));
  return llvm::toHex(llvm::SHA256::hash(bytes), /*LowerCase=*/true);
}

/// Where halves stand in a block.
std::vector<size_t> halvesOf(DType type) {
  switch (type) {
  case DType::FP16: case DType::Q4_0: case DType::Q5_0: case DType::Q8_0: return {0};
  case DType::Q4_1: case DType::Q5_1: case DType::Q4_K: return {0, 2};
  case DType::Q6_K: return {208};
  default: return {};
  }
}

/// Random bytes, but exponents without their top bit, so that all is finite.
std::vector<uint8_t> randomBlocks(DType type, size_t count) {
  const WeightFormat &format = formatOf(type);
  SplitMix random(1000 + static_cast<int>(type));
  std::vector<uint8_t> bytes(count * format.bytes);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = random.next();
    std::memcpy(&bytes[i], &word, std::min<size_t>(8, bytes.size() - i));
  }
  for (size_t b = 0; b < count; ++b) {
    for (size_t half : halvesOf(type))
      bytes[b * format.bytes + half + 1] &= 0xBF;
    if (type == DType::BF16 || type == DType::FP32)
      bytes[b * format.bytes + format.bytes - 1] &= 0xBF;
  }
  return bytes;
}

std::vector<float> decoded(DType type, const std::vector<uint8_t> &bytes) {
  const WeightFormat &format = formatOf(type);
  std::vector<float> values(bytes.size() / format.bytes * format.elements);
  dequantize(type, bytes, values);
  return values;
}
void putHalf(std::vector<uint8_t> &bytes, size_t at, uint16_t half) {
  bytes[at] = half & 0xFF;
  bytes[at + 1] = half >> 8;
}
} // namespace

TEST_CASE("halves: values and rounding worked out by hand") {
  const std::pair<uint16_t, float> exact[] = {
      {0x0000, 0.0f},     {0x3C00, 1.0f},       {0xC000, -2.0f},   {0x7BFF, 65504.0f}, {0x0001, 0x1p-24f},
      {0x03FF, 0x3FFp-24f}, {0x0400, 0x1p-14f}, {0x3555, 0x555p-12f}, {0x7C00, INFINITY}, {0xFC00, -INFINITY}};
  for (auto [half, value] : exact) {
    CHECK(halfToFloat(half) == value);
    CHECK(floatToHalf(value) == half);
  }
  CHECK(std::signbit(halfToFloat(0x8000)));
  CHECK(floatToHalf(-0.0f) == 0x8000);
  CHECK(std::isnan(halfToFloat(0x7C01)));
  CHECK((floatToHalf(NAN) & 0x7FFF) > 0x7C00);
  const std::pair<float, uint16_t> rounded[] = {
      {1.0f + 0x1p-11f, 0x3C00},        // half way: to even
      {1.0f + 0x3p-11f, 0x3C02},        // half way: to even, upwards
      {1.0f + 0x1.002p-11f, 0x3C01},    // just above half way
      {65519.996f, 0x7BFF},             {65520.0f, 0x7C00},
      {0x1p-25f, 0x0000},               {0x1.000002p-25f, 0x0001},
      {0x3p-25f, 0x0002},               {0x1.FFFp-15f, 0x0400},
      {-0x1p-149f, 0x8000},             {3.4e38f, 0x7C00}};
  for (auto [value, half] : rounded)
    CHECK(floatToHalf(value) == half);
}

TEST_CASE("every half goes to a float and back") {
  for (uint32_t half = 0; half < 0x10000; ++half)
    if (floatToHalf(halfToFloat(static_cast<uint16_t>(half))) != (half | ((half & 0x7FFF) > 0x7C00 ? 0x200 : 0)))
      FAIL("half " << half);
}

TEST_CASE("bfloat16: the upper half of an fp32, rounded to even") {
  CHECK(bf16ToFloat(0x3F80) == 1.0f);
  CHECK(bf16ToFloat(0xC2F7) == -123.5f);
  CHECK(bf16ToFloat(0x0001) == 0x1p-133f);
  CHECK(floatToBf16(1.0f + 0x1p-8f) == 0x3F80);
  CHECK(floatToBf16(1.0f + 0x3p-8f) == 0x3F82);
  CHECK(floatToBf16(1.0f + 0x1.002p-8f) == 0x3F81);
  CHECK(floatToBf16(-INFINITY) == 0xFF80);
  CHECK(floatToBf16(3.4028235e38f) == 0x7F80);
  CHECK((floatToBf16(NAN) & 0x7FFF) > 0x7F80);
}

TEST_CASE("blocks of 32 worked out by hand") {
  // d = 0.5, m = -1; byte j is 0xF0 | j: element j is j, element j + 16 is 15. Bits 0, 17 and 31 of qh.
  std::vector<uint8_t> quants(16);
  for (int j = 0; j < 16; ++j)
    quants[j] = static_cast<uint8_t>(0xF0 | j);
  auto block = [&](std::vector<uint8_t> head) {
    head.insert(head.end(), quants.begin(), quants.end());
    return head;
  };
  auto high = [](int i) { return i == 0 || i == 17 || i == 31 ? 16 : 0; };
  std::vector<float> q40 = decoded(DType::Q4_0, block({0x00, 0x38}));
  std::vector<float> q41 = decoded(DType::Q4_1, block({0x00, 0x38, 0x00, 0xBC}));
  std::vector<float> q50 = decoded(DType::Q5_0, block({0x00, 0x38, 0x01, 0x00, 0x02, 0x80}));
  std::vector<float> q51 = decoded(DType::Q5_1, block({0x00, 0x38, 0x00, 0xBC, 0x01, 0x00, 0x02, 0x80}));
  REQUIRE(q40.size() == 32);
  for (int i = 0; i < 32; ++i) {
    int nibble = i < 16 ? i : 15;
    CHECK(q40[i] == 0.5f * (nibble - 8));
    CHECK(q41[i] == 0.5f * nibble - 1.0f);
    CHECK(q50[i] == 0.5f * (nibble + high(i) - 16));
    CHECK(q51[i] == 0.5f * (nibble + high(i)) - 1.0f);
  }
  std::vector<uint8_t> q8 = {0x00, 0x38};
  for (int i = 0; i < 32; ++i)
    q8.push_back(static_cast<uint8_t>(8 * i));
  for (int i = 0; i < 32; ++i)
    CHECK(decoded(DType::Q8_0, q8)[i] == 0.5f * (i < 16 ? 8 * i : 8 * i - 256));
}

TEST_CASE("scales of q4_k blocks: six bits each, worked out by hand") {
  // d = 1, dmin = 0.25; scales 1, 2, 33, 63, 17, 48, 5, 62 and offsets 3, 40, 0, 63, 31, 16, 59, 1.
  const int scales[] = {1, 2, 33, 63, 17, 48, 5, 62}, offsets[] = {3, 40, 0, 63, 31, 16, 59, 1};
  std::vector<uint8_t> block(144);
  putHalf(block, 0, 0x3C00);
  putHalf(block, 2, 0x3400);
  const uint8_t packed[] = {0x41, 0xC2, 0x21, 0xFF,  // scales 0-3, above them bits 4, 5 of scales 4-7: 1, 3, 0, 3
                            0x43, 0x68, 0xC0, 0x3F,  // offsets 0-3, bits 4, 5 of offsets 4-7: 1, 1, 3, 0
                            0xF1, 0x00, 0xB5, 0x1E}; // low nibbles: scales and offsets 4-7
  std::memcpy(&block[4], packed, 12);
  for (int i = 0; i < 128; ++i)
    block[16 + i] = static_cast<uint8_t>((i % 16) | (15 - i % 16) << 4);
  std::vector<float> values = decoded(DType::Q4_K, block);
  for (int i = 0; i < 256; ++i) {
    int group = i / 32, quant = group % 2 ? 15 - i % 16 : i % 16;
    INFO("weight " << i);
    CHECK(values[i] == static_cast<float>(scales[group] * quant) - 0.25f * static_cast<float>(offsets[group]));
  }
}

TEST_CASE("q6_k blocks: where the bits of four weights stand") {
  // d = 1, scale of 16 weights j is j - 8. Weight 128h + 32r + l has quant 8l + r + 4h, cut to 6 bits.
  std::vector<uint8_t> block(210);
  auto quant = [](int h, int r, int l) { return (8 * l + r + 4 * h) % 64; };
  for (int h = 0; h < 2; ++h)
    for (int l = 0; l < 32; ++l) {
      block[64 * h + l] = static_cast<uint8_t>(quant(h, 0, l) % 16 + quant(h, 2, l) % 16 * 16);
      block[64 * h + 32 + l] = static_cast<uint8_t>(quant(h, 1, l) % 16 + quant(h, 3, l) % 16 * 16);
      block[128 + 32 * h + l] = static_cast<uint8_t>(quant(h, 0, l) / 16 + quant(h, 1, l) / 16 * 4 +
                                                     quant(h, 2, l) / 16 * 16 + quant(h, 3, l) / 16 * 64);
    }
  for (int j = 0; j < 16; ++j)
    block[192 + j] = static_cast<uint8_t>(j - 8);
  putHalf(block, 208, 0x3C00);
  std::vector<float> values = decoded(DType::Q6_K, block);
  for (int i = 0; i < 256; ++i) {
    INFO("weight " << i);
    CHECK(values[i] == static_cast<float>((i / 16 - 8) * (quant(i / 128, i % 128 / 32, i % 32) - 32)));
  }
}

TEST_CASE("random blocks of every format decode to what another reader gets") {
  // Digests by a separate program (Python, struct's own halves), in double precision rounded once.
  struct Row {
    DType type;
    size_t blocks;
    const char *sha256;
  };
  const Row rows[] = {
    {DType::FP32, 2000, "0b6a5939a5648fc9bfb41e7a1e51d945548e1a523a691b7e621badbdec0a8a14"},
    {DType::BF16, 2000, "43fd6cbf15a67cf7a1b8c9b8ccd2c0e185e30d2cc239691cfbc792ff8799de1d"},
    {DType::FP16, 2000, "9d4557dbe9666c79cca3737ecc59405be967ffbe7a2ab942031a01ea9525e282"},
    {DType::Q4_0, 40, "f19a1d96d110a61b224231e0ef02063a451477d2a13b0690166144e21f9da386"},
    {DType::Q4_1, 40, "dca5cf88bc6e6af623f8b49000cb77cb1ce66fc001cf64cf1376efcb647012a5"},
    {DType::Q4_K, 40, "a275d586e145f8c06abe2a82ae4ad173c10dd0ea33549808a03ad635e55fc3c2"},
    {DType::Q6_K, 40, "827ecbbcda2077eb5570052bb397715910086e95eb27a45617437eec18d51ec3"},
    {DType::Q8_0, 40, "f801d6a30112188175cd0ec4febe4333236e0edb56a766f049fa6d80ae19941a"},
    {DType::Q5_0, 40, "647a4e48523483d70ceb1c2bb0c92db74f32e5fab9bc584bbaff3208cf6712d5"},
    {DType::Q5_1, 40, "06ee5015b0e5776662a0bf15cdc4f96773b0baab698adb95cc4cad04ee50be18"},
  };
  CHECK(std::size(rows) == weightFormats().size());
  for (const Row &row : rows) {
    INFO(dtypeName(row.type).str());
    CHECK(digest(decoded(row.type, randomBlocks(row.type, row.blocks))) == row.sha256);
  }
}

TEST_CASE("NaN and Inf in a scale stay in their block") {
  for (const WeightFormat &format : weightFormats())
    for (size_t half : halvesOf(format.type))
      for (uint16_t bad : {0x7C00, 0xFC00, 0x7C01, 0xFFFF}) {
        std::vector<uint8_t> bytes = randomBlocks(format.type, 3);
        std::vector<float> good = decoded(format.type, bytes);
        putHalf(bytes, format.bytes + half, bad);
        std::vector<float> values = decoded(format.type, bytes);
        size_t n = format.elements, wrong = 0;
        for (size_t i = 0; i < values.size(); ++i) {
          if (i / n == 1)
            wrong += !std::isfinite(values[i]);
          else if (std::memcmp(&values[i], &good[i], sizeof(float)) != 0)
            FAIL(format.name.str() << " weight " << i);
        }
        CHECK(wrong > 0);
      }
}

TEST_CASE("quantized files of another writer decode to what another reader gets") {
  // SHA-256 over all tensors in file order as fp32, a quantized wo as [H][aD][ad]; by a separate program (Python).
  const std::pair<const char *, const char *> cases[] = {
      {"e_q4k", "b6934c8749c9e9ce3111fb2bf24ae1e6f78d271ad4b43d373ce9d4da661a6a78"},
      {"f_q6k", "994153ec07079c88b6f022e59569af768d66270e69c8352b3e21852e335c15d7"},
      {"g_mixed", "3439c5bc3ecdd09c51ceae9426c9dd76e3d46e3d8c05321dbfb2050951be950f"}};
  for (auto [name, sha256] : cases) {
    std::string path = sharedPath(std::string("golden/") + name + "/model.bump");
    if (path.empty())
      return;
    auto file = llvm::cantFail(BumpFile::open(path));
    std::vector<float> all;
    for (size_t i = 0; i < file->tensors.size(); ++i) {
      const BumpTensor &tensor = file->tensors[i];
      std::vector<uint8_t> bytes(tensor.bytes);
      llvm::cantFail(file->readTensor(i, bytes.data(), bytes.size()));
      size_t before = all.size();
      all.resize(before + tensor.spec.elements());
      llvm::Error error = dequantizeTensor(tensor.spec, tensor.dtype, bytes, llvm::MutableArrayRef(all).drop_front(before));
      REQUIRE(llvm::toString(std::move(error)) == "");
    }
    INFO(name);
    CHECK(digest(all) == sha256);
  }
}

TEST_CASE("a quantized wo comes out head by head, worked out by hand") {
  // 2 heads of 16 lanes in rows of 32: row r is one block with d = r + 1 and quants 0 to 31.
  ModelConfig config{.numLayers = 1, .hiddenSize = 32, .intermediateSize = 32, .numHeads = 2, .numKVHeads = 1,
                     .vocabSize = 2, .contextWindow = 2};
  WeightTypes types(18, DType::FP32);
  types[10] = DType::Q8_0;
  TensorSpec wo = weightTensors(config, types)[10];
  REQUIRE(wo.name == "wo");
  std::vector<uint8_t> bytes;
  for (int r = 0; r < 32; ++r) {
    uint16_t half = floatToHalf(static_cast<float>(r + 1));
    bytes.insert(bytes.end(), {uint8_t(half & 0xFF), uint8_t(half >> 8)});
    for (int c = 0; c < 32; ++c)
      bytes.push_back(static_cast<uint8_t>(c));
  }
  std::vector<float> values(32 * 32);
  REQUIRE(llvm::toString(dequantizeTensor(wo, DType::Q8_0, bytes, values)) == "");
  for (int i = 0; i < 32 * 32; ++i) {
    int head = i / 512, out = i / 16 % 32, lane = i % 16;
    if (values[i] != static_cast<float>((out + 1) * (16 * head + lane)))
      FAIL("element " << i << " is " << values[i]);
  }
}

TEST_CASE("tensors of the wrong size are errors") {
  TensorSpec spec = weightTensors({.numLayers = 1, .hiddenSize = 32, .intermediateSize = 32, .numHeads = 2,
                                   .numKVHeads = 1, .vocabSize = 3, .contextWindow = 2})[0];
  std::vector<uint8_t> bytes(3 * 18);
  std::vector<float> values(96);
  auto message = [&](size_t byteCount, size_t valueCount) {
    return llvm::toString(dequantizeTensor(spec, DType::Q4_0, llvm::ArrayRef(bytes).take_front(byteCount),
                                           llvm::MutableArrayRef(values).take_front(valueCount)));
  };
  CHECK(message(54, 96) == "");
  CHECK(message(53, 96) == "token_emb: bytes: found 53, expected 54 as q4_0");
  CHECK(message(54, 95) == "token_emb: values: found 95, expected 96");
}
