//===- ModelRun.cpp - A compiled model beside the reference ---------------===//
#include "ModelRun.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

using namespace llvm;

namespace ckjit::test {

CompileOptions hostOptions(bool strict, bool materialize) {
  static const TargetDescription host = must(describeTarget("native"));
  CompileOptions options;
  options.target = host;
  options.pipeline.strict = strict;
  options.pipeline.materialize = materialize;
  return options;
}

int64_t hostLanes() { return hostOptions().target.vectorBits / 32; }

CompileOptions modeOptions(uint64_t mode) {
  CompileOptions options = hostOptions(/*strict=*/mode % 4 == 1, /*materialize=*/mode % 4 == 2);
  options.pipeline.fuse = mode % 4 != 3;
  return options;
}

ModelConfig tinyConfig() {
  ModelConfig c;
  c.numLayers = 2;
  c.hiddenSize = 24;
  c.intermediateSize = 20;
  c.numHeads = 4;
  c.numKVHeads = 2;
  c.vocabSize = 33;
  c.contextWindow = 20;
  c.ropeTheta = 10000.0f;
  return c;
}

std::unique_ptr<Model> makeModel(const CKIRGraph &graph, const CompileOptions &options, const TestModel &weights,
                                 unsigned threads) {
  std::unique_ptr<Model> model = must(Model::create(graph, "test", {options, threads}));
  model->fillWeights([&](const TensorSpec &spec, float *dst) { weights.copyTensor(spec, dst); });
  return model;
}

std::string readFile(const std::string &path) {
  return must(errorOrToExpected(MemoryBuffer::getFile(path)))->getBuffer().str();
}

std::vector<double> readFloats(const std::string &path) {
  const std::string bytes = readFile(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return std::vector<double>(values.begin(), values.end());
}

std::unique_ptr<Model> loadModel(const std::string &folder, const CompileOptions &options) {
  const std::unique_ptr<BumpFile> file = must(BumpFile::open(folder + "/model.bump"));
  std::unique_ptr<Model> model = must(Model::create(buildForwardGraph(file->config), folder, {options, 2}));
  must(model->load(*file));
  return model;
}

std::vector<ReferenceValue> referenceValues(const CKIRGraph &graph, const TestModel &weights,
                                            ArrayRef<int32_t> tokens) {
  std::vector<ReferenceValue> values;
  must(runReference(graph, weights, tokens, [&](const ReferenceValue &value) {
    values.push_back(value);
    return true;
  }));
  return values;
}

std::vector<double> referenceLogits(const CKIRGraph &graph, const TestModel &weights, ArrayRef<int32_t> tokens) {
  std::vector<double> logits;
  must(runReference(graph, weights, tokens, [&](const ReferenceValue &value) {
    if (value.name == "logits")
      logits = value.data;
    return true;
  }));
  return logits;
}

std::vector<float> runLogits(Model &model, ArrayRef<int32_t> tokens) {
  must(model.prefill(tokens, 0));
  const float *first = model.logits(0).data();
  return std::vector<float>(first, first + tokens.size() * static_cast<size_t>(model.config().vocabSize));
}

std::vector<float> runSteps(Model &model, ArrayRef<int32_t> tokens, int64_t length) {
  return runPieces(model, tokens, length);
}

std::vector<float> runPieces(Model &model, ArrayRef<int32_t> tokens, ArrayRef<int64_t> lengths) {
  const size_t vocab = static_cast<size_t>(model.config().vocabSize);
  std::vector<float> all;
  size_t index = 0;
  for (size_t position = 0; position < tokens.size(); ++index) {
    const size_t length = static_cast<size_t>(lengths[std::min(index, lengths.size() - 1)]);
    const ArrayRef<int32_t> piece = tokens.drop_front(position).take_front(length);
    must(model.prefill(piece, 0, {}, static_cast<int64_t>(position)));
    position += piece.size();
    if (model.cached() != static_cast<int64_t>(position))
      throw std::runtime_error("the cache holds " + std::to_string(model.cached()) + " tokens");
    const float *rows = model.logits(0).data();
    all.insert(all.end(), rows, rows + piece.size() * vocab);
  }
  return all;
}

bool sameBits(ArrayRef<float> a, ArrayRef<float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double largestOf(ArrayRef<double> values) {
  double largest = 0;
  for (double value : values)
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : std::numeric_limits<double>::infinity();
  return largest;
}

std::string Distance::text() const {
  return fmt::format("worst: row {}, element {}: found {:.9g}, expected {:.9g}, distance {:.3g}", row, column, found,
                     expected, worst);
}

Distance distanceOf(ArrayRef<float> found, ArrayRef<double> expected, size_t columns) {
  Distance result;
  if (found.size() != expected.size())
    throw std::runtime_error(fmt::format("compares {} values with {}", found.size(), expected.size()));
  for (size_t i = 0; i < found.size(); ++i) {
    const double now = std::abs(static_cast<double>(found[i]) - expected[i]);
    if (now <= result.worst)
      continue;
    result = {now, i / columns, i % columns, static_cast<double>(found[i]), expected[i]};
    if (std::isnan(now)) {
      result.worst = std::numeric_limits<double>::infinity();
      return result;
    }
  }
  return result;
}

double toleranceFor(ArrayRef<double> logits, bool strict) {
  return (strict ? kLogitToleranceStrict : kLogitTolerance) * std::max(1.0, largestOf(logits) / kLogitSize);
}

} // namespace ckjit::test
