//===- ConversionTest.cpp - Models in other weight formats ----------------===//
#include "AllocationProbe.h"
#include "Support/SharedData.h"
#include "TestFiles.h"
#include "ckjit/Weights/BlockCodec.h"
#include "ckjit/Weights/Conversion.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Contains;

namespace {
/// Rows of 256 everywhere: 4 heads of 64.
ModelConfig wideConfig() {
  return {.numLayers = 2, .hiddenSize = 256, .intermediateSize = 512, .numHeads = 4, .numKVHeads = 2, .vocabSize = 33,
          .contextWindow = 6, .rmsNormEps = 1e-6f, .ropeTheta = 10000.0f};
}

WeightTypes typesOf(const ModelConfig &config, const FormatRequest &request) {
  return llvm::cantFail(chooseFormats(config, request)).types;
}

/// All tensors as fp32 in the fp32 file's order.
std::vector<std::vector<float>> valuesOf(const BumpFile &file) {
  std::vector<std::vector<float>> all;
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    const BumpTensor &tensor = file.tensors[i];
    std::vector<uint8_t> bytes(tensor.bytes);
    llvm::cantFail(file.readTensor(i, bytes.data(), bytes.size()));
    all.emplace_back(tensor.spec.elements());
    llvm::cantFail(dequantizeTensor(tensor.spec, tensor.dtype, bytes, all.back()));
  }
  return all;
}

/// Threads that take turns in no order.
ParallelFor threads(unsigned count) {
  return [count](size_t tasks, llvm::function_ref<void(size_t)> task) {
    std::atomic<size_t> next = 0;
    std::vector<std::thread> team;
    for (unsigned t = 0; t < count; ++t)
      team.emplace_back([&] {
        for (size_t i; (i = next++) < tasks;)
          task(tasks - 1 - i);
      });
    for (std::thread &thread : team)
      thread.join();
  };
}

struct Fixture {
  std::unique_ptr<BumpFile> random(const ModelConfig &config, const std::string &name = "fp32.bump") {
    REQUIRE(llvm::toString(writeRandomModel(dir.file(name), config, 9)) == "");
    return llvm::cantFail(BumpFile::open(dir.file(name)));
  }
  std::vector<TensorLoss> convert(const BumpFile &from, const std::string &to, const WeightTypes &types,
                                  const ConvertOptions &options = {}) {
    auto losses = writeConverted(to.empty() ? "" : dir.file(to), from.config, types, *fileSource(from), options);
    INFO((losses ? "" : llvm::toString(losses.takeError())));
    REQUIRE(static_cast<bool>(losses));
    return *losses;
  }
  std::unique_ptr<BumpFile> open(const std::string &name) { return llvm::cantFail(BumpFile::open(dir.file(name))); }
  TempDir dir;
};

double relativeError(const std::vector<float> &a, const std::vector<float> &b) {
  double error = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += std::pow(double(a[i]) - b[i], 2);
    squares += std::pow(double(a[i]), 2);
  }
  return error == 0 ? 0 : std::sqrt(error / squares);
}
} // namespace

TEST_CASE("formats fall back where rows aren't whole blocks") {
  CHECK(fittingFormat(DType::Q4_K, 512) == DType::Q4_K);
  CHECK(fittingFormat(DType::Q4_K, 576) == DType::Q5_0);
  CHECK(fittingFormat(DType::Q6_K, 576) == DType::Q8_0);
  CHECK(fittingFormat(DType::Q8_0, 576) == DType::Q8_0);
  for (DType type : {DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1, DType::Q8_0, DType::Q4_K, DType::Q6_K})
    CHECK(fittingFormat(type, 48) == DType::FP16);
  CHECK(fittingFormat(DType::BF16, 48) == DType::BF16);
  CHECK(fittingFormat(DType::FP32, 48) == DType::FP32);
}

TEST_CASE("requests: embedding, matrices, layers, of which the last counts") {
  ModelConfig config = wideConfig();
  config.numLayers = 3;
  FormatRequest request{.matrices = DType::Q4_0, .embedding = DType::Q8_0,
                        .layers = {{0, 1, DType::Q6_K}, {1, 1, DType::BF16}}};
  WeightTypes types = typesOf(config, request);
  REQUIRE(types.size() == 46);
  const DType byLayer[] = {DType::Q6_K, DType::BF16, DType::Q4_0};
  std::vector<TensorSpec> tensors = weightTensors(config);
  for (size_t i = 0; i < types.size(); ++i) {
    INFO(tensorLabel(tensors[i]));
    DType expected = DType::FP32;
    if (tensors[i].name == "token_emb")
      expected = DType::Q8_0;
    else if (tensors[i].name[0] == 'w')
      expected = byLayer[tensors[i].layer];
    CHECK(types[i] == expected);
  }
  CHECK(typesOf(config, {.matrices = DType::FP16})[0] == DType::FP16);
  for (auto [first, last] : {std::pair<int, int>{0, 3}, {3, 3}, {2, 1}, {-1, 1}})
    CHECK(llvm::toString(chooseFormats(config, {.layers = {{first, last, DType::Q8_0}}}).takeError()) ==
          "formats: layers: found " + std::to_string(first) + " to " + std::to_string(last) +
              ", expected layers 0 to 2");
}

TEST_CASE("fallbacks are told") {
  // SmolLM's widths: rows of 576, w2's of 1536; small: rows of 32, wo's of 32, w2's of 48.
  ModelConfig smol{.numLayers = 1, .hiddenSize = 576, .intermediateSize = 1536, .numHeads = 9, .numKVHeads = 3};
  FormatChoice choice = llvm::cantFail(chooseFormats(smol, {.matrices = DType::Q4_K, .embedding = DType::Q6_K}));
  CHECK(choice.types[0] == DType::Q8_0);
  CHECK(choice.types[4] == DType::Q5_0);
  CHECK(choice.types[10] == DType::Q5_0);
  CHECK(choice.types[14] == DType::Q4_K);
  REQUIRE(choice.fallbacks.size() == 6);
  CHECK(choice.fallbacks[0].tensor == 0);
  CHECK(choice.fallbacks[0].wanted == DType::Q6_K);
  CHECK(choice.fallbacks[0].row == 576);
  CHECK(choice.fallbacks[5].tensor == 12);
  ModelConfig odd{.numLayers = 1, .hiddenSize = 60, .intermediateSize = 100, .numHeads = 5, .numKVHeads = 1};
  choice = llvm::cantFail(chooseFormats(odd, {.matrices = DType::Q8_0}));
  CHECK(choice.types[10] == DType::FP16); // 5 heads of 12 lanes, padded to 16
  CHECK(choice.types[12] == DType::Q8_0);
  CHECK(choice.types[14] == DType::FP16);
}

TEST_CASE_METHOD(Fixture, "every format: table, sizes, checksum, config, and values near the originals") {
  auto from = random(wideConfig());
  auto original = valuesOf(*from);
  for (const WeightFormat &format : weightFormats()) {
    INFO(format.name.str());
    WeightTypes types = typesOf(from->config, {.matrices = format.type});
    std::vector<TensorLoss> losses = convert(*from, "q.bump", types);
    auto file = open("q.bump");
    CHECK(file->kind == BumpKind::V3);
    CHECK(file->checksum == ChecksumState::Ok);
    CHECK(file->configSource == "footer");
    CHECK(file->config == from->config);
    CHECK(file->weightTypes() == (format.type == DType::FP32 ? WeightTypes() : types));
    CHECK(file->tensors[0].bytes == static_cast<uint64_t>(33 * 256 / format.elements * format.bytes));
    auto values = valuesOf(*file);
    REQUIRE(losses.size() == values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      INFO(tensorLabel(file->tensors[i].spec));
      double error = relativeError(original[i], values[i]);
      CHECK(losses[i].relativeRms() == Approx(error).margin(1e-12));
      CHECK(error <= (types[i] == DType::FP32 ? 0 : 0.085));
    }
  }
}

TEST_CASE_METHOD(Fixture, "a file of fp32 comes out as the same file") {
  auto from = random(smallConfig());
  convert(*from, "copy.bump", {});
  CHECK(readBytes(dir.file("copy.bump")) == readBytes(dir.file("fp32.bump")));
}

TEST_CASE_METHOD(Fixture, "a random model of a type is the random model, quantized") {
  for (const ModelConfig &config : {smallConfig(), wideConfig()}) {
    auto from = random(config);
    for (const WeightFormat &format : weightFormats()) {
      WeightTypes types = typesOf(config, {.matrices = format.type});
      convert(*from, "q.bump", types);
      auto losses = writeConverted(dir.file("r.bump"), config, types, *randomSource(config, 9));
      REQUIRE(static_cast<bool>(losses));
      INFO(format.name.str());
      CHECK(readBytes(dir.file("r.bump")) == readBytes(dir.file("q.bump")));
    }
  }
}

TEST_CASE_METHOD(Fixture, "padding stays zero, whatever the format") {
  // Heads of 12 lanes and rows of 24 weights, both padded inside blocks of 32; w2's rows are 40 of 64.
  ModelConfig config = smallConfig();
  config.intermediateSize = 56;
  auto from = random(config);
  std::vector<TensorSpec> plain = weightTensors(config);
  for (const WeightFormat &format : weightFormats()) {
    convert(*from, "q.bump", typesOf(config, {.matrices = format.type}));
    auto values = valuesOf(*open("q.bump"));
    for (size_t i = 0; i < values.size(); ++i) {
      INFO(format.name.str() << " " << tensorLabel(plain[i]));
      plain[i].forEachLogicalRun([&](int64_t first, int64_t count) {
        std::fill_n(values[i].begin() + first, count, 0.0f);
      });
      CHECK(std::count(values[i].begin(), values[i].end(), 0.0f) == plain[i].elements());
    }
  }
}

TEST_CASE_METHOD(Fixture, "bytes and losses are the same for any number of threads") {
  ModelConfig config = wideConfig();
  config.vocabSize = 20000; // three batches
  auto from = random(config);
  WeightTypes types = typesOf(config, {.matrices = DType::Q4_K, .embedding = DType::Q8_0, .layers = {{1, 1, DType::Q6_K}}});
  std::vector<TensorLoss> one = convert(*from, "one.bump", types);
  const std::string bytes = readBytes(dir.file("one.bump"));
  for (unsigned count : {1, 2, 5}) {
    std::vector<TensorLoss> many = convert(*from, "many.bump", types, {.parallel = threads(count)});
    CHECK(readBytes(dir.file("many.bump")) == bytes);
    for (size_t i = 0; i < one.size(); ++i) {
      CHECK(many[i].squaredError == one[i].squaredError);
      CHECK(many[i].squares == one[i].squares);
    }
  }
}

TEST_CASE_METHOD(Fixture, "quantized files are taken as they stand, or decoded") {
  auto fp32 = random(wideConfig());
  WeightTypes mixed = typesOf(wideConfig(), {.matrices = DType::Q6_K, .embedding = DType::FP16,
                                             .layers = {{1, 1, DType::Q4_1}}});
  convert(*fp32, "mixed.bump", mixed);
  auto from = open("mixed.bump");
  auto values = valuesOf(*from);

  // The same types: the same bytes, not fitted again.
  for (const TensorLoss &loss : convert(*from, "again.bump", mixed))
    CHECK(loss.squaredError == 0);
  CHECK(readBytes(dir.file("again.bump")) == readBytes(dir.file("mixed.bump")));

  // fp32: the decoded values, wo head by head.
  for (const TensorLoss &loss : convert(*from, "plain.bump", {}))
    CHECK(loss.squaredError == 0);
  CHECK(valuesOf(*open("plain.bump")) == values);

  // From quantized to quantized is what the decoded model gives.
  WeightTypes other = typesOf(wideConfig(), {.matrices = DType::Q8_0});
  convert(*from, "direct.bump", other);
  auto plain = open("plain.bump");
  convert(*plain, "over.bump", other);
  CHECK(readBytes(dir.file("direct.bump")) == readBytes(dir.file("over.bump")));
}

TEST_CASE_METHOD(Fixture, "heads narrower than a block, out of a quantized wo") {
  // 8 heads of 32 lanes in one block of 256: three neighbours are decoded along.
  ModelConfig config = wideConfig();
  config.numHeads = 8;
  auto fp32 = random(config);
  convert(*fp32, "q.bump", typesOf(config, {.matrices = DType::Q4_K}));
  auto from = open("q.bump");
  auto values = valuesOf(*from);
  convert(*from, "plain.bump", {});
  CHECK(valuesOf(*open("plain.bump")) == values);
}

TEST_CASE_METHOD(Fixture, "golden files decode to fp32 files of the same values") {
  for (const char *name : {"e_q4k", "f_q6k", "g_mixed"}) {
    std::string path = sharedPath(std::string("golden/") + name + "/model.bump");
    if (path.empty())
      return;
    auto from = llvm::cantFail(BumpFile::open(path));
    convert(*from, "plain.bump", {});
    CHECK(valuesOf(*open("plain.bump")) == valuesOf(*from));
  }
}

TEST_CASE_METHOD(Fixture, "without a path nothing is written, and the losses are the same") {
  auto from = random(wideConfig());
  WeightTypes types = typesOf(from->config, {.matrices = DType::Q5_1});
  std::vector<TensorLoss> losses = convert(*from, "q.bump", types);
  size_t files = dir.list().size();
  std::vector<TensorLoss> dry = convert(*from, "", types);
  CHECK(dir.list().size() == files);
  for (size_t i = 0; i < losses.size(); ++i)
    CHECK(dry[i].squaredError == losses[i].squaredError);
}

TEST_CASE_METHOD(Fixture, "values that cannot be encoded are errors with tensor and element, and leave nothing behind") {
  struct Row {
    const char *tensor;
    int layer;
    int64_t element; // in the fp32 file
    float value;
    DType type;
    std::string message;
  };
  const float inf = std::numeric_limits<float>::infinity();
  const Row rows[] = {
      {"wq", 1, 60001, NAN, DType::Q4_K, "layer 1 wq, element 60001 of 65536: found nan, expected a finite number"},
      {"ln1_gamma", 0, 3, -inf, DType::Q8_0, "layer 0 ln1_gamma, element 3 of 256: found -inf, expected a finite number"},
      // Of head 2, out row 7, lane 5.
      {"wo", 0, (2 * 256 + 7) * 64 + 5, inf, DType::Q6_K,
       "layer 0 wo, element 33221 of 65536: found inf, expected a finite number"},
      {"token_emb", -1, 513, 70000.0f, DType::FP16,
       "token_emb, element 513 of 8448: found 70000.00, expected less, for fp16 cannot hold it; choose another format"},
      {"w2", 1, 0, 1e30f, DType::Q5_0, "layer 1 w2, element 0 of 131072: found "}};
  for (const Row &row : rows) {
    REQUIRE(llvm::toString(writeBump(dir.file("bad.bump"), wideConfig(), [&](const TensorSpec &spec, float *dst) {
              for (int64_t i = 0; i < spec.elements(); ++i)
                dst[i] = 0.01f * static_cast<float>(i % 13 - 6);
              if (spec.name == row.tensor && spec.layer == row.layer)
                dst[row.element] = row.value;
            })) == "");
    auto from = open("bad.bump");
    size_t files = dir.list().size();
    for (unsigned count : {1, 4}) {
      auto losses = writeConverted(dir.file("q.bump"), wideConfig(), typesOf(wideConfig(), {.matrices = row.type}),
                                   *fileSource(*from), {.parallel = threads(count), .sourceName = "bad.bump"});
      REQUIRE_FALSE(static_cast<bool>(losses));
      CHECK_THAT(llvm::toString(losses.takeError()), Contains("bad.bump: " + row.message));
    }
    CHECK(dir.list().size() == files);
  }
}

TEST_CASE_METHOD(Fixture, "elements of a quantized wo are counted as its file has them") {
  auto fp32 = random(wideConfig());
  WeightTypes types = typesOf(wideConfig(), {.matrices = DType::Q8_0});
  convert(*fp32, "q.bump", types);
  std::string bytes = readBytes(dir.file("q.bump"));
  auto good = open("q.bump");
  // Row 3 of wo of layer 0 is 8 blocks; the scale of its block 4, lanes 0 to 31 of head 2.
  put(bytes, good->tensors[10].fileOffset + (3 * 8 + 4) * 34, 0x7E00, 2);
  writeBytes(dir.file("bad.bump"), bytes);
  auto bad = llvm::cantFail(BumpFile::open(dir.file("bad.bump"), {.verifyChecksum = false}));
  for (const WeightTypes &to : {WeightTypes(), types}) {
    auto losses = writeConverted("", wideConfig(), to, *fileSource(*bad), {.sourceName = "bad.bump"});
    REQUIRE_FALSE(static_cast<bool>(losses));
    CHECK(llvm::toString(losses.takeError()) ==
          "bad.bump: layer 0 wo, element 896 of 65536: found nan, expected a finite number");
  }
}

TEST_CASE_METHOD(Fixture, "progress goes up to all elements, and can stop") {
  auto from = random(wideConfig());
  WeightTypes types = typesOf(from->config, {.matrices = DType::Q8_0});
  int64_t last = 0, total = 0, all = 0;
  convert(*from, "q.bump", types, {.progress = [&](int64_t done, int64_t of) {
            CHECK(done > last);
            last = done;
            total = of;
            return llvm::Error::success();
          }});
  for (const TensorSpec &spec : weightTensors(wideConfig()))
    all += spec.elements();
  CHECK(last == all);
  CHECK(total == all);
  size_t files = dir.list().size();
  auto stopped = writeConverted(dir.file("other.bump"), from->config, types, *fileSource(*from),
                                {.progress = [](int64_t, int64_t) { return llvm::createStringError("enough"); }});
  REQUIRE_FALSE(static_cast<bool>(stopped));
  CHECK(llvm::toString(stopped.takeError()) == "enough");
  CHECK(dir.list().size() == files);
}

TEST_CASE_METHOD(Fixture, "memory is bounded while a model is converted") {
  ModelConfig config = smallConfig();
  config.vocabSize = 300000; // 37 MiB of token_emb
  auto from = random(config);
  resetLargestAllocation();
  convert(*from, "q.bump", typesOf(config, {.matrices = DType::Q8_0}));
  CHECK(largestAllocation() <= size_t(8) << 20);
}

TEST_CASE_METHOD(Fixture, "types that a tensor cannot have are errors before anything is written") {
  auto from = random(smallConfig());
  size_t files = dir.list().size();
  for (std::string path : {dir.file("q.bump"), std::string()}) {
    auto losses = writeConverted(path, smallConfig(), WeightTypes(32, DType::Q4_K), *fileSource(*from));
    REQUIRE_FALSE(static_cast<bool>(losses));
    CHECK_THAT(llvm::toString(losses.takeError()), Contains("token_emb is q4_k, whose blocks are 256 weights"));
  }
  CHECK(dir.list().size() == files);
}

TEST_CASE_METHOD(Fixture, "parts of a tensor are read inside it") {
  auto file = random(smallConfig());
  std::vector<uint8_t> whole(file->tensors[4].bytes), part(100);
  llvm::cantFail(file->readTensor(4, whole.data(), whole.size()));
  REQUIRE(llvm::toString(file->readTensorPart(4, whole.size() - 100, part)) == "");
  CHECK(std::equal(part.begin(), part.end(), whole.end() - 100));
  CHECK_THAT(llvm::toString(file->readTensorPart(4, whole.size() - 99, part)), Contains("bytes of layer 0 wq: found 100"));
  CHECK_THAT(llvm::toString(file->readTensorPart(4, ~uint64_t(0), part)), Contains("bytes of layer 0 wq"));
  CHECK_THAT(llvm::toString(file->readTensorPart(32, 0, part)), Contains("tensor index: found 32"));
}
