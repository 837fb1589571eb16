//===- BumpFileTest.cpp - What the writer writes, the reader reads --------===//
#include "TestFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

using namespace ckjit;
using namespace ckjit::test;

namespace {
std::unique_ptr<BumpFile> opened(const std::string &path, const BumpOpenOptions &options = {}) {
  INFO(openError(path, options));
  auto file = BumpFile::open(path, options);
  REQUIRE(static_cast<bool>(file));
  return std::move(*file);
}

std::vector<float> valuesOf(const BumpFile &file, size_t index) {
  std::vector<float> values(file.tensors[index].bytes / 4);
  REQUIRE(llvm::toString(file.readTensor(index, values.data(), file.tensors[index].bytes)) == "");
  return values;
}
float floatAt(const std::string &bytes, size_t offset) {
  float value;
  std::memcpy(&value, bytes.data() + offset, 4);
  return value;
}
} // namespace

TEST_CASE("the writer's bytes are those of SPEC 2.1, read by hand") {
  TempDir dir;
  std::string bytes = smallFile(dir);
  CHECK(bytes.substr(0, 8) == "BUMPWGT3");
  const uint64_t words[] = {3, 1, 2, 11, 24, 5, 2, 12};
  for (size_t i = 0; i < 8; ++i)
    CHECK(get(bytes, 8 + 4 * i, 4) == words[i]);
  CHECK(get(bytes, 40, 8) == 32);
  CHECK(get(bytes, 48, 8) == 16);
  CHECK(get(bytes, 56, 8) == 16);
  CHECK(bytes.substr(96, 32) == std::string(32, '\0'));
  CHECK(get(bytes, 128, 4) == 32);
  CHECK(bytes.substr(132, 32) == std::string(32, '\0'));

  // token_emb [11][32], pos_emb [5][32]; then of layer 0 the two gammas and wq [2][16][32].
  size_t tokenEmb = 164, wq = tokenEmb + 4 * (11 * 32 + 5 * 32 + 2 * 32);
  CHECK(floatAt(bytes, tokenEmb) == 9000.25f);
  CHECK(floatAt(bytes, tokenEmb + 4 * (3 * 32 + 23)) == 9000.25f + 119);
  CHECK(floatAt(bytes, tokenEmb + 4 * (3 * 32 + 24)) == 0.0f);
  CHECK(floatAt(bytes, wq + 4 * (16 * 32 + 11 * 32 + 2)) == 2000.5f + 866);
  CHECK(floatAt(bytes, wq + 4 * (12 * 32)) == 0.0f);

  size_t perLayer = 2 * 32 + (2 + 1 + 1) * (16 * 32 + 16) + 2 * 32 * 16 + 32 + 96 * 32 + 96 + 32 * 48 + 32;
  size_t tensorsEnd = tokenEmb + 4 * (11 * 32 + 5 * 32 + 2 * perLayer + 2 * 32);
  CHECK(floatAt(bytes, tensorsEnd - 4 * 32) == 13000.25f);
  auto payload = llvm::SHA256::hash(llvm::arrayRefFromStringRef(llvm::StringRef(bytes).slice(128, tensorsEnd)));
  CHECK(bytes.substr(64, 32) == llvm::toStringRef(payload).str());

  // The footer: JSON, magic, its length, its SHA-256.
  std::string json = bytes.substr(tensorsEnd, bytes.size() - 48 - tensorsEnd);
  CHECK(bytes.substr(bytes.size() - 48, 8) == "BUMPV5MD");
  CHECK(get(bytes, bytes.size() - 40, 8) == json.size());
  auto jsonDigest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(json));
  CHECK(bytes.substr(bytes.size() - 32) == llvm::toStringRef(jsonDigest).str());
  CHECK_THAT(json, Catch::Contains("\"num_key_value_heads\": 1") && Catch::Contains("\"intermediate_size\": 40"));
}

TEST_CASE("a written file opens with its config and gives every element back") {
  TempDir dir;
  smallFile(dir);
  auto file = opened(dir.file("small.bump"));
  CHECK(file->kind == BumpKind::V3);
  CHECK(file->config == smallConfig());
  CHECK(file->configSource == "footer");
  CHECK(file->checksum == ChecksumState::Ok);
  CHECK(file->fileBytes == readBytes(dir.file("small.bump")).size());
  CHECK(file->header.headDim == 12);
  REQUIRE(file->tensors.size() == 32);
  CHECK(file->tensors[0].fileOffset == 164);
  for (size_t t = 0; t < file->tensors.size(); ++t) {
    const TensorSpec &spec = file->tensors[t].spec;
    INFO(spec.name << " of layer " << spec.layer);
    std::vector<float> expected(spec.elements());
    spec.forEachLogicalRun([&](int64_t first, int64_t count) {
      for (int64_t i = first; i < first + count; ++i)
        expected[i] = smallValue(spec, i);
    });
    CHECK(valuesOf(*file, t) == expected);
  }
}

TEST_CASE("readTensor stops at maxBytes and knows its tensors") {
  TempDir dir;
  smallFile(dir);
  auto file = opened(dir.file("small.bump"));
  std::vector<float> values(8, -1.0f);
  REQUIRE(llvm::toString(file->readTensor(0, values.data(), 12)) == "");
  CHECK(values == std::vector<float>{9000.25f, 9001.25f, 9002.25f, -1, -1, -1, -1, -1});
  CHECK_THAT(llvm::toString(file->readTensor(32, values.data(), 4)), Catch::Contains("tensor index: found 32"));
}

TEST_CASE("a file that shrinks after it was opened is an error, not a crash") {
  TempDir dir;
  std::string bytes = smallFile(dir);
  auto file = opened(dir.file("small.bump"));
  writeBytes(dir.file("small.bump"), bytes.substr(0, 200));
  std::vector<float> values(11 * 32);
  CHECK_THAT(llvm::toString(file->readTensor(0, values.data(), values.size() * 4)),
             Catch::Contains("small.bump") && Catch::Contains("end at byte 200"));
}

TEST_CASE("BUMPWGT2 is BUMPWGT3 without a table") {
  TempDir dir;
  std::string v3 = withoutFooter(smallFile(dir)), v2 = v3.substr(0, 128) + v3.substr(164);
  put(v2, 7, '2', 1);
  put(v2, 8, 2, 4);
  seal(v2);
  writeBytes(dir.file("v2.bump"), v2);
  writeBytes(dir.file("config.json"), writeModelConfig(smallConfig()));
  auto file = opened(dir.file("v2.bump")), original = opened(dir.file("small.bump"));
  CHECK(file->kind == BumpKind::V2);
  CHECK(file->checksum == ChecksumState::Ok);
  CHECK(file->tensors[0].fileOffset == 128);
  for (size_t t = 0; t < original->tensors.size(); ++t)
    CHECK(valuesOf(*file, t) == valuesOf(*original, t));

  SECTION("its checksum may be absent") {
    std::fill_n(v2.begin() + 64, 32, '\0');
    writeBytes(dir.file("v2.bump"), v2);
    CHECK(opened(dir.file("v2.bump"))->checksum == ChecksumState::Absent);
  }
  SECTION("its checksum is checked") {
    v2[3000] ^= 1;
    writeBytes(dir.file("v2.bump"), v2);
    CHECK_THAT(openError(dir.file("v2.bump")), Catch::Contains("checksum"));
  }
  SECTION("its version is 2") {
    put(v2, 8, 3, 4);
    writeBytes(dir.file("v2.bump"), v2);
    CHECK_THAT(openError(dir.file("v2.bump")), Catch::Contains("header version: found 3, expected 2"));
  }
  SECTION("its size is exact") {
    writeBytes(dir.file("v2.bump"), v2 + "x");
    CHECK_THAT(openError(dir.file("v2.bump")), Catch::Contains("bytes of tensor data"));
  }
}

TEST_CASE("a headerless file needs --raw and then gives the same tensors") {
  TempDir dir;
  std::string raw = withoutFooter(smallFile(dir)).substr(164);
  writeBytes(dir.file("raw.bin"), raw);
  writeBytes(dir.file("config.json"), writeModelConfig(smallConfig()));
  CHECK_THAT(openError(dir.file("raw.bin")), Catch::Contains("raw.bin: magic: found") && Catch::Contains("--raw"));
  auto file = opened(dir.file("raw.bin"), {.allowRaw = true}), original = opened(dir.file("small.bump"));
  CHECK(file->kind == BumpKind::Raw);
  CHECK(file->checksum == ChecksumState::Absent);
  CHECK(file->tensors[0].fileOffset == 0);
  for (size_t t = 0; t < original->tensors.size(); ++t)
    CHECK(valuesOf(*file, t) == valuesOf(*original, t));

  writeBytes(dir.file("raw.bin"), raw.substr(1));
  CHECK_THAT(openError(dir.file("raw.bin"), {.allowRaw = true}), Catch::Contains("bytes of tensor data"));
}

TEST_CASE("--raw doesn't change how a file with a magic is read") {
  TempDir dir;
  smallFile(dir);
  CHECK(opened(dir.file("small.bump"), {.allowRaw = true})->kind == BumpKind::V3);
}

TEST_CASE("the checksum is checked on demand and can be left out") {
  TempDir dir;
  std::string bytes = smallFile(dir);
  bytes[5000] ^= 4;
  writeBytes(dir.file("flipped.bump"), bytes);
  CHECK_THAT(openError(dir.file("flipped.bump")), Catch::Contains("checksum"));
  CHECK_THAT(openError(dir.file("flipped.bump"), {.verifyChecksum = true}), Catch::Contains("checksum"));
  CHECK(opened(dir.file("flipped.bump"), {.verifyChecksum = false})->checksum == ChecksumState::NotChecked);
}

TEST_CASE("a check that is told to stop ends with what told it") {
  TempDir dir;
  const std::string path = dir.file("s.bump");
  writeBytes(path, smallFile(dir));
  BumpOpenOptions options;
  uint64_t heard = 0;
  options.progress = [&](uint64_t done, uint64_t total) {
    heard = done;
    return done <= total ? llvm::createStringError("enough") : llvm::Error::success();
  };
  llvm::Expected<std::unique_ptr<BumpFile>> file = BumpFile::open(path, options);
  REQUIRE_FALSE(static_cast<bool>(file));
  CHECK(llvm::toString(file.takeError()) == "enough");
  CHECK(heard > 0);
}

TEST_CASE("files with q4_k and q6_k tensors are described") {
  // D 256, H*ad 256, I 256: the block rules hold.
  ModelConfig config{.numLayers = 1, .hiddenSize = 256, .intermediateSize = 256, .numHeads = 4, .numKVHeads = 1,
                     .vocabSize = 3, .contextWindow = 2};
  TempDir dir;
  writeBytes(dir.file("config.json"), writeModelConfig(config));
  // token_emb q6_k, wq q4_k, wo q4_k, w2 q6_k; positions in the table: 0, 2 + 2, 2 + 8, 2 + 12.
  auto dtype = [](size_t i) -> uint8_t { return i == 0 || i == 14 ? 8 : i == 4 || i == 10 ? 7 : 0; };
  writeBytes(dir.file("mixed.bump"), handMadeFile(config, dtype, '\x11'));
  auto file = opened(dir.file("mixed.bump"));
  const std::vector<BumpTensor> &tensors = file->tensors;
  CHECK(tensors[0].dtype == DType::Q6_K);
  CHECK(tensors[0].bytes == 3 * 210);
  CHECK(tensors[1].fileOffset == 132 + 18 + 3 * 210);
  CHECK(tensors[4].spec.name == "wq");
  CHECK(tensors[4].bytes == 256 * 144);
  CHECK(tensors[10].spec.shape == llvm::SmallVector<int64_t, 3>{256, 256});
  CHECK(tensors[14].bytes == 256 * 210);
  CHECK(tensors[17].fileOffset + tensors[17].bytes == file->fileBytes);
  CHECK(llvm::cantFail(file->findNonFinite()) == std::nullopt);

  SECTION("a scale that isn't finite is found") {
    std::string bytes = readBytes(dir.file("mixed.bump"));
    put(bytes, tensors[4].fileOffset + 5 * 144 + 2, 0x7C00, 2); // dmin of block 5
    seal(bytes);
    writeBytes(dir.file("mixed.bump"), bytes);
    CHECK(llvm::cantFail(opened(dir.file("mixed.bump"))->findNonFinite()) ==
          "layer 0 wq, offset of block 5 of 256 is inf");
  }
}

TEST_CASE("a number that isn't finite in a block of every format is found") {
  struct Row {
    int code;
    size_t weights, bytes, offset; // of the number in its block
    bool bf16;
    const char *what;
  };
  const Row rows[] = {{1, 1, 2, 0, true, "element"},    {2, 1, 2, 0, false, "element"},   {5, 32, 18, 0, false, "scale"},
                      {6, 32, 20, 0, false, "scale"},   {6, 32, 20, 2, false, "offset"},  {7, 256, 144, 0, false, "scale"},
                      {7, 256, 144, 2, false, "offset"}, {8, 256, 210, 208, false, "scale"}, {9, 32, 34, 0, false, "scale"},
                      {11, 32, 22, 0, false, "scale"},  {12, 32, 24, 0, false, "scale"},  {12, 32, 24, 2, false, "offset"}};
  ModelConfig config{.numLayers = 1, .hiddenSize = 256, .intermediateSize = 256, .numHeads = 4, .numKVHeads = 1,
                     .vocabSize = 3, .contextWindow = 2};
  TempDir dir;
  writeBytes(dir.file("config.json"), writeModelConfig(config));
  for (const Row &row : rows) {
    // 0xFF everywhere but in the numbers: bits of quants and 6-bit scales are no matter.
    std::string bytes = handMadeFile(config, [&](size_t i) -> uint8_t { return i == 12 ? row.code : 0; }, 0);
    writeBytes(dir.file("m.bump"), bytes);
    const BumpTensor w1 = opened(dir.file("m.bump"))->tensors[12];
    const size_t blocks = 512 * 256 / row.weights;
    for (size_t b = 0; b < blocks; ++b)
      for (size_t i = 0; i < row.bytes; ++i)
        bytes[w1.fileOffset + b * row.bytes + i] = '\xFF';
    for (const Row &number : rows)
      for (size_t b = 0; number.code == row.code && b < blocks; ++b)
        put(bytes, w1.fileOffset + b * row.bytes + number.offset, 0x3C00, 2);
    auto found = [&] {
      writeBytes(dir.file("m.bump"), bytes);
      return llvm::cantFail(opened(dir.file("m.bump"), {.verifyChecksum = false})->findNonFinite());
    };
    INFO("dtype " << row.code << ", byte " << row.offset);
    CHECK(found() == std::nullopt);
    const std::pair<uint64_t, const char *> values[] = {
        {row.bf16 ? 0x7F80 : 0x7C00, "inf"}, {row.bf16 ? 0xFF80 : 0xFC00, "-inf"}, {row.bf16 ? 0x7F81 : 0x7C01, "nan"}};
    for (size_t block : {size_t(0), size_t(17), blocks - 1})
      for (auto [bits, name] : values) {
        put(bytes, w1.fileOffset + block * row.bytes + row.offset, bits, 2);
        std::string where = std::string(row.what) + (row.weights == 1 ? " " : " of block ") + std::to_string(block);
        CHECK(found() == "layer 0 w1, " + where + " of " + std::to_string(blocks) + " is " + name);
        put(bytes, w1.fileOffset + block * row.bytes + row.offset, 0x3C00, 2);
      }
  }
}

TEST_CASE("NaN and Inf are accepted, and found with tensor and element") {
  TempDir dir;
  auto write = [&](const char *tensor, int layer, int64_t element, float value) {
    REQUIRE(llvm::toString(writeBump(dir.file("m.bump"), smallConfig(), [&](const TensorSpec &spec, float *dst) {
              if (spec.name == tensor && spec.layer == layer)
                dst[element] = value;
            })) == "");
    return llvm::cantFail(opened(dir.file("m.bump"))->findNonFinite());
  };
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(write("wq", 1, 17, std::nanf("")) == "layer 1 wq, element 17 of 1024 is nan");
  CHECK(write("token_emb", -1, 0, inf) == "token_emb, element 0 of 352 is inf");
  CHECK(write("final_ln_bias", -1, 31, -inf) == "final_ln_bias, element 31 of 32 is -inf");
  CHECK(write("bo", 0, 3, std::numeric_limits<float>::max()) == std::nullopt);
}
