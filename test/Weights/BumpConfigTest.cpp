//===- BumpConfigTest.cpp - Which config belongs to a file, and overrides -===//
#include "TestFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;

namespace {
std::string sourceOf(const std::string &path, const BumpOpenOptions &options = {}) {
  INFO(openError(path, options));
  auto file = BumpFile::open(path, options);
  REQUIRE(static_cast<bool>(file));
  return (*file)->configSource;
}
} // namespace

TEST_CASE("--config comes before the footer, the footer before config.json") {
  TempDir dir, elsewhere;
  std::string bytes = smallFile(dir), path = dir.file("small.bump");
  ModelConfig other = smallConfig();
  other.rmsNormEps = 0.5f;
  writeBytes(dir.file("config.json"), writeModelConfig(other));
  CHECK(sourceOf(path) == "footer");

  std::string given = elsewhere.file("given.json");
  writeBytes(given, writeModelConfig(smallConfig()));
  CHECK(sourceOf(path, {.configPath = given}) == "--config " + given);

  writeBytes(path, withoutFooter(bytes));
  writeBytes(given, writeModelConfig(other));
  CHECK(sourceOf(path, {.configPath = given}) == "--config " + given);
  CHECK(llvm::cantFail(BumpFile::open(path, {.configPath = given}))->config.rmsNormEps == 0.5f);
  CHECK(sourceOf(path) == "config.json beside the file");
  CHECK(llvm::cantFail(BumpFile::open(path))->config.rmsNormEps == 0.5f);
}

TEST_CASE("a config that contradicts the file's footer is refused by field, with both values and both places") {
  TempDir dir;
  smallFile(dir);
  const std::string path = dir.file("small.bump"), given = dir.file("given.json");
  auto check = [&](auto change, const std::string &field, const std::string &found, const std::string &expected) {
    ModelConfig config = smallConfig();
    change(config);
    writeBytes(given, writeModelConfig(config));
    const std::string tail = ", expected " + expected + ", as in the file's own footer";
    CHECK_THAT(openError(path, {.configPath = given}),
               Contains("small.bump: " + field + ": found " + found + " in --config " + given + tail));
    CHECK_THAT(openError(path, {.graphConfig = config}),
               Contains("small.bump: " + field + ": found " + found + " in the graph" + tail));
  };
  // None of these shows in the header; the first two keep the file's size.
  check([](ModelConfig &c) { c.rmsNormEps = 0.5f; }, "rms_norm_eps", "0.5", "9.999999975e-07");
  check([](ModelConfig &c) { c.ropeTheta = 500000; }, "rope_theta", "500000", "10000");
  check([](ModelConfig &c) { c.ropeTheta = 0; }, "rope_theta", "0", "10000");
  check([](ModelConfig &c) { c.intermediateSize = 41; }, "intermediate_size", "41", "40");
  check([](ModelConfig &c) { c.numKVHeads = 2; }, "num_key_value_heads", "2", "1");
  check([](ModelConfig &c) { c.vocabSize = 12; }, "vocab_size", "12", "11");
  check([](ModelConfig &c) { c.contextWindow = 4; }, "max_position_embeddings", "4", "5");
}

TEST_CASE("without any config the error says where one was sought") {
  TempDir dir;
  std::string path = dir.file("small.bump");
  writeBytes(path, withoutFooter(smallFile(dir)));
  CHECK_THAT(openError(path), Contains("small.bump: config: found no BUMPV5MD footer") &&
                                  Contains("config.json beside the file") && Contains("--config FILE"));
  CHECK_THAT(openError(path, {.configPath = dir.file("none.json")}), Contains("none.json"));
}

TEST_CASE("a folder called config.json is no config") {
  TempDir dir;
  std::string path = dir.file("small.bump");
  writeBytes(path, withoutFooter(smallFile(dir)));
  REQUIRE_FALSE(llvm::sys::fs::create_directory(dir.file("config.json")));
  CHECK_THAT(openError(path), Contains("small.bump: config: found no"));
}

TEST_CASE("a damaged footer is an error") {
  TempDir dir;
  std::string bytes = smallFile(dir), path = dir.file("damaged.bump");
  size_t footer = bytes.size() - 48, json = bytes.size() - footerBytes(bytes);
  SECTION("one bit of its JSON") {
    bytes[json + 20] ^= 1;
    writeBytes(path, bytes);
    CHECK_THAT(openError(path), Contains("damaged.bump: config footer, SHA-256 of its JSON: found "));
  }
  SECTION("one bit of its SHA-256") {
    bytes[footer + 47] ^= 1;
    writeBytes(path, bytes);
    CHECK_THAT(openError(path), Contains("config footer, SHA-256"));
    // Found is what the bytes give, expected what is stored.
    bytes[footer + 47] ^= 1;
    std::string right = llvm::toHex(bytes.substr(footer + 16), true), wrong = right;
    wrong[63] = "1032547698badcfe"[std::string("0123456789abcdef").find(right[63])];
    CHECK_THAT(openError(path), Contains("found " + right + ", expected " + wrong));
  }
  SECTION("a length beyond the file") {
    for (uint64_t length : {uint64_t(bytes.size()), uint64_t(1) << 40, ~uint64_t(0)}) {
      put(bytes, footer + 8, length, 8);
      writeBytes(path, bytes);
      CHECK_THAT(openError(path), Contains("config footer, length of its JSON: found " + std::to_string(length)) &&
                                      Contains("expected at most"));
    }
  }
  SECTION("length 0") {
    put(bytes, footer + 8, 0, 8);
    writeBytes(path, bytes);
    CHECK_THAT(openError(path), Contains("config footer, SHA-256"));
  }
  SECTION("a config that isn't this model's") {
    ModelConfig other = smallConfig();
    other.vocabSize = 12;
    REQUIRE(llvm::toString(writeBump(dir.file("other.bump"), other, [](const TensorSpec &, float *) {})) == "");
    std::string otherBytes = readBytes(dir.file("other.bump"));
    writeBytes(path, withoutFooter(bytes) + otherBytes.substr(otherBytes.size() - footerBytes(otherBytes)));
    CHECK_THAT(openError(path), Contains("header vocab_size: found 11, expected 12 (config: footer)"));
  }
}

TEST_CASE("dims that the header doesn't hold are caught by the file's size") {
  TempDir dir;
  std::string path = dir.file("small.bump");
  writeBytes(path, withoutFooter(smallFile(dir)));
  ModelConfig kv = smallConfig(), wide = smallConfig();
  kv.numKVHeads = 2;
  wide.intermediateSize = 49;
  for (const ModelConfig &config : {kv, wide}) {
    writeBytes(dir.file("c.json"), writeModelConfig(config));
    CHECK_THAT(openError(path, {.configPath = dir.file("c.json")}), Contains("bytes of tensor data: found"));
  }
  writeBytes(dir.file("c.json"), writeModelConfig(kv));
  CHECK_THAT(openError(path, {.configPath = dir.file("c.json")}),
             Contains("the file's size fits a config with num_key_value_heads 1 (not 2)"));
  writeBytes(dir.file("c.json"), writeModelConfig(wide));
  CHECK_THAT(openError(path, {.configPath = dir.file("c.json")}),
             Contains("the file's size fits a config with intermediate_size 33 to 48 (not 49)"));
}

TEST_CASE("a config that the format cannot express is refused by field") {
  TempDir dir;
  std::string path = dir.file("small.bump");
  writeBytes(path, withoutFooter(smallFile(dir)));
  std::string json = writeModelConfig(smallConfig());
  json.replace(json.find("\"tie_word_embeddings\": true"), 27, "\"tie_word_embeddings\": false");
  writeBytes(dir.file("config.json"), json);
  CHECK_THAT(openError(path), Contains("tie_word_embeddings"));
}

TEST_CASE("overrides must equal the file's dims") {
  TempDir dir;
  smallFile(dir);
  std::string path = dir.file("small.bump");
  auto error = [&](auto change) {
    BumpOpenOptions options;
    change(options.overrides);
    return openError(path, options);
  };
  CHECK(error([](ModelConfig &c) { c.numLayers = 2, c.hiddenSize = 24, c.intermediateSize = 40, c.numHeads = 2; }) == "");
  CHECK(error([](ModelConfig &c) { c.numKVHeads = 1, c.vocabSize = 11, c.contextWindow = 5; }) == "");
  CHECK_THAT(error([](ModelConfig &c) { c.numLayers = 1; }), Contains("--layers: found 1, expected 2"));
  CHECK_THAT(error([](ModelConfig &c) { c.hiddenSize = 32; }), Contains("--embed: found 32, expected 24"));
  CHECK_THAT(error([](ModelConfig &c) { c.intermediateSize = 48; }), Contains("--intermediate: found 48, expected 40"));
  CHECK_THAT(error([](ModelConfig &c) { c.numHeads = 3; }), Contains("--heads: found 3, expected 2"));
  CHECK_THAT(error([](ModelConfig &c) { c.numKVHeads = 2; }), Contains("--kv-heads: found 2, expected 1"));
  CHECK_THAT(error([](ModelConfig &c) { c.vocabSize = -1; }), Contains("--vocab: found -1, expected 11"));
  CHECK_THAT(error([](ModelConfig &c) { c.contextWindow = 6; }), Contains("--ctx: found 6, expected 1 to 5"));
  CHECK_THAT(error([](ModelConfig &c) { c.contextWindow = -2; }), Contains("--ctx: found -2"));
}

TEST_CASE("a smaller context keeps the file's position rows") {
  TempDir dir;
  smallFile(dir);
  BumpOpenOptions options;
  options.overrides.contextWindow = 3;
  auto file = llvm::cantFail(BumpFile::open(dir.file("small.bump"), options));
  CHECK(file->config.contextWindow == 3);
  CHECK(file->header.context == 5);
  CHECK(file->tensors[1].spec.name == "pos_emb");
  CHECK(file->tensors[1].bytes == 5 * 32 * 4);
  std::vector<float> rows(5 * 32, -1.0f);
  REQUIRE(llvm::toString(file->readTensor(1, rows.data(), 3 * 32 * 4)) == "");
  CHECK(rows[2 * 32 + 1] == 7000.25f + 65);
  CHECK(rows[3 * 32] == -1.0f);
}
