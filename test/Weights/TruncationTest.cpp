//===- TruncationTest.cpp - A file cut anywhere is one clear error --------===//
#include "TestFiles.h"
#include <catch2/catch.hpp>
#include <set>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;

namespace {
/// Where a section or a tensor starts or ends.
std::set<size_t> boundaries(const BumpFile &file) {
  std::set<size_t> at = {0, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 96, 128, 132};
  for (const BumpTensor &tensor : file.tensors)
    at.insert({tensor.fileOffset, tensor.fileOffset + tensor.bytes});
  return at;
}

std::set<size_t> cuts(const std::set<size_t> &boundaries) {
  std::set<size_t> at = boundaries;
  for (size_t b : boundaries)
    if (b > 0)
      at.insert(b - 1);
  return at;
}

std::string errorOfCut(const TempDir &dir, const std::string &bytes, size_t size) {
  writeBytes(dir.file("cut.bump"), bytes.substr(0, size));
  return openError(dir.file("cut.bump"));
}
} // namespace

TEST_CASE("a file with config.json beside it, cut at every boundary and one byte before") {
  TempDir dir;
  std::string bytes = withoutFooter(smallFile(dir));
  writeBytes(dir.file("config.json"), writeModelConfig(smallConfig()));
  auto whole = llvm::cantFail(BumpFile::open(dir.file("small.bump")));
  for (size_t size : cuts(boundaries(*whole))) {
    INFO("cut to " << size << " of " << bytes.size());
    std::string message = errorOfCut(dir, bytes, size);
    if (size == bytes.size()) {
      CHECK(message == "");
      continue;
    }
    CHECK_THAT(message, Contains("cut.bump: ") && Contains(": found ") && Contains(", expected "));
    if (size >= 164) {
      CHECK_THAT(message, Contains("bytes of tensor data: found " + std::to_string(size - 164) + ", expected " +
                                   std::to_string(bytes.size() - 164) + "; the file ends at byte "));
    }
  }
}

TEST_CASE("the message of a cut names the tensor in which the file ends") {
  TempDir dir;
  std::string bytes = withoutFooter(smallFile(dir));
  writeBytes(dir.file("config.json"), writeModelConfig(smallConfig()));
  auto whole = llvm::cantFail(BumpFile::open(dir.file("small.bump")));
  const BumpTensor &wk = whole->tensors[2 + 14 + 4];
  REQUIRE(wk.spec.name == "wk");
  CHECK_THAT(errorOfCut(dir, bytes, wk.fileOffset + 10), Contains("the file ends at byte 10 of layer 1 wk"));
  CHECK_THAT(errorOfCut(dir, bytes, wk.fileOffset), Contains("the file ends at byte 0 of layer 1 wk"));
  CHECK_THAT(errorOfCut(dir, bytes, bytes.size() - 1), Contains("the file ends at byte 127 of final_ln_bias"));
}

TEST_CASE("a file with footer, cut at every boundary and at every byte of the footer") {
  TempDir dir;
  std::string bytes = smallFile(dir);
  auto whole = llvm::cantFail(BumpFile::open(dir.file("small.bump")));
  std::set<size_t> at = cuts(boundaries(*whole));
  for (size_t size = bytes.size() - footerBytes(bytes); size < bytes.size(); ++size)
    at.insert(size);
  for (size_t size : at) {
    INFO("cut to " << size << " of " << bytes.size());
    CHECK_THAT(errorOfCut(dir, bytes, size), Contains("cut.bump: ") && Contains(": found ") && Contains("expected "));
  }
  CHECK_THAT(errorOfCut(dir, bytes, bytes.size() - footerBytes(bytes)), Contains("a cut file loses it"));
}

TEST_CASE("one byte cut or added anywhere behind the dtype table, without any config given: both sizes are named") {
  TempDir dir;
  const std::string bytes = smallFile(dir);
  const size_t json = bytes.size() - footerBytes(bytes), footer = bytes.size() - 48;
  // Tensors, the JSON's inside, magic, length and SHA-256 of the footer, the end.
  for (size_t at : {size_t(164), json - 200, json - 1, json + 5, json + 100, footer - 1, footer, footer + 3, footer + 7,
                    footer + 8, footer + 12, footer + 16, footer + 30, bytes.size() - 1, bytes.size()})
    for (int change : {-1, 1}) {
      if (at == bytes.size() && change < 0)
        continue;
      std::string changed = bytes;
      change < 0 ? changed.erase(at, 1) : changed.insert(at, 1, 'x');
      writeBytes(dir.file("changed.bump"), changed);
      INFO("byte " << at << " of " << bytes.size() << (change < 0 ? " cut" : " added"));
      std::string message = openError(dir.file("changed.bump"));
      INFO(message);
      if (at < json) {
        size_t right = json - 164;
        CHECK_THAT(message, Contains("bytes of tensor data: found " + std::to_string(right + change) + ", expected " +
                                     std::to_string(right)));
      } else {
        bool whole = message.find("found " + std::to_string(changed.size()) + " bytes, expected " +
                                  std::to_string(bytes.size())) != std::string::npos;
        bool inside = message.find("the file has " + std::to_string(changed.size()) + " bytes, expected " +
                                   std::to_string(bytes.size())) != std::string::npos;
        CHECK((whole || inside));
      }
    }
}

TEST_CASE("BUMPWGT2 and headerless files, cut at every boundary") {
  TempDir dir;
  std::string v3 = withoutFooter(smallFile(dir)), raw = v3.substr(164), v2 = v3.substr(0, 128) + raw;
  put(v2, 7, '2', 1);
  put(v2, 8, 2, 4);
  writeBytes(dir.file("config.json"), writeModelConfig(smallConfig()));
  auto whole = llvm::cantFail(BumpFile::open(dir.file("small.bump")));
  for (size_t end : boundaries(*whole)) {
    if (end < 164 || end == v3.size())
      continue;
    for (size_t size : {end - 164, end - 164 + 1}) {
      writeBytes(dir.file("cut.raw"), raw.substr(0, size));
      CHECK_THAT(openError(dir.file("cut.raw"), {.allowRaw = true}), Contains(": found ") && Contains("expected "));
      CHECK_THAT(errorOfCut(dir, v2, 128 + size), Contains("bytes of tensor data: found " + std::to_string(size)));
    }
  }
}
