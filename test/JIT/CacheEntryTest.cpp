//===- CacheEntryTest.cpp - The file of a cached object, and its key ------===//
#include "ckjit/JIT/CacheEntry.h"
#include "KernelRun.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SHA256.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <set>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;
using llvm::StringRef;

namespace {
// As the header is described in CacheEntry.cpp: 8 bytes magic, 4 version, 32 key, 8 size, 32 checksum.
constexpr size_t kVersionAt = 8, kSizeAt = 44, kChecksumAt = 52, kBodyAt = 84;

CacheEntry sampleEntry() {
  CacheEntry entry;
  for (size_t i = 0; i < entry.key.size(); ++i)
    entry.key[i] = static_cast<uint8_t>(i * 7 + 1);
  entry.config = {.numLayers = 2,
                  .hiddenSize = 24,
                  .intermediateSize = 20,
                  .numHeads = 4,
                  .numKVHeads = 2,
                  .vocabSize = 33,
                  .contextWindow = 20,
                  .rmsNormEps = 1e-6f,
                  .ropeTheta = 5e5f};
  CompiledObject &object = entry.object;
  object.target = {.cpu = "cpu",
                   .features = "+a,-b",
                   .vectorBits = 256,
                   .fma = true,
                   .vectorRegisters = 16,
                   .l1dBytes = 1,
                   .l2Bytes = 2,
                   .l3Bytes = uint64_t(3) << 40};
  object.decode = true;
  object.arenaBytes = 1000;
  object.kernels = {"first", ""};
  object.buffers = {{"logits", -1, 0, 1000}, {"wq", 1, 900, 100}};
  object.object.assign({'\x7f', 'E', 'L', 'F', '\0'});
  return entry;
}

/// Gives the header the size and checksum of what stands behind it.
std::string sealed(std::string bytes) {
  uint64_t size = bytes.size() - kBodyAt;
  for (size_t i = 0; i < 8; ++i)
    bytes[kSizeAt + i] = static_cast<char>(size >> (8 * i));
  auto sum = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes.substr(0, kChecksumAt) + bytes.substr(kBodyAt)));
  std::copy(sum.begin(), sum.end(), bytes.begin() + kChecksumAt);
  return bytes;
}

std::string errorOf(StringRef bytes) {
  auto entry = parseCacheEntry(bytes, "some.ckobj");
  return entry ? "" : llvm::toString(entry.takeError());
}

/// The sample's file with one part changed, and sealed again.
std::string changed(const std::function<void(CacheEntry &)> &change) {
  CacheEntry entry = sampleEntry();
  change(entry);
  return writeCacheEntry(entry);
}
} // namespace

TEST_CASE("an entry comes back as it was") {
  const CacheEntry entry = sampleEntry();
  const std::string bytes = writeCacheEntry(entry);
  CHECK(StringRef(bytes).starts_with(StringRef("CKJITOBJ\1\0\0\0\1\x08", 14)));
  CHECK(sealed(bytes) == bytes);
  const CacheEntry back = must(parseCacheEntry(bytes, "some.ckobj"));
  CHECK(back.key == entry.key);
  CHECK(back.config == entry.config);
  const CompiledObject &found = back.object, &kept = entry.object;
  CHECK(found.object == kept.object);
  CHECK(found.target == kept.target);
  CHECK(found.target.cpu == "cpu");
  CHECK(found.target.features == "+a,-b");
  CHECK(found.target.vectorBits == 256);
  CHECK(found.target.fma);
  CHECK(found.target.vectorRegisters == 16);
  CHECK(found.target.l1dBytes == 1);
  CHECK(found.target.l2Bytes == 2);
  CHECK(found.target.l3Bytes == uint64_t(3) << 40);
  CHECK(found.decode);
  CHECK(found.arenaBytes == 1000);
  CHECK(found.kernels == kept.kernels);
  REQUIRE(found.buffers.size() == 2);
  CHECK(found.find("logits")->bytes == 1000);
  CHECK(found.find("wq", 1)->offset == 900);
  CHECK(found.find("wq", 1)->bytes == 100);
  CHECK(writeCacheEntry(back) == bytes);
}

TEST_CASE("any flipped bit of an entry is noticed") {
  const std::string bytes = writeCacheEntry(sampleEntry());
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      const std::string error = errorOf(broken);
      if (!StringRef(error).starts_with("some.ckobj: "))
        FAIL("byte " << at << ", bit " << bit << ": " << (error.empty() ? "accepted" : error));
    }
}

TEST_CASE("an entry cut anywhere, or with bytes behind it, is noticed") {
  const std::string bytes = writeCacheEntry(sampleEntry());
  for (size_t size = 0; size < bytes.size(); ++size) {
    INFO(size << " of " << bytes.size() << " bytes");
    CHECK_THAT(errorOf(StringRef(bytes).take_front(size)), Contains("some.ckobj: size: found"));
    // With a header that agrees.
    if (size >= kBodyAt)
      CHECK_THAT(errorOf(sealed(bytes.substr(0, size))), Contains("some.ckobj: fields: found"));
  }
  CHECK_THAT(errorOf(bytes + '\0'), Contains("size: found"));
  CHECK_THAT(errorOf(sealed(bytes + '\0')), Contains("1 bytes behind the last field"));
  CHECK_THAT(errorOf(bytes + bytes), Contains("size: found"));
}

TEST_CASE("another version and other files are told") {
  std::string bytes = writeCacheEntry(sampleEntry());
  bytes[kVersionAt] = 2;
  CHECK_THAT(errorOf(sealed(bytes)), Contains("version: found 2, expected 1"));
  CHECK_THAT(errorOf(std::string(1000, 'x')), Contains("magic: found other bytes, expected CKJITOBJ"));
}

TEST_CASE("fields that are no compiled object are told though the checksum is right") {
  const auto buffer = [](uint64_t offset, uint64_t bytes, int layer = 0) {
    return changed([=](CacheEntry &entry) { entry.object.buffers[1] = {"odd", layer, offset, bytes}; });
  };
  CHECK(errorOf(buffer(999, 1)).empty());
  CHECK(errorOf(buffer(1000, 0)).empty());
  for (const std::string &bytes : {buffer(999, 2), buffer(1001, 0), buffer(0, 1001), buffer(UINT64_MAX, 2),
                                   buffer(2, UINT64_MAX), buffer(0, 1, -2)})
    CHECK_THAT(errorOf(bytes), Contains("fields: found buffer odd outside the arena"));
  CHECK_THAT(errorOf(changed([](CacheEntry &entry) { entry.object.object.clear(); })), Contains("no object"));

  // Lengths and flags that no entry of ours has: every 8 bytes of the body as a huge number, every byte as 0xff.
  const std::string bytes = writeCacheEntry(sampleEntry());
  size_t refused = 0;
  for (size_t at = kBodyAt; at + 8 <= bytes.size(); ++at)
    for (int wide : {1, 8}) {
      std::string odd = bytes;
      odd.replace(at, wide, wide, '\xff');
      auto entry = parseCacheEntry(sealed(odd), "some.ckobj");
      if (entry)
        CHECK(writeCacheEntry(*entry) == sealed(odd)); // it is what it says, if not what it was
      else if (!llvm::toString(entry.takeError()).empty())
        ++refused;
    }
  CHECK(refused > 50);
}

TEST_CASE("each field of graph, options, target and compiler gives another key, and equal ones the same") {
  struct Request {
    CKIRGraph graph = buildForwardGraph({.numLayers = 2,
                                         .hiddenSize = 24,
                                         .intermediateSize = 20,
                                         .numHeads = 4,
                                         .numKVHeads = 2,
                                         .vocabSize = 33,
                                         .contextWindow = 20,
                                         .ropeTheta = 1e4f});
    CompileOptions options{.target = {.cpu = "cpu", .features = "+a,-b"}, .pipeline = {}};
    std::string compiler = "build";
    CacheKey key() const { return cacheKey(graph, options, compiler); }
  };
  const std::vector<std::function<void(Request &)>> changes = {
      [](Request &r) { ++r.graph.config.numLayers; },
      [](Request &r) { ++r.graph.config.hiddenSize; },
      [](Request &r) { ++r.graph.config.intermediateSize; },
      [](Request &r) { ++r.graph.config.numHeads; },
      [](Request &r) { ++r.graph.config.numKVHeads; },
      [](Request &r) { ++r.graph.config.vocabSize; },
      [](Request &r) { ++r.graph.config.contextWindow; },
      [](Request &r) { r.graph.config.rmsNormEps = std::nextafter(r.graph.config.rmsNormEps, 1.0f); },
      [](Request &r) { r.graph.config.ropeTheta = std::nextafter(r.graph.config.ropeTheta, 1.0f); },
      [](Request &r) { r.graph.nodes.pop_back(); },
      [](Request &r) { r.graph.nodes[3].op = NodeOp::SwiGLU; },
      [](Request &r) { ++r.graph.nodes[3].id.layer; },
      [](Request &r) { ++r.graph.nodes[3].id.node; },
      [](Request &r) { ++r.graph.nodes[3].numOutputs; },
      [](Request &r) { r.graph.nodes[3].inputs.pop_back(); },
      [](Request &r) { ++r.graph.nodes[3].inputs[0].outIndex; },
      [](Request &r) { ++r.graph.nodes[3].inputs[0].producer.layer; },
      [](Request &r) { ++r.graph.nodes[3].inputs[0].producer.node; },
      [](Request &r) { std::swap(r.graph.nodes[3].inputs[0], r.graph.nodes[3].inputs[1]); },
      [](Request &r) { r.options.decode = true; },
      [](Request &r) { r.options.pipeline.strict = true; },
      [](Request &r) { r.options.pipeline.materialize = true; },
      [](Request &r) { r.options.pipeline.fuse = false; },
      [](Request &r) { r.options.pipeline.rows = 1; },
      [](Request &r) { r.options.pipeline.vectors = 1; },
      [](Request &r) { r.options.pipeline.panels = 1; },
      [](Request &r) { r.options.pipeline.unroll = 1; },
      [](Request &r) { r.options.pipeline.emptyKernels = true; },
      [](Request &r) { r.options.pipeline.faultyKernel = "k"; },
      [](Request &r) { r.options.target.cpu = "cpu2"; },
      [](Request &r) { r.options.target.features = "+a,+b"; },
      // The same characters, divided in another way.
      [](Request &r) { r.options.target.cpu = "cpu+", r.options.target.features = "a,-b"; },
      [](Request &r) { r.options.target.vectorBits = 512; },
      [](Request &r) { r.options.target.fma = true; },
      [](Request &r) { r.options.target.vectorRegisters = 32; },
      [](Request &r) { r.options.target.l1dBytes = 1; },
      [](Request &r) { r.options.target.l2Bytes = 1; },
      [](Request &r) { r.options.target.l3Bytes = 1; },
      [](Request &r) { r.compiler = "build2"; },
  };
  std::set<CacheKey> keys = {Request().key()};
  CHECK(keys.count(Request().key()) == 1);
  for (size_t i = 0; i < changes.size(); ++i) {
    Request request;
    changes[i](request);
    if (!keys.insert(request.key()).second)
      FAIL("change " << i << " doesn't change the key");
    CHECK(keys.count(request.key()) == 1);
  }
}

TEST_CASE("the compiler is identified by the build ids of this program and of LLVM's libraries") {
  // Which files are mapped here, as the system tells it.
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::string path = line.substr(std::min(line.find('/'), line.size()));
    if (StringRef(path).contains("/libLLVM") || StringRef(path).contains("/libMLIR"))
      files.insert(path);
  }
  REQUIRE(files.size() == 2);
  files.insert("/proc/self/exe");
  const std::string identity = compilerIdentity();
  CHECK(identity.size() == 3 * (2 * 20 + 1));
  for (const std::string &file : files) {
    INFO(file);
    auto opened = must(llvm::object::ObjectFile::createObjectFile(file));
    const std::string id = llvm::toHex(llvm::object::getBuildID(opened.getBinary()), /*LowerCase=*/true);
    CHECK(id.size() == 2 * 20);
    CHECK_THAT(identity, Contains(id));
  }
  CHECK(compilerIdentity() == identity);
}
