//===- MalformedTest.cpp - Every malformed file is one clear error --------===//
#include "AllocationProbe.h"
#include "TestFiles.h"
#include <catch2/catch.hpp>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;

namespace {
/// A good file without footer, its config.json beside it, to be spoilt.
struct Fixture {
  Fixture() : bytes(withoutFooter(smallFile(dir))) {
    writeBytes(dir.file("config.json"), writeModelConfig(smallConfig()));
  }
  /// Opens the bytes as they are now; a message must say the file, what was found and what is expected.
  std::string error(const BumpOpenOptions &options = {}) {
    writeBytes(path, bytes);
    resetLargestAllocation();
    std::string message = openError(path, options);
    // The file's own size, or the buffer that a config.json is read into.
    CHECK(largestAllocation() <= std::max(bytes.size(), size_t(256) << 10));
    if (!message.empty())
      CHECK_THAT(message, Contains(path) && Contains(": found ") && Contains("expected "));
    return message;
  }
  TempDir dir;
  std::string path = dir.file("bad.bump");
  std::string bytes;
};
} // namespace

TEST_CASE_METHOD(Fixture, "the unspoilt file opens") { CHECK(error() == ""); }

TEST_CASE_METHOD(Fixture, "empty and tiny files") {
  for (size_t size : {0, 1, 7}) {
    bytes.resize(size);
    for (bool raw : {false, true})
      CHECK_THAT(error({.allowRaw = raw}), Contains("file size: found " + std::to_string(size) + " bytes") &&
                                               Contains("at least the 8 bytes of the magic BUMPWGT3"));
    bytes.resize(8);
  }
}

TEST_CASE_METHOD(Fixture, "wrong magic") {
  bytes[0] = 'X';
  CHECK_THAT(error(), Contains("magic: found \"XUMPWGT3\", expected BUMPWGT3 or BUMPWGT2") && Contains("--raw"));
  CHECK_THAT(error({.allowRaw = true}), Contains("bytes of tensor data"));
}

TEST_CASE_METHOD(Fixture, "later versions are refused by name, also with --raw") {
  for (char version : {'4', '5', '1', 'X'}) {
    bytes[7] = version;
    for (bool raw : {false, true})
      CHECK_THAT(error({.allowRaw = raw}),
                 Contains(std::string("magic: found \"BUMPWGT") + version + "\"") && Contains("cannot be read"));
  }
}

TEST_CASE_METHOD(Fixture, "version numbers other than 3") {
  for (uint64_t version : {uint64_t(0), uint64_t(2), uint64_t(4), uint64_t(1) << 31}) {
    put(bytes, 8, version, 4);
    CHECK_THAT(error(), Contains("header version: found " + std::to_string(version) + ", expected 3"));
  }
}

TEST_CASE_METHOD(Fixture, "model type and reserved bytes") {
  put(bytes, 12, 2, 4);
  CHECK_THAT(error(), Contains("header model_type: found 2, expected 1"));
  put(bytes, 12, 1, 4);
  put(bytes, 127, 9, 1);
  CHECK_THAT(error(), Contains("header reserved byte 127: found 9, expected 0"));
}

TEST_CASE_METHOD(Fixture, "table lengths") {
  for (uint64_t length : {uint64_t(0), uint64_t(31), uint64_t(33), uint64_t(0xFFFFFFFF)}) {
    put(bytes, 128, length, 4);
    CHECK_THAT(error(), Contains("dtype table length: found " + std::to_string(length) + ", expected 32"));
  }
}

namespace {
/// Names and block lengths of the codes that weights may have (SPEC 2.1, 5).
const std::map<int, std::pair<std::string, int>> kCodes = {
    {0, {"fp32", 1}},  {1, {"bf16", 1}},  {2, {"fp16", 1}},   {5, {"q4_0", 32}},  {6, {"q4_1", 32}},
    {7, {"q4_k", 256}}, {8, {"q6_k", 256}}, {9, {"q8_0", 32}}, {11, {"q5_0", 32}}, {12, {"q5_1", 32}}};
const std::map<int, std::string> kOtherNames = {{3, "int8"}, {4, "int4"}, {10, "q8_k"}};

std::string nameOf(int code) {
  if (auto known = kCodes.find(code); known != kCodes.end())
    return known->second.first;
  auto other = kOtherNames.find(code);
  return other == kOtherNames.end() ? "unknown" : other->second;
}

/// The slots of a layer, and of smallConfig() the length of a quantized row: D 24 (32), H*ad 32, I 40 (48).
struct Slot {
  const char *name;
  int row; ///< 0: must be fp32
};
const Slot kLayerSlots[] = {{"ln1_gamma", 0}, {"ln2_gamma", 0}, {"wq", 32}, {"bq", 0}, {"wk", 32}, {"bk", 0},
                            {"wv", 32},       {"bv", 0},        {"wo", 32}, {"bo", 0}, {"w1", 32}, {"b1", 0},
                            {"w2", 48},       {"b2", 0}};
} // namespace

TEST_CASE_METHOD(Fixture, "every dtype code in every slot") {
  std::vector<std::pair<std::string, int>> slots = {{"token_emb", 32}, {"pos_emb", 0}};
  for (const char *layer : {"layer 0 ", "layer 1 "})
    for (const Slot &slot : kLayerSlots)
      slots.push_back({std::string(layer) + slot.name, slot.row});
  slots.insert(slots.end(), {{"final_ln_weight", 0}, {"final_ln_bias", 0}});
  REQUIRE(slots.size() == 32);
  for (size_t i = 0; i < slots.size(); ++i) {
    auto [label, row] = slots[i];
    for (int code = 1; code < 256; ++code) {
      put(bytes, 132 + i, code, 1);
      std::string message = error(), entry = "dtype table entry " + std::to_string(i) + " (" + label + "): ";
      if (kCodes.count(code) == 0 || row == 0) {
        std::string expected = row == 0 ? "expected 0 (fp32)" : "expected 0 (fp32), 1 (bf16), 2 (fp16), 5 (q4_0), 6 (";
        CHECK_THAT(message, Contains(entry + "found " + std::to_string(code) + " (" + nameOf(code) + "), " + expected));
      } else if (int block = kCodes.at(code).second; row % block != 0) {
        CHECK_THAT(message, Contains("row of " + label + ": found " + std::to_string(row) +
                                     " weights, expected a multiple of " + std::to_string(block) + ", because it is " +
                                     nameOf(code) + "; " + std::to_string(row % block) + " weights are left over"));
      } else {
        // A good table, and the tensors' bytes are then those of another.
        CHECK_THAT(message, Contains("bytes of tensor data: found "));
      }
    }
    put(bytes, 132 + i, 0, 1);
  }
}

TEST_CASE_METHOD(Fixture, "the code by which the seed's converter meant q4_k (D7) has other bytes") {
  ModelConfig wide{.numLayers = 1, .hiddenSize = 256, .intermediateSize = 256, .numHeads = 4, .numKVHeads = 1};
  bytes = handMadeFile(wide, [](size_t i) -> uint8_t { return i == 4 ? 7 : 0; }, 0);
  writeBytes(dir.file("config.json"), writeModelConfig(wide));
  CHECK(error() == "");
  put(bytes, 132 + 4, 6, 1);
  CHECK_THAT(error(), Contains("bytes of tensor data: found "));
}

TEST_CASE_METHOD(Fixture, "rows of each format are whole blocks of its own length") {
  // SmolLM's width: 18 blocks of 32, two of 256 and 64 weights; rows of w2 are a block of either.
  ModelConfig smol{.numLayers = 1, .hiddenSize = 576, .intermediateSize = 256, .numHeads = 9, .numKVHeads = 3,
                   .vocabSize = 3, .contextWindow = 2};
  writeBytes(dir.file("config.json"), writeModelConfig(smol));
  const std::pair<size_t, const char *> rowsOf576[] = {{0, "token_emb"},   {4, "layer 0 wq"},  {6, "layer 0 wk"},
                                                       {8, "layer 0 wv"},  {10, "layer 0 wo"}, {12, "layer 0 w1"}};
  for (auto [slot, label] : rowsOf576)
    for (auto [code, format] : kCodes) {
      bytes = handMadeFile(smol, [&](size_t i) -> uint8_t { return i == slot ? code : 0; }, 0);
      if (format.second == 256)
        CHECK_THAT(error(), Contains(std::string("row of ") + label + ": found 576 weights, expected a multiple of 256, "
                                     "because it is " + format.first + "; 64 weights are left over"));
      else
        CHECK(error() == "");
    }
  for (auto [code, format] : kCodes) {
    bytes = handMadeFile(smol, [&](size_t i) -> uint8_t { return i == 14 ? code : 0; }, 0);
    CHECK(error() == "");
  }
}

TEST_CASE_METHOD(Fixture, "a quantized wo's rows are its heads side by side, however wide the model is") {
  // Heads of 12 lanes, padded to 16: 5 side by side are 80 wide, and the model 60 (64).
  ModelConfig odd{.numLayers = 1, .hiddenSize = 60, .intermediateSize = 64, .numHeads = 5, .numKVHeads = 1};
  writeBytes(dir.file("config.json"), writeModelConfig(odd));
  bytes = handMadeFile(odd, [](size_t i) -> uint8_t { return i == 10 ? 9 : 0; }, 0);
  CHECK_THAT(error(), Contains("row of layer 0 wo: found 80 weights, expected a multiple of 32, because it is q8_0; "
                               "16 weights are left over"));
  // 32 heads of 8 lanes: 512 side by side in a model 256 wide.
  ModelConfig many{.numLayers = 1, .hiddenSize = 256, .intermediateSize = 256, .numHeads = 32, .numKVHeads = 1};
  writeBytes(dir.file("config.json"), writeModelConfig(many));
  bytes = handMadeFile(many, [](size_t i) -> uint8_t { return i == 10 ? 7 : 0; }, 0);
  REQUIRE(error() == "");
  auto file = llvm::cantFail(BumpFile::open(path));
  const BumpTensor &wo = file->tensors[10];
  CHECK(wo.spec.shape == llvm::SmallVector<int64_t, 3>{256, 512});
  CHECK(wo.bytes == 256 * 2 * 144);
  WeightTypes types = file->weightTypes();
  REQUIRE(types.size() == 18);
  CHECK(types[10] == DType::Q4_K);
  CHECK(std::count(types.begin(), types.end(), DType::FP32) == 17);
}

TEST_CASE_METHOD(Fixture, "a file whose tensors are all fp32 has no list of types") {
  REQUIRE(error() == "");
  CHECK(llvm::cantFail(BumpFile::open(path))->weightTypes().empty());
}

TEST_CASE_METHOD(Fixture, "header dims unlike the config") {
  const std::tuple<size_t, size_t, const char *, uint64_t> fields[] = {
      {16, 4, "num_layers", 2},         {20, 4, "vocab_size", 11},       {24, 4, "embed_dim", 24},
      {28, 4, "context length", 5},     {32, 4, "num_heads", 2},         {36, 4, "head_dim", 12},
      {40, 8, "aligned embed_dim", 32}, {48, 8, "aligned head_dim", 16}, {56, 8, "aligned context length", 16}};
  const std::string good = bytes;
  for (auto [offset, size, name, right] : fields)
    for (uint64_t wrong : {uint64_t(0), right + 1, uint64_t(65535), (uint64_t(1) << (8 * size - 1))}) {
      bytes = good;
      put(bytes, offset, wrong, size);
      CHECK_THAT(error(), Contains("header " + std::string(name) + ": found " + std::to_string(wrong) + ", expected " +
                                   std::to_string(right) + " (config: config.json beside the file)"));
    }
}

TEST_CASE_METHOD(Fixture, "65535 layers in header and config cause no large allocation") {
  ModelConfig deep = smallConfig();
  deep.numLayers = 65535;
  writeBytes(dir.file("config.json"), writeModelConfig(deep));
  put(bytes, 16, 65535, 4);
  CHECK_THAT(error(), Contains("dtype table length: found 32, expected 917494"));
  put(bytes, 128, 917494, 4);
  CHECK_THAT(error(), Contains("dtype table: found ") && Contains("expected 917494 bytes"));

  bytes = bytes.substr(0, 128) + bytes.substr(164);
  put(bytes, 7, '2', 1);
  put(bytes, 8, 2, 4);
  CHECK_THAT(error(), Contains("bytes of tensor data") && Contains("the file ends at byte "));
  CHECK_THAT((put(bytes, 0, 0, 8), error({.allowRaw = true})), Contains("bytes of tensor data"));
}

TEST_CASE_METHOD(Fixture, "one byte too many") {
  std::string size = std::to_string(bytes.size() - 164);
  bytes += '\0';
  CHECK_THAT(error(), Contains("bytes of tensor data: found " + std::to_string(bytes.size() - 164) + ", expected " +
                               size + "; the 1 bytes after the last tensor are no config footer"));
}

TEST_CASE_METHOD(Fixture, "one byte too many, before or behind the footer") {
  const std::string whole = smallFile(dir);
  bytes = whole + '\0';
  CHECK_THAT(error(), Contains("bytes of tensor data"));
  bytes = withoutFooter(whole) + '\0' + whole.substr(whole.size() - footerBytes(whole));
  CHECK_THAT(error(), Contains("the 1 bytes after the last tensor"));
}

TEST_CASE_METHOD(Fixture, "any flipped bit of the payload breaks the checksum") {
  const std::string good = bytes;
  for (size_t at : {size_t(164), size_t(165), good.size() / 2, good.size() - 1})
    for (int bit : {0, 7}) {
      bytes = good;
      bytes[at] ^= static_cast<char>(1 << bit);
      CHECK_THAT(error(), Contains("checksum (SHA-256 of the payload): found ") && Contains("damaged"));
    }
}

TEST_CASE_METHOD(Fixture, "a wrong or missing checksum") {
  bytes[64] ^= 1;
  CHECK_THAT(error(), Contains("checksum"));
  std::fill_n(bytes.begin() + 64, 32, '\0');
  CHECK_THAT(error(), Contains("checksum"));
  CHECK(error({.verifyChecksum = false}) == "");
}

TEST_CASE_METHOD(Fixture, "an HTML page") {
  bytes = "<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body>" + std::string(500, ' ') + "</html>";
  CHECK_THAT(error(), Contains("magic: found \"<!DOCTYP\""));
  CHECK_THAT(error({.allowRaw = true}), Contains("bytes of tensor data"));
}

TEST_CASE_METHOD(Fixture, "bytes of the magic that can't be printed are escaped") {
  bytes = std::string("\x7f"
                      "ELF\x02\x01\x01\x00", 8) + std::string(1000, '\0');
  CHECK_THAT(error(), Contains("magic: found \"\\7FELF\\02\\01\\01\\00\""));
}

TEST_CASE_METHOD(Fixture, "a directory") {
  CHECK_THAT(openError(dir.path), Contains(dir.path + ": file: found a directory, expected a regular file"));
}

TEST_CASE_METHOD(Fixture, "a pipe without writer doesn't hang") {
  std::string pipe = dir.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(openError(pipe), Contains("pipe: file: found a pipe, expected a regular file"));
}

TEST_CASE_METHOD(Fixture, "a device") {
  CHECK_THAT(openError("/dev/zero"), Contains("found a character device, expected a regular file"));
}

TEST_CASE_METHOD(Fixture, "a file that isn't there") {
  CHECK_THAT(openError(dir.file("none.bump")), Contains("none.bump: file: cannot be read: No such file") &&
                                                   Contains("expected"));
  CHECK_THAT(openError(""), Contains("cannot be read"));
}

TEST_CASE_METHOD(Fixture, "an unreadable file") {
  writeBytes(path, bytes);
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  // The superuser reads everything, so be somebody else for the moment.
  const bool root = ::geteuid() == 0;
  if (root)
    REQUIRE(::seteuid(65534) == 0);
  std::string message = openError(path);
  if (root)
    REQUIRE(::seteuid(0) == 0);
  CHECK_THAT(message, Contains("bad.bump: file: cannot be read: Permission denied"));
}
