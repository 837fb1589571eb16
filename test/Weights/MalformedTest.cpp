//===- MalformedTest.cpp - Every malformed file is one clear error --------===//
#include "AllocationProbe.h"
#include "TestFiles.h"
#include <catch2/catch.hpp>
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

TEST_CASE_METHOD(Fixture, "unknown dtype codes") {
  for (int code : {13, 100, 255}) {
    put(bytes, 132 + 4, code, 1);
    CHECK_THAT(error(), Contains("dtype table entry 4 (layer 0 wq): found " + std::to_string(code) +
                                 " (unknown), expected 0 (fp32), 7 (q4_k) or 8 (q6_k)"));
  }
}

TEST_CASE_METHOD(Fixture, "dtypes that their slot doesn't allow") {
  // The seed's converter once wrote 6 where it meant q4_k (D7).
  put(bytes, 132 + 2 + 14 + 12, 6, 1);
  CHECK_THAT(error(), Contains("dtype table entry 28 (layer 1 w2): found 6 (q4_1), expected 0 (fp32), 7"));
  put(bytes, 132 + 2 + 14 + 12, 0, 1);
  for (size_t slot : {1, 2, 3, 5, 7, 9, 11, 13, 15, 30, 31}) {
    put(bytes, 132 + slot, 7, 1);
    CHECK_THAT(error(), Contains("dtype table entry " + std::to_string(slot) + " (") &&
                            Contains("found 7 (q4_k), expected 0 (fp32)"));
    put(bytes, 132 + slot, 0, 1);
  }
}

TEST_CASE_METHOD(Fixture, "quantized rows that aren't whole blocks") {
  put(bytes, 132 + 4, 7, 1);
  CHECK_THAT(error(), Contains("aligned embed_dim: found 32, expected a multiple of 256, because layer 0 wq is q4_k"));

  ModelConfig narrow{.numLayers = 1, .hiddenSize = 256, .intermediateSize = 250, .numHeads = 4, .numKVHeads = 1};
  auto q6 = [](size_t i) -> uint8_t { return i == 6 ? 8 : 0; };
  narrow.intermediateSize = 230;
  bytes = handMadeFile(narrow, q6, 0);
  writeBytes(dir.file("config.json"), writeModelConfig(narrow));
  CHECK_THAT(error(), Contains("aligned intermediate size: found 240, expected a multiple of 256, because layer 0 wk"));

  // Heads of 8 lanes, padded to 16: side by side they are wider than a row.
  ModelConfig manyHeads{.numLayers = 1, .hiddenSize = 256, .intermediateSize = 256, .numHeads = 32, .numKVHeads = 1};
  auto wo = [](size_t i) -> uint8_t { return i == 10 ? 7 : 0; };
  bytes = handMadeFile(manyHeads, wo, 0);
  writeBytes(dir.file("config.json"), writeModelConfig(manyHeads));
  CHECK_THAT(error(), Contains("num_heads times aligned head_dim: found 512, expected 256"));
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
