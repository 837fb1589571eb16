//===- GoldenTest.cpp - Vectors of the seed system and a trained model ----===//
//
// Where the shared data is absent these cases say so and pass; ModelTest.cpp holds the same maths against models that
// the project makes itself.
//
//===----------------------------------------------------------------------===//
#include "Capture.h"
#include "Support/SharedData.h"
#include "Support/TestModel.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace ckjit;
using namespace ckjit::test;
using llvm::StringRef;

namespace {

std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  INFO(path);
  REQUIRE(buffer);
  return (*buffer)->getBuffer().str();
}

template <typename T> std::vector<T> readNumbers(const std::string &path) {
  const std::string bytes = readFile(path);
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

llvm::json::Value readJson(const std::string &path) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(readFile(path));
  REQUIRE(static_cast<bool>(value));
  return std::move(*value);
}

ModelConfig readConfig(const std::string &path) {
  const llvm::json::Value json = readJson(path);
  const llvm::json::Object &object = *json.getAsObject();
  const auto integer = [&](StringRef key) { return object.getInteger(key).value(); };
  ModelConfig c;
  c.numLayers = integer("num_hidden_layers");
  c.hiddenSize = integer("hidden_size");
  c.intermediateSize = integer("intermediate_size");
  c.numHeads = integer("num_attention_heads");
  c.numKVHeads = integer("num_key_value_heads");
  c.vocabSize = integer("vocab_size");
  c.contextWindow = integer("max_position_embeddings");
  c.rmsNormEps = static_cast<float>(object.getNumber("rms_norm_eps").value());
  c.ropeTheta = static_cast<float>(object.getNumber("rope_theta").value());
  return c;
}

/// Tensors of a fp32 BUMPWGT3: 128 bytes of header, u32 table length, table, tensors in the file's order (SPEC 2.1).
class BumpWeights {
public:
  BumpWeights(const std::string &path, const ModelConfig &config) : config(config), bytes(readFile(path)) {
    REQUIRE(StringRef(bytes).starts_with("BUMPWGT3"));
    uint32_t tableLength = 0;
    std::memcpy(&tableLength, bytes.data() + 128, sizeof(tableLength));
    values.resize((bytes.size() - 132 - tableLength) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + 132 + tableLength, values.size() * sizeof(float));
    index();
  }

  const float *operator()(StringRef name, int layer) const {
    return values.data() + offsets.at({name.str(), layer});
  }

private:
  void index() {
    const size_t aD = size(config.alignedHidden()), ad = size(config.alignedHead());
    const size_t aI = size(config.alignedIntermediate()), H = size(config.numHeads), K = size(config.numKVHeads);
    place("token_emb", -1, size(config.vocabSize) * aD);
    place("pos_emb", -1, size(config.contextWindow) * aD);
    for (int l = 0; l < config.numLayers; ++l) {
      const std::pair<const char *, size_t> layer[] = {
          {"ln1_gamma", aD}, {"ln2_gamma", aD}, {"wq", H * ad * aD}, {"bq", H * ad}, {"wk", K * ad * aD},
          {"bk", K * ad},    {"wv", K * ad * aD}, {"bv", K * ad},    {"wo", H * aD * ad}, {"bo", aD},
          {"w1", 2 * aI * aD}, {"b1", 2 * aI},  {"w2", aD * aI},     {"b2", aD}};
      for (auto [name, count] : layer)
        place(name, l, count);
    }
    place("final_ln_weight", -1, aD);
    place("final_ln_bias", -1, aD);
    REQUIRE(cursor == values.size());
  }

  void place(const char *name, int layer, size_t count) {
    offsets[{name, layer}] = cursor;
    cursor += count;
  }

  static size_t size(int64_t n) { return static_cast<size_t>(n); }

  ModelConfig config;
  std::string bytes;
  std::vector<float> values;
  std::map<std::pair<std::string, int>, size_t> offsets;
  size_t cursor = 0;
};

/// Logits [T][V] of the canonical graph.
std::vector<double> logitsOf(const ModelConfig &config, const BumpWeights &weights, llvm::ArrayRef<int32_t> tokens) {
  std::vector<double> logits;
  llvm::Error error = runReference(buildForwardGraph(config), weights, tokens, [&](const ReferenceValue &value) {
    if (value.name == "logits")
      logits = value.data;
    return true;
  });
  const std::string message = toString(std::move(error));
  INFO(message);
  REQUIRE(message.empty());
  return logits;
}

void compareLogits(llvm::ArrayRef<double> logits, llvm::ArrayRef<float> golden, int64_t vocab) {
  REQUIRE(logits.size() == golden.size());
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < golden.size(); ++i)
    if (!(std::abs(logits[i] - static_cast<double>(golden[i])) <= worst)) {
      worst = std::abs(logits[i] - static_cast<double>(golden[i]));
      where = i;
    }
  INFO("worst: token " << where / static_cast<size_t>(vocab) << ", logit " << where % static_cast<size_t>(vocab)
                       << ", distance " << worst);
  CHECK(worst <= 2e-5); // the golden values were rounded to fp32, a few 1e-6 at this size
}

} // namespace

TEST_CASE("golden logits of the seed system") {
  for (const char *name : {"a_mha_fp32", "b_gqa_fp32", "b_gqa_full", "c_awkward_dims", "d_nope_pos", "i_decode"}) {
    INFO(name);
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      continue;
    const ModelConfig config = readConfig(folder + "/config.json");
    std::vector<int32_t> tokens = readNumbers<int32_t>(folder + "/tokens.bin");
    for (int32_t &id : tokens) // as the seed does: case c holds two ids out of range
      if (id < 0 || id >= config.vocabSize)
        id = 0;
    const BumpWeights weights(folder + "/model.bump", config);
    compareLogits(logitsOf(config, weights, tokens), readNumbers<float>(folder + "/logits_fp64.bin"), config.vocabSize);
  }
}

TEST_CASE("golden cases have the shapes of the project's own small configs") {
  const char *folders[] = {"a_mha_fp32", "b_gqa_fp32", "b_gqa_full", "c_awkward_dims", "d_nope_pos", "i_decode"};
  const std::vector<NamedConfig> own = goldenConfigs();
  REQUIRE(own.size() == std::size(folders));
  for (size_t i = 0; i < own.size(); ++i) {
    const std::string folder = sharedPath(std::string("golden/") + folders[i]);
    if (!folder.empty())
      CHECK(readConfig(folder + "/config.json") == own[i].config);
  }
}

TEST_CASE("a trained model's greedy text comes out token by token") {
  const std::string folder = sharedPath("data/stories260K");
  if (folder.empty())
    return;
  const ModelConfig config = readConfig(folder + "/config.json");
  const BumpWeights weights(folder + "/model.bump", config);
  const llvm::json::Value greedy = readJson(folder + "/greedy.json");
  for (const char *name : {"empty", "once", "lily", "dog"}) {
    INFO(name);
    const std::vector<int32_t> tokens = readNumbers<int32_t>(folder + "/" + name + ".tokens.bin");
    const std::vector<double> logits = logitsOf(config, weights, tokens);
    const llvm::json::Object &entry = *greedy.getAsObject()->getObject(name);
    REQUIRE(entry.getInteger("n_tokens") == static_cast<int64_t>(tokens.size()));
    const size_t from = static_cast<size_t>(entry.getInteger("greedy_from").value());
    for (size_t t = from - 1; t + 1 < tokens.size(); ++t) {
      const auto row = logits.begin() + static_cast<ptrdiff_t>(t) * config.vocabSize;
      INFO("position " << t);
      CHECK(std::max_element(row, row + config.vocabSize) - row == tokens[t + 1]);
    }
  }
}
