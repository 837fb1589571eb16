//===- TestFiles.cpp - Files and bytes that the weight tests work on ------===//
#include "TestFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace llvm;

namespace ckjit::test {

void put(std::string &bytes, size_t offset, uint64_t value, size_t size) {
  REQUIRE(offset + size <= bytes.size());
  for (size_t i = 0; i < size; ++i)
    bytes[offset + i] = static_cast<char>(value >> (8 * i));
}

uint64_t get(const std::string &bytes, size_t offset, size_t size) {
  REQUIRE(offset + size <= bytes.size());
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t(static_cast<uint8_t>(bytes[offset + i])) << (8 * i);
  return value;
}

ModelConfig smallConfig() {
  return {.numLayers = 2, .hiddenSize = 24, .intermediateSize = 40, .numHeads = 2, .numKVHeads = 1, .vocabSize = 11,
          .contextWindow = 5, .rmsNormEps = 1e-6f, .ropeTheta = 10000.0f};
}

float smallValue(const TensorSpec &spec, int64_t element) {
  return static_cast<float>(element) + 0.25f * static_cast<float>(spec.layer + 2) + 1000.0f * spec.name.size();
}

std::string smallFile(TempDir &dir) {
  std::string path = dir.file("small.bump");
  REQUIRE(toString(writeBump(path, smallConfig(), [](const TensorSpec &spec, float *dst) {
            spec.forEachLogicalRun([&](int64_t first, int64_t count) {
              for (int64_t i = first; i < first + count; ++i)
                dst[i] = smallValue(spec, i);
            });
          })) == "");
  return readBytes(path);
}

size_t footerBytes(const std::string &bytes) {
  REQUIRE(bytes.substr(bytes.size() - 48, 8) == "BUMPV5MD");
  return 48 + get(bytes, bytes.size() - 40, 8);
}

std::string withoutFooter(const std::string &bytes) { return bytes.substr(0, bytes.size() - footerBytes(bytes)); }

void seal(std::string &bytes) {
  auto digest = SHA256::hash(arrayRefFromStringRef(StringRef(bytes).drop_front(128)));
  std::copy(digest.begin(), digest.end(), bytes.begin() + 64);
}

/// Weights and bytes of a block of each dtype code (SPEC 2.1, 5); codes that no weight has stand as fp32.
static std::pair<size_t, size_t> blockOf(uint8_t code) {
  switch (code) {
  case 1: case 2: return {1, 2};
  case 5: return {32, 18};
  case 6: return {32, 20};
  case 7: return {256, 144};
  case 8: return {256, 210};
  case 9: return {32, 34};
  case 11: return {32, 22};
  case 12: return {32, 24};
  default: return {1, 4};
  }
}

static size_t up16(size_t n) { return (n + 15) / 16 * 16; }

std::string handMadeFile(const ModelConfig &c, function_ref<uint8_t(size_t)> dtype, char fillByte) {
  size_t L = c.numLayers, V = c.vocabSize, D = c.hiddenSize, C = c.contextWindow, H = c.numHeads, K = c.numKVHeads;
  size_t hd = D / H, aD = up16(D), ad = up16(hd), aI = up16(c.intermediateSize), entries = 14 * L + 4;
  std::vector<size_t> elements = {V * aD, C * aD};
  for (size_t l = 0; l < L; ++l)
    for (size_t n : {aD, aD, H * ad * aD, H * ad, K * ad * aD, K * ad, K * ad * aD, K * ad, H * aD * ad, aD,
                     2 * aI * aD, 2 * aI, aD * aI, aD})
      elements.push_back(n);
  elements.insert(elements.end(), {aD, aD});

  std::string bytes = "BUMPWGT3" + std::string(124 + entries, '\0');
  const uint64_t fields[] = {3, 1, L, V, D, C, H, hd};
  for (size_t i = 0; i < 8; ++i)
    put(bytes, 8 + 4 * i, fields[i], 4);
  const uint64_t aligned[] = {aD, ad, up16(C)};
  for (size_t i = 0; i < 3; ++i)
    put(bytes, 40 + 8 * i, aligned[i], 8);
  put(bytes, 128, entries, 4);
  for (size_t i = 0; i < entries; ++i) {
    uint8_t code = dtype(i);
    put(bytes, 132 + i, code, 1);
    auto [weights, blockBytes] = blockOf(code);
    bytes.append(elements[i] / weights * blockBytes, fillByte);
  }
  seal(bytes);
  return bytes;
}

std::string openError(const std::string &path, const BumpOpenOptions &options) {
  Expected<std::unique_ptr<BumpFile>> file = BumpFile::open(path, options);
  return file ? "" : toString(file.takeError());
}

} // namespace ckjit::test
