//===- RandomModelTest.cpp - Seeded models, the same everywhere -----------===//
#include "AllocationProbe.h"
#include "TestFiles.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace ckjit;
using namespace ckjit::test;

namespace {
std::string randomFile(TempDir &dir, const ModelConfig &config, uint64_t seed) {
  REQUIRE(llvm::toString(writeRandomModel(dir.file("r.bump"), config, seed)) == "");
  return readBytes(dir.file("r.bump"));
}

struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

/// Over the real elements; padding must be zero.
Moments momentsOf(const BumpFile &file, size_t index) {
  const TensorSpec &spec = file.tensors[index].spec;
  std::vector<float> values(spec.elements());
  REQUIRE(llvm::toString(file.readTensor(index, values.data(), 4 * values.size())) == "");
  Moments m;
  double sum = 0, squares = 0, count = 0;
  spec.forEachLogicalRun([&](int64_t first, int64_t n) {
    for (int64_t i = first; i < first + n; ++i) {
      sum += values[i];
      squares += double(values[i]) * values[i];
      m.largest = std::max(m.largest, std::fabs(double(values[i])));
      count += 1;
      values[i] = 0.0f;
    }
  });
  REQUIRE(std::count(values.begin(), values.end(), 0.0f) == spec.elements());
  m.mean = sum / count;
  m.deviation = std::sqrt(squares / count - m.mean * m.mean);
  return m;
}
} // namespace

TEST_CASE("the same seed gives the same bytes, another seed others") {
  TempDir dir;
  std::string first = randomFile(dir, smallConfig(), 42);
  CHECK(randomFile(dir, smallConfig(), 42) == first);
  std::string other = randomFile(dir, smallConfig(), 43);
  CHECK(other.size() == first.size());
  CHECK(other.substr(164) != first.substr(164));
}

TEST_CASE("values are those of the generator's definition, computed elsewhere") {
  // splitmix64 streams and sums of four uniform 16-bit numbers, evaluated by a separate program (Python).
  TempDir dir;
  randomFile(dir, smallConfig(), 42);
  auto file = llvm::cantFail(BumpFile::open(dir.file("r.bump")));
  auto value = [&](size_t tensor, size_t element) {
    std::vector<float> values(file->tensors[tensor].spec.elements());
    llvm::cantFail(file->readTensor(tensor, values.data(), 4 * values.size()));
    return values[element];
  };
  CHECK(value(0, 0) == 0.821941853f);
  CHECK(value(0, 1) == 1.62554204f);
  CHECK(value(0, 2) == -1.29200804f);
  CHECK(value(0, 32) == 0.148610264f); // row 1 goes on where row 0 ended, at its 24th element
  CHECK(value(16, 0) == 0.5583179f);   // ln1_gamma of layer 1
  CHECK(value(16, 1) == 0.982429326f);
  CHECK(value(12, 0) == -0.329740793f); // w1 of layer 0: first gate row
  CHECK(value(12, 48 * 32) == 0.244950756f); // first up row
}

TEST_CASE("weights have the deviations that keep a model well-conditioned") {
  ModelConfig config{.numLayers = 2, .hiddenSize = 200, .intermediateSize = 328, .numHeads = 10, .numKVHeads = 5,
                     .vocabSize = 500, .contextWindow = 40, .ropeTheta = 10000.0f};
  TempDir dir;
  randomFile(dir, config, 7);
  auto file = llvm::cantFail(BumpFile::open(dir.file("r.bump")));
  CHECK(file->checksum == ChecksumState::Ok);
  const std::map<std::string, std::pair<double, double>> expected = {
      {"token_emb", {0, 1}},       {"pos_emb", {0, 0.5}},
      {"ln1_gamma", {1, 0.2}},     {"ln2_gamma", {1, 0.2}},
      {"wq", {0, 1 / std::sqrt(200)}}, {"wk", {0, 1 / std::sqrt(200)}},
      {"wv", {0, 1 / std::sqrt(200)}}, {"wo", {0, 1 / std::sqrt(200)}},
      {"w1", {0, 1 / std::sqrt(200)}}, {"w2", {0, 1 / std::sqrt(328)}},
      {"final_ln_weight", {3 / std::sqrt(200), 0.6 / std::sqrt(200)}}};
  for (size_t t = 0; t < file->tensors.size(); ++t) {
    const TensorSpec &spec = file->tensors[t].spec;
    auto it = expected.find(spec.name);
    auto [mean, deviation] = it == expected.end() ? std::pair{0.0, 0.1} : it->second;
    Moments m = momentsOf(*file, t);
    INFO(spec.name << " of layer " << spec.layer << ": mean " << m.mean << ", deviation " << m.deviation);
    // At least 100 elements each: five standard errors of the estimates are within these bounds.
    double n = static_cast<double>(spec.logical.size() > 1 ? 2000 : 100);
    CHECK(std::fabs(m.mean - mean) < 5 * deviation / std::sqrt(n));
    CHECK(m.deviation / deviation == Approx(1).margin(5 / std::sqrt(2 * n)));
    CHECK(m.largest < std::fabs(mean) + 3.5 * deviation);
  }
}

TEST_CASE("memory is bounded, however large a tensor is") {
  ModelConfig config = smallConfig();
  config.vocabSize = 200000; // 24 MiB of token_emb
  TempDir dir;
  resetLargestAllocation();
  REQUIRE(llvm::toString(writeRandomModel(dir.file("r.bump"), config, 1)) == "");
  CHECK(largestAllocation() <= size_t(1) << 20);
}

TEST_CASE("a model larger than the disk is an error before anything is written") {
  ModelConfig config = smallConfig();
  config.vocabSize = 2147483647;
  config.hiddenSize = 65536; // 2^49 bytes of token_emb
  TempDir dir;
  std::string message = llvm::toString(writeRandomModel(dir.file("r.bump"), config, 1));
  CHECK_THAT(message, Catch::Contains("r.bump: needs ") && Catch::Contains(" bytes, its file system has ") &&
                          Catch::Contains("free; nothing was changed"));
  CHECK(dir.list().empty());
}

TEST_CASE("the three formats hold the same tensors, and each reads back") {
  TempDir dir;
  const std::string v3 = randomFile(dir, smallConfig(), 5), tensors = withoutFooter(v3).substr(164);
  auto written = [&](BumpKind kind) {
    REQUIRE(llvm::toString(writeRandomModel(dir.file("other"), smallConfig(), 5, nullptr, kind)) == "");
    return readBytes(dir.file("other"));
  };
  CHECK(written(BumpKind::V3) == v3);

  std::string v2 = written(BumpKind::V2);
  CHECK(v2.substr(0, 8) == "BUMPWGT2");
  CHECK(get(v2, 8, 4) == 2);
  CHECK(v2.substr(12, 52) == v3.substr(12, 52)); // the dims
  CHECK(v2.substr(96, 32) == std::string(32, '\0'));
  CHECK(v2.substr(128) == tensors);
  std::string sealed = v2;
  seal(sealed);
  CHECK(v2 == sealed);
  CHECK_THAT(openError(dir.file("other")), Catch::Contains("config: found no BUMPV5MD footer"));

  writeBytes(dir.file("config.json"), writeModelConfig(smallConfig()));
  auto second = llvm::cantFail(BumpFile::open(dir.file("other")));
  CHECK(second->kind == BumpKind::V2);
  CHECK(second->checksum == ChecksumState::Ok);
  CHECK(second->tensors[0].fileOffset == 128);

  CHECK(written(BumpKind::Raw) == tensors);
  CHECK_THAT(openError(dir.file("other")), Catch::Contains("a headerless weight file needs --raw"));
  auto third = llvm::cantFail(BumpFile::open(dir.file("other"), {.allowRaw = true}));
  CHECK(third->kind == BumpKind::Raw);
  CHECK(third->config == smallConfig());
  CHECK(third->tensors.back().fileOffset + third->tensors.back().bytes == tensors.size());
}

TEST_CASE("a writer of too few elements is told so") {
  TempDir dir;
  std::string message = llvm::toString(writeBumpInPieces(
      dir.file("m.bump"), smallConfig(), [](const TensorSpec &, TensorSink sink) { return sink({1.0f, 2.0f}); }));
  CHECK(message == dir.file("m.bump") + ": token_emb: found 2 elements from the program, expected 352");
  CHECK(dir.list().empty());
}

TEST_CASE("progress goes up to all elements, tensor by tensor") {
  TempDir dir;
  std::vector<int64_t> seen;
  int64_t total = 0, all = 0;
  REQUIRE(llvm::toString(writeRandomModel(dir.file("r.bump"), smallConfig(), 1, [&](int64_t done, int64_t of) {
            seen.push_back(done);
            total = of;
          })) == "");
  for (const TensorSpec &spec : weightTensors(smallConfig()))
    all += spec.elements();
  CHECK(total == all);
  REQUIRE(seen.size() == 32);
  CHECK(seen[0] == 0);
  CHECK(seen[1] == 11 * 32);
  CHECK(seen[31] == all - 32);
}

TEST_CASE("single tensors are those of the file, and stop when the sink does") {
  TempDir dir;
  const ModelConfig config = smallConfig();
  REQUIRE(llvm::toString(writeRandomModel(dir.file("r.bump"), config, 5)) == "");
  llvm::Expected<std::unique_ptr<BumpFile>> file = BumpFile::open(dir.file("r.bump"));
  REQUIRE(static_cast<bool>(file));
  for (size_t index = 0; index < (*file)->tensors.size(); ++index) {
    const TensorSpec &spec = (*file)->tensors[index].spec;
    std::vector<float> expected(static_cast<size_t>(spec.elements())), found;
    REQUIRE(llvm::toString((*file)->readTensor(index, expected.data(), expected.size() * sizeof(float))) == "");
    REQUIRE(llvm::toString(produceRandomTensor(spec, index, config, 5, [&](llvm::ArrayRef<float> values) {
              found.insert(found.end(), values.begin(), values.end());
              return llvm::Error::success();
            })) == "");
    CHECK(found == expected);
  }
  llvm::Error stopped = produceRandomTensor((*file)->tensors[0].spec, 0, config, 5, [](llvm::ArrayRef<float>) {
    return llvm::createStringError("enough");
  });
  CHECK(llvm::toString(std::move(stopped)) == "enough");
}
