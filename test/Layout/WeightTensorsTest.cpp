//===- WeightTensorsTest.cpp - Order, shapes and padding of the tensors ---===//
#include "ckjit/Layout/ArenaPlan.h"
#include <catch2/catch.hpp>

using namespace ckjit;

namespace {
using Shape = llvm::SmallVector<int64_t, 3>;

/// hd 20, aligned 32; hidden 60, aligned 64; intermediate 100, aligned 112.
ModelConfig awkwardDims() {
  return {.numLayers = 2, .hiddenSize = 60, .intermediateSize = 100, .numHeads = 3, .numKVHeads = 1, .vocabSize = 257,
          .contextWindow = 17, .rmsNormEps = 1e-6f, .ropeTheta = 500000.0f};
}

int64_t payloadBytes(const ModelConfig &config) {
  int64_t elements = 0;
  for (const TensorSpec &spec : weightTensors(config))
    elements += spec.elements();
  return 4 * elements;
}
} // namespace

TEST_CASE("the types of a model in words") {
  const ModelConfig config{.numLayers = 2, .hiddenSize = 256, .intermediateSize = 256, .numHeads = 4, .numKVHeads = 4,
                           .vocabSize = 5, .contextWindow = 4, .ropeTheta = 1e4f};
  // token_emb, pos_emb, then 14 a layer with matrices at 2, 4, 6, 8, 10 and 12 of them, then 2.
  WeightTypes types(2 + 2 * 14 + 2, DType::FP32);
  CHECK(describeTypes(config, {}) == "fp32");
  CHECK(describeTypes(config, types) == "fp32");
  types[0] = DType::Q6_K;
  CHECK(describeTypes(config, types) == "fp32, embedding q6_k");
  for (size_t layer : {0, 1})
    for (size_t matrix : {2, 4, 6, 8, 10, 12})
      types[2 + 14 * layer + matrix] = DType::Q4_K;
  CHECK(describeTypes(config, types) == "q4_k, embedding q6_k");
  types[0] = DType::Q4_K;
  CHECK(describeTypes(config, types) == "q4_k");
  types[4] = DType::Q6_K;
  types[30 - 2] = DType::FP16; // w2 of layer 1
  CHECK(describeTypes(config, types) == "mixed: 10 q4_k, 1 fp16, 1 q6_k, embedding q4_k");
}

TEST_CASE("tensors come in the file's order") {
  std::vector<std::string> names;
  for (const TensorSpec &spec : weightTensors(awkwardDims()))
    names.push_back(std::to_string(spec.layer) + " " + spec.name);
  std::vector<std::string> expected = {"-1 token_emb", "-1 pos_emb"};
  for (const char *layer : {"0 ", "1 "})
    for (const char *name : {"ln1_gamma", "ln2_gamma", "wq", "bq", "wk", "bk", "wv", "bv", "wo", "bo", "w1", "b1",
                             "w2", "b2"})
      expected.push_back(std::string(layer) + name);
  expected.insert(expected.end(), {"-1 final_ln_weight", "-1 final_ln_bias"});
  CHECK(names == expected);
}

TEST_CASE("tensor shapes are those of SPEC 2.3") {
  std::vector<TensorSpec> tensors = weightTensors(awkwardDims());
  const Shape expected[] = {{257, 64}, {17, 64},    {64}, {64},       {3, 32, 64}, {3, 32},  {1, 32, 64}, {1, 32},
                            {1, 32, 64}, {1, 32}, {3, 64, 32}, {64}, {224, 64},   {224},    {64, 112},   {64}};
  for (size_t i = 0; i < std::size(expected); ++i) {
    INFO(tensors[i].name);
    CHECK(tensors[i].shape == expected[i]);
  }
  CHECK(tensors.back().shape == Shape{64});
}

TEST_CASE("payload sizes equal those of files made by the seed's tools") {
  // File size minus 128 header bytes, 4 length bytes and 14 L + 4 table bytes.
  ModelConfig c = awkwardDims();
  c.numKVHeads = 3;
  CHECK(payloadBytes(c) == 445604 - 132 - 32);
  ModelConfig train{.numLayers = 1, .hiddenSize = 64, .intermediateSize = 88, .numHeads = 4, .numKVHeads = 2,
                    .vocabSize = 70, .contextWindow = 20};
  CHECK(payloadBytes(train) == 148886 - 132 - 18);
  ModelConfig stories{.numLayers = 5, .hiddenSize = 64, .intermediateSize = 172, .numHeads = 8, .numKVHeads = 4,
                      .vocabSize = 512, .contextWindow = 256};
  CHECK(payloadBytes(stories) == 1381966 - 132 - 74);
}

TEST_CASE("logical runs cover each real element once and no padding") {
  for (const TensorSpec &spec : weightTensors(awkwardDims())) {
    INFO(spec.name);
    std::vector<int> seen(spec.elements());
    spec.forEachLogicalRun([&](int64_t first, int64_t count) {
      REQUIRE(first >= 0);
      REQUIRE(first + count <= spec.elements());
      for (int64_t i = first; i < first + count; ++i)
        ++seen[i];
    });
    auto expected = [&](int64_t i) -> bool {
      if (spec.name == "wq" || spec.name == "wk" || spec.name == "wv")
        return i % 64 < 60 && i / 64 % 32 < 20;
      if (spec.name == "wo")
        return i % 32 < 20 && i / 32 % 64 < 60;
      if (spec.name == "w1")
        return i % 64 < 60 && i / 64 % 112 < 100;
      if (spec.name == "b1")
        return i % 112 < 100;
      if (spec.name == "w2")
        return i % 112 < 100 && i / 112 < 60;
      if (spec.name[0] == 'b' && spec.name != "bo" && spec.name != "b2")
        return i % 32 < 20;
      return i % 64 < 60;
    };
    for (size_t i = 0; i < seen.size(); ++i)
      if (seen[i] != expected(i))
        FAIL("element " << i << " seen " << seen[i] << " times");
  }
}

namespace {
/// fp32 but for the tensors named, of any layer.
WeightTypes typesOf(const ModelConfig &config, std::initializer_list<std::pair<std::string, DType>> named) {
  WeightTypes types;
  for (const TensorSpec &spec : weightTensors(config)) {
    types.push_back(DType::FP32);
    for (auto &[name, type] : named)
      if (spec.name == name)
        types.back() = type;
  }
  return types;
}

std::string typesError(const ModelConfig &config, const WeightTypes &types) {
  return llvm::toString(checkWeightTypes(config, types, "a.bump"));
}
} // namespace

TEST_CASE("a quantized wo is rows of all heads side by side, others keep their shape") {
  ModelConfig config = awkwardDims(); // 3 heads of 20 lanes, padded to 32; D 60, padded to 64
  WeightTypes types = typesOf(config, {{"wo", DType::Q8_0}, {"wq", DType::Q8_0}, {"w1", DType::Q4_0}});
  types[2 + 14 + 8] = DType::FP16; // wo of layer 1: floats by themselves, so the fp32 shape
  std::vector<TensorSpec> plain = weightTensors(config), tensors = weightTensors(config, types);
  REQUIRE(tensors.size() == plain.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    INFO(tensorLabel(tensors[i]));
    CHECK(tensors[i].name == plain[i].name);
    CHECK(tensors[i].layer == plain[i].layer);
    CHECK(tensors[i].elements() == plain[i].elements());
    if (i == 2 + 8) {
      CHECK(tensors[i].shape == Shape{64, 96});
      CHECK(tensors[i].logical == Shape{60, 20});
      CHECK(tensors[i].heads == 3);
    } else {
      CHECK(tensors[i].shape == plain[i].shape);
      CHECK(tensors[i].logical == plain[i].logical);
      CHECK(tensors[i].heads == 1);
    }
  }
  // Rows 0 to 59; in each, lanes 0 to 19 of each head.
  std::vector<int> seen(64 * 96);
  tensors[2 + 8].forEachLogicalRun([&](int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i)
      ++seen.at(i);
  });
  for (size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != (i / 96 < 60 && i % 32 < 20))
      FAIL("element " << i << " seen " << seen[i] << " times");
}

TEST_CASE("types that tensors cannot have are errors with tensor and remainder") {
  ModelConfig config = awkwardDims(); // rows of 64; of wo 96, of w2 112
  CHECK(typesError(config, {}) == "");
  CHECK(typesError(config, typesOf(config, {})) == "");
  CHECK(typesError(config, typesOf(config, {{"token_emb", DType::BF16}, {"wq", DType::Q4_0}, {"wk", DType::Q4_1},
                                            {"wv", DType::Q5_0}, {"wo", DType::Q5_1}, {"w1", DType::Q8_0},
                                            {"w2", DType::FP16}})) == "");
  CHECK(typesError(config, WeightTypes(31, DType::FP32)) == "a.bump: found types of 31 weights, expected 32, one a tensor");
  CHECK(typesError(config, typesOf(config, {{"w2", DType::Q8_0}})) ==
        "a.bump: layer 0 w2 is q8_0, whose blocks are 32 weights, and its rows are 112, 3 blocks and 16 weights; choose "
        "another type for it");
  CHECK_THAT(typesError(config, typesOf(config, {{"wo", DType::Q6_K}})),
             Catch::Contains("layer 0 wo is q6_k, whose blocks are 256 weights, and its rows are 96, 0 blocks and 96"));
  for (DType type : {DType::BF16, DType::FP16, DType::Q8_0})
    for (const char *name : {"pos_emb", "ln1_gamma", "bq", "b2", "final_ln_bias"})
      CHECK_THAT(typesError(config, typesOf(config, {{name, type}})),
                 Catch::Contains(std::string(name) + " is " + dtypeName(type).str() + ", expected fp32"));
  for (int code : {3, 4, 10, 13, 255})
    CHECK_THAT(typesError(config, typesOf(config, {{"wq", static_cast<DType>(code)}})),
               Catch::Contains("layer 0 wq is ") && Catch::Contains(", expected a format that weights have"));
}
