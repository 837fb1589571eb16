//===- LoadTest.cpp - Weights from files, and what prefill refuses --------===//
#include "ModelRun.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

namespace {

/// A path that goes away with the object.
class TemporaryFile {
public:
  TemporaryFile() {
    if (llvm::sys::fs::createTemporaryFile("ckjit-engine", "bump", path))
      throw std::runtime_error("no place for a temporary file");
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
  llvm::StringRef name() const { return path; }

private:
  llvm::SmallString<128> path;
};

std::unique_ptr<BumpFile> writeAndOpen(const TestModel &weights, llvm::StringRef path) {
  must(writeBump(path, weights.config(), [&](const TensorSpec &spec, float *dst) { weights.copyTensor(spec, dst); }));
  return must(BumpFile::open(path));
}

std::string refusal(Model &model, std::vector<int32_t> tokens, int64_t firstRow = 0,
                    std::vector<int32_t> targets = {}) {
  return llvm::toString(model.prefill(tokens, firstRow, targets));
}

} // namespace

TEST_CASE("a loaded file gives the bits of the same weights in memory") {
  for (const NamedConfig &named : {goldenConfigs()[3], goldenConfigs()[4], awkwardConfigs()[2]}) {
    INFO(named.name);
    const TestModel weights(named.config);
    const CKIRGraph graph = buildForwardGraph(named.config);
    const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow);
    const TemporaryFile place;
    const std::unique_ptr<BumpFile> file = writeAndOpen(weights, place.name());
    const std::unique_ptr<Model> model = must(Model::create(graph, "file", {hostOptions(), 3}));
    uint64_t last = 0, total = 0, heard = 0;
    must(model->load(*file, [&](uint64_t done, uint64_t all) {
      heard += done < last || done > all;
      last = done;
      total = all;
      return llvm::Error::success();
    }));
    uint64_t bytes = 0;
    for (const BumpTensor &tensor : file->tensors)
      bytes += tensor.bytes;
    CHECK((total == 0 || total == bytes)); // thread 0 may not have had a tensor
    CHECK(heard == 0);
    CHECK(sameBits(runLogits(*makeModel(graph, hostOptions(), weights), tokens), runLogits(*model, tokens)));
  }
}

TEST_CASE("loading that is told to stop ends with what told it") {
  const NamedConfig named = goldenConfigs()[3];
  const TestModel weights(named.config);
  const TemporaryFile place;
  const std::unique_ptr<BumpFile> file = writeAndOpen(weights, place.name());
  const std::unique_ptr<Model> model = must(Model::create(buildForwardGraph(named.config), "file", {hostOptions(), 1}));
  int calls = 0;
  auto stop = [&](uint64_t, uint64_t) { return ++calls < 3 ? llvm::Error::success() : llvm::createStringError("enough"); };
  CHECK(llvm::toString(model->load(*file, stop)) == "enough");
  CHECK(calls == 3);
  must(model->load(*file));
}

TEST_CASE("a file with more positions than the model's context fills the first of them") {
  ModelConfig config = goldenConfigs()[4].config; // learned positions
  const TestModel weights(config);
  const TemporaryFile place;
  const std::unique_ptr<BumpFile> file = writeAndOpen(weights, place.name());
  BumpOpenOptions options;
  options.overrides.contextWindow = 10;
  const std::unique_ptr<BumpFile> shorter = must(BumpFile::open(place.name(), options));
  REQUIRE(shorter->config.contextWindow == 10);
  const std::unique_ptr<Model> model =
      must(Model::create(buildForwardGraph(shorter->config), "file", {hostOptions(), 2}));
  must(model->load(*shorter));
  const std::vector<int32_t> tokens = makeTokens(config, 10);
  const std::vector<double> expected = referenceLogits(buildForwardGraph(config), weights, tokens);
  const Distance distance = distanceOf(runLogits(*model, tokens), expected, static_cast<size_t>(config.vocabSize));
  INFO(distance.text());
  CHECK(distance.worst <= toleranceFor(expected, false));
  CHECK_THAT(refusal(*model, makeTokens(config, 11)), Contains("11") && Contains("10"));
}

TEST_CASE("a file whose types aren't those that the model was compiled for is refused, the tensor by name") {
  ModelConfig config = tinyConfig();
  config.hiddenSize = 64; // rows of two blocks of q8_0
  config.intermediateSize = 96;
  const TestModel weights(config);
  const TemporaryFile place;
  const std::unique_ptr<BumpFile> file = writeAndOpen(weights, place.name());
  const CKIRGraph graph = buildForwardGraph(config);
  const std::unique_ptr<Model> plain = makeModel(graph, hostOptions(), weights);
  file->tensors[4].dtype = DType::Q4_K;
  CHECK_THAT(llvm::toString(plain->load(*file)),
             Contains(place.name().str() + ": layer 0 wq is q4_k, expected fp32, for which the model was compiled"));
  file->tensors[0].dtype = DType::Q6_K;
  CHECK_THAT(llvm::toString(plain->load(*file)), Contains(": token_emb is q6_k, expected fp32"));
  // The other way round.
  CompileOptions options = hostOptions();
  options.weightTypes.assign(file->tensors.size(), DType::FP32);
  options.weightTypes[14] = DType::Q8_0; // w2 of layer 0, behind token_emb, pos_emb and 12 of its layer
  const std::unique_ptr<Model> quantized = must(Model::create(graph, "graph", {options, 1}));
  const std::unique_ptr<BumpFile> sound = must(BumpFile::open(place.name()));
  CHECK_THAT(llvm::toString(quantized->load(*sound)), Contains(place.name().str() + ": layer 0 w2 is fp32, expected q8_0"));
  CHECK(llvm::StringRef(llvm::toString(quantized->load(*sound))).contains("for which the model was compiled"));
}

TEST_CASE("what prefill refuses, with the value found and what is expected") {
  const TestModel weights(tinyConfig()); // V 33, C 20
  const std::unique_ptr<Model> model = makeModel(buildForwardGraph(tinyConfig()), hostOptions(), weights);
  CHECK_THAT(refusal(*model, {}), Contains("0 tokens") && Contains("20"));
  CHECK_THAT(refusal(*model, std::vector<int32_t>(21, 1)), Contains("21 tokens") && Contains("20"));
  CHECK_THAT(refusal(*model, {1, 2, 33}), Contains("token 2") && Contains("33") && Contains("32"));
  CHECK_THAT(refusal(*model, {1, -1, 5}), Contains("token 1") && Contains("-1"));
  CHECK_THAT(refusal(*model, {INT32_MIN}), Contains("token 0") && Contains("-2147483648"));
  CHECK_THAT(refusal(*model, {1, 2}, 2), Contains("first row") && Contains("2"));
  CHECK_THAT(refusal(*model, {1, 2}, -1), Contains("first row") && Contains("-1"));
  CHECK_THAT(refusal(*model, {1, 2}, 0, {1}), Contains("1 targets") && Contains("2 tokens"));
  CHECK_THAT(refusal(*model, {1, 2}, 0, {1, 33}), Contains("target 1") && Contains("33"));
  CHECK_THAT(refusal(*model, {1, 2}, 0, {-99, 1}), Contains("target 0") && Contains("-99"));
  CHECK(refusal(*model, {1, 2}, 1, {-100, 1}).empty());
}

TEST_CASE("a refused prompt leaves the results of the run before") {
  const TestModel weights(tinyConfig());
  const std::unique_ptr<Model> model = makeModel(buildForwardGraph(tinyConfig()), hostOptions(), weights);
  const std::vector<float> before = runLogits(*model, {1, 2, 3});
  CHECK_FALSE(refusal(*model, {4, 5, 99}).empty());
  CHECK(sameBits(before, llvm::ArrayRef(model->buffer("logits"), before.size())));
  CHECK(model->losses().size() == 3);
}

TEST_CASE("what can't be made into a model is an error") {
  const auto errorOf = [](const CKIRGraph &graph, unsigned threads) {
    llvm::Expected<std::unique_ptr<Model>> model = Model::create(graph, "graph.json", {hostOptions(), threads});
    return model ? std::string() : llvm::toString(model.takeError());
  };
  CKIRGraph backward = buildForwardGraph(tinyConfig());
  backward.nodes[8].op = NodeOp::LinearBwd;
  CHECK_THAT(errorOf(backward, 1), Contains("graph.json") && Contains("L0:N8") && Contains("LINEAR_BWD"));
  CKIRGraph empty = buildForwardGraph(tinyConfig());
  empty.nodes.clear();
  CHECK_THAT(errorOf(empty, 1), Contains("graph.json"));
  CKIRGraph noContext = buildForwardGraph(tinyConfig());
  noContext.config.contextWindow = 0;
  CHECK_FALSE(errorOf(noContext, 1).empty());
  CHECK_FALSE(errorOf(buildForwardGraph(tinyConfig()), 100000).empty());
  ModelConfig huge = tinyConfig();
  huge.vocabSize = huge.contextWindow = (int64_t{1} << 31) - 1;
  huge.numLayers = 65535;
  CHECK_FALSE(errorOf(buildForwardGraph(huge), 1).empty());
}
