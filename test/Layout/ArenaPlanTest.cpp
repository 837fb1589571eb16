//===- ArenaPlanTest.cpp - Offsets against the seed's measured ones -------===//
#include "ckjit/Layout/ArenaPlan.h"
#include <catch2/catch.hpp>

using namespace ckjit;

namespace {
/// The config of golden case c, the one whose offsets were measured on the seed.
ModelConfig awkwardDims() {
  return {.numLayers = 2, .hiddenSize = 60, .intermediateSize = 100, .numHeads = 3, .numKVHeads = 3, .vocabSize = 257,
          .contextWindow = 17, .rmsNormEps = 1e-6f, .ropeTheta = 500000.0f};
}

ArenaPlan plan(const ModelConfig &config, bool training = false) {
  return llvm::cantFail(planArena(config, {.training = training}));
}

uint64_t offset(const ArenaPlan &arena, const char *name, int layer = -1) {
  INFO(name << " of layer " << layer);
  const Buffer *buffer = arena.find(name, layer);
  REQUIRE(buffer != nullptr);
  REQUIRE(buffer->allocated);
  return buffer->offset;
}

std::string failure(const ModelConfig &config, bool training = false) {
  llvm::Expected<ArenaPlan> arena = planArena(config, {.training = training});
  return arena ? "" : llvm::toString(arena.takeError());
}
} // namespace

TEST_CASE("inference offsets are the seed's measured ones") {
  ArenaPlan arena = plan(awkwardDims());
  CHECK(offset(arena, "token_emb") == 0);
  CHECK(offset(arena, "pos_emb") == 65792);
  CHECK(offset(arena, "embedded_input") == 70144);
  CHECK(offset(arena, "rope_cos_cache") == 74496);
  CHECK(offset(arena, "rope_sin_cache") == 75200);
  CHECK(offset(arena, "final_ln_weight") == 75904);
  CHECK(offset(arena, "final_ln_bias") == 76160);
  CHECK(offset(arena, "final_ln_mean") == 76416);
  CHECK(offset(arena, "final_ln_rstd") == 76544);
  CHECK(offset(arena, "final_output") == 76672);
  CHECK(offset(arena, "lm_head_weight") == 0);
  CHECK(offset(arena, "logits") == 81024);
  CHECK(arena.layersStart == 98500);
  CHECK(offset(arena, "ln1_gamma", 0) == 98560);
  CHECK(offset(arena, "ln1_out", 0) == 98816);
  CHECK(offset(arena, "wq", 0) == 103296);
  CHECK(offset(arena, "q", 0) == 178176);
  CHECK(offset(arena, "wo", 0) == 204288);
  CHECK(offset(arena, "w1", 0) == 246912);
  CHECK(offset(arena, "w2", 0) == 328000);
  CHECK(offset(arena, "output", 0) == 361280);
  CHECK(arena.layerStride == 267072);
  CHECK(offset(arena, "output", 1) == 361280 + 267072);
  CHECK(arena.totalBytes == 632704);
}

TEST_CASE("training offsets are the seed's measured ones") {
  ArenaPlan arena = plan(awkwardDims(), true);
  CHECK(arena.layersStart == 195140);
  CHECK(offset(arena, "ln1_gamma", 0) == 195200);
  CHECK(offset(arena, "scores", 0) == 294400);
  CHECK(arena.layerStride == 558464);
  CHECK(arena.totalBytes == 1312128);
}

TEST_CASE("gradient buffers stand only in the training arena") {
  ArenaPlan inference = plan(awkwardDims()), training = plan(awkwardDims(), true);
  REQUIRE(inference.buffers.size() == training.buffers.size());
  size_t gradients = 0;
  for (size_t i = 0; i < inference.buffers.size(); ++i) {
    const Buffer &off = inference.buffers[i], &on = training.buffers[i];
    INFO(off.name << " of layer " << off.layer);
    bool trainingOnly = off.role == BufferRole::Gradient || off.name == "scores";
    gradients += off.role == BufferRole::Gradient;
    CHECK(on.allocated);
    CHECK(off.allocated == !trainingOnly);
    if (trainingOnly) {
      CHECK(off.offset == 0);
      CHECK(off.bytes == 0);
    } else {
      CHECK(off.bytes == on.bytes);
    }
  }
  // SPEC 3 lists 6 global gradients and 28 a layer.
  CHECK(gradients == 6 + 2 * 28);
}

TEST_CASE("training sizes follow the shapes of SPEC 3") {
  ArenaPlan arena = plan(awkwardDims(), true);
  auto bytes = [&](const char *name, int layer) { return arena.find(name, layer)->bytes; };
  CHECK(bytes("d_logits", -1) == 17 * 257 * 4);
  CHECK(bytes("scores", 1) == 3 * 32 * 32 * 4);
  CHECK(bytes("d_w1", 1) == 224 * 64 * 4);
  CHECK(bytes("d_fc1_out", 0) == 17 * 224 * 4);
  CHECK(bytes("d_wo", 0) == 3 * 64 * 32 * 4);
  CHECK(bytes("d_ln1_gamma", 1) == 64 * 4);
  CHECK(offset(arena, "d_ln1_gamma", 1) + 256 == arena.totalBytes);
}

TEST_CASE("buffers start on cache lines, ascend and don't overlap") {
  ModelConfig config = awkwardDims();
  config.numKVHeads = 1;
  config.contextWindow = 33;
  for (bool training : {false, true}) {
    ArenaPlan arena = plan(config, training);
    uint64_t end = 0;
    for (const Buffer &buffer : arena.buffers) {
      if (!buffer.allocated || buffer.name == "lm_head_weight")
        continue;
      INFO(buffer.name << " of layer " << buffer.layer);
      CHECK(buffer.offset % 64 == 0);
      CHECK(buffer.offset >= end);
      CHECK(buffer.offset < end + 64);
      end = buffer.offset + buffer.bytes;
    }
    CHECK(arena.totalBytes == (end + 63) / 64 * 64);
  }
}

TEST_CASE("lm_head_weight is token_emb under another name") {
  ArenaPlan arena = plan(awkwardDims());
  const Buffer *head = arena.find("lm_head_weight");
  REQUIRE(head != nullptr);
  CHECK(head->offset == arena.find("token_emb")->offset);
  CHECK(head->bytes == 257 * 64 * 4);
  CHECK(head->shape == llvm::SmallVector<int64_t, 3>{257, 64});
}

TEST_CASE("one layer has stride 0") {
  ModelConfig config = awkwardDims();
  config.numLayers = 1;
  ArenaPlan arena = plan(config);
  CHECK(arena.layerStride == 0);
  CHECK(arena.layersStart == 98500);
  // The second layer's first byte would have been the end of the first, rounded up.
  CHECK(arena.totalBytes == 632704 - 267072);
}

TEST_CASE("without RoPE there are no cos and sin caches") {
  ModelConfig config = awkwardDims();
  config.ropeTheta = 0.0f;
  ArenaPlan arena = plan(config);
  for (const char *name : {"rope_cos_cache", "rope_sin_cache"}) {
    CHECK_FALSE(arena.find(name)->allocated);
    CHECK(arena.find(name)->offset == 0);
    CHECK(arena.find(name)->bytes == 0);
  }
  // The caches took 74496..75904.
  CHECK(offset(arena, "final_ln_weight") == 74496);
  CHECK(arena.layersStart == 98500 - (75904 - 74496));
  CHECK(arena.layerStride == 267072);
}

TEST_CASE("runs of weights: what the seed's offsets say, without learned positions") {
  ArenaPlan arena = plan(awkwardDims());
  std::vector<ByteRange> runs = weightRuns(arena);
  // token_emb; final_ln_weight and _bias; per layer ln1_gamma, wq..bv, wo and bo, ln2_gamma, w1 and b1, w2 and b2.
  REQUIRE(runs.size() == 2 + 2 * 6);
  CHECK(runs[0].offset == 0);
  CHECK(runs[0].bytes == 65792);
  CHECK(runs[1].offset == 75904);
  CHECK(runs[1].bytes == 76416 - 75904);
  CHECK(runs[2].offset == 98560);
  CHECK(runs[2].bytes == 98816 - 98560);
  CHECK(runs[3].offset == 103296); // wq
  CHECK(runs[3].bytes == 178176 - 103296); // up to q
  CHECK(runs[6].offset == 246912); // w1
  CHECK(runs[7].offset == 328000); // w2
  CHECK(runs[9].offset == 103296 + arena.layerStride);
}

TEST_CASE("find knows scope and layer") {
  ArenaPlan arena = plan(awkwardDims());
  CHECK(arena.find("wq") == nullptr);
  CHECK(arena.find("token_emb", 0) == nullptr);
  CHECK(arena.find("wq", 2) == nullptr);
  CHECK(arena.find("nothing", 1) == nullptr);
  CHECK(arena.find("wq", 1)->layer == 1);
}

TEST_CASE("sizes past 2^63 are an error that names the buffer") {
  ModelConfig config = awkwardDims();
  config.vocabSize = config.hiddenSize = config.intermediateSize = (int64_t(1) << 31) - 1;
  CHECK_THAT(failure(config), Catch::Contains("token_emb") && Catch::Contains("2^63"));

  ModelConfig manyScores = awkwardDims();
  manyScores.contextWindow = (int64_t(1) << 30);
  CHECK(failure(manyScores).empty());
  CHECK_THAT(failure(manyScores, true), Catch::Contains("layer 0 scores"));
}

TEST_CASE("more layers than a node id holds are an error") {
  ModelConfig config = awkwardDims();
  config.numLayers = (int64_t(1) << 31) - 1;
  CHECK_THAT(failure(config), Catch::Contains("num_layers: found 2147483647, expected at most 65535"));
}

namespace {
/// 4 query heads of 64 lanes and 2 KV heads.
ModelConfig mixedDims() {
  return {.numLayers = 1, .hiddenSize = 256, .intermediateSize = 512, .numHeads = 4, .numKVHeads = 2, .vocabSize = 10,
          .contextWindow = 3, .rmsNormEps = 1e-6f, .ropeTheta = 10000.0f};
}
/// Of mixedDims(): every kind of block.
WeightTypes mixedTypes() {
  WeightTypes types(18, DType::FP32);
  types[0] = DType::Q4_K;   // token_emb
  types[4] = DType::Q6_K;   // wq
  types[6] = DType::Q8_0;   // wk
  types[8] = DType::FP16;   // wv
  types[10] = DType::Q5_1;  // wo
  types[12] = DType::Q4_0;  // w1
  types[14] = DType::Q4_1;  // w2
  return types;
}
} // namespace

TEST_CASE("each weight takes the bytes of its own type: offsets worked out by hand") {
  ArenaPlan arena = llvm::cantFail(planArena(mixedDims(), {.weightTypes = mixedTypes()}));
  CHECK(arena.find("token_emb")->bytes == 10 * 144);
  CHECK(arena.find("lm_head_weight")->bytes == 10 * 144);
  CHECK(arena.find("lm_head_weight")->type == DType::Q4_K);
  CHECK(offset(arena, "pos_emb") == 1472); // 1440 rounded up to 64
  CHECK(offset(arena, "embedded_input") == 4544);
  CHECK(offset(arena, "rope_cos_cache") == 7616);
  CHECK(offset(arena, "final_ln_weight") == 8384);
  CHECK(offset(arena, "logits") == 13632);
  CHECK(arena.layersStart == 13752);
  CHECK(offset(arena, "ln1_gamma", 0) == 13760);
  CHECK(offset(arena, "wq", 0) == 17920);
  CHECK(offset(arena, "bq", 0) == 17920 + 256 * 210);
  CHECK(offset(arena, "wk", 0) == 72704);
  CHECK(offset(arena, "bk", 0) == 72704 + 128 * 8 * 34);
  CHECK(offset(arena, "wv", 0) == 108032);
  CHECK(offset(arena, "bv", 0) == 108032 + 128 * 256 * 2);
  CHECK(offset(arena, "q", 0) == 174080);
  CHECK(offset(arena, "wo", 0) == 183296);
  CHECK(offset(arena, "bo", 0) == 183296 + 256 * 8 * 24);
  CHECK(offset(arena, "ln2_gamma", 0) == 242688);
  CHECK(offset(arena, "w1", 0) == 246848);
  CHECK(offset(arena, "b1", 0) == 246848 + 1024 * 8 * 18);
  CHECK(offset(arena, "w2", 0) == 416832);
  CHECK(offset(arena, "b2", 0) == 416832 + 256 * 16 * 20);
  CHECK(offset(arena, "output", 0) == 502848);
  CHECK(arena.totalBytes == 505920);
}

TEST_CASE("buffers know their type, and a quantized wo is planned as rows of all heads") {
  ArenaPlan arena = llvm::cantFail(planArena(mixedDims(), {.weightTypes = mixedTypes()}));
  CHECK(arena.find("wq", 0)->type == DType::Q6_K);
  CHECK(arena.find("wq", 0)->shape == llvm::SmallVector<int64_t, 3>{4, 64, 256});
  CHECK(arena.find("wv", 0)->type == DType::FP16);
  CHECK(arena.find("wo", 0)->type == DType::Q5_1);
  CHECK(arena.find("wo", 0)->shape == llvm::SmallVector<int64_t, 3>{256, 256});
  CHECK(arena.find("bo", 0)->type == DType::FP32);
  CHECK(arena.find("attn_out", 0)->type == DType::FP32);
  CHECK(plan(mixedDims()).find("wo", 0)->shape == llvm::SmallVector<int64_t, 3>{4, 256, 64});
}

TEST_CASE("a list of nothing but fp32 plans what no list does") {
  ArenaPlan without = plan(awkwardDims());
  ArenaPlan with = llvm::cantFail(planArena(awkwardDims(), {.weightTypes = WeightTypes(32, DType::FP32)}));
  REQUIRE(with.buffers.size() == without.buffers.size());
  for (size_t i = 0; i < with.buffers.size(); ++i) {
    CHECK(with.buffers[i].offset == without.buffers[i].offset);
    CHECK(with.buffers[i].shape == without.buffers[i].shape);
  }
  CHECK(with.totalBytes == 632704);
}

TEST_CASE("types that don't fit are errors of the plan") {
  WeightTypes types = mixedTypes();
  types.pop_back();
  CHECK(llvm::toString(planArena(mixedDims(), {.weightTypes = types}).takeError()) ==
        "arena: found types of 17 weights, expected 18, one a tensor");
  types = mixedTypes();
  types[3] = DType::BF16;
  CHECK(llvm::toString(planArena(mixedDims(), {.weightTypes = types}).takeError()) ==
        "arena: layer 0 ln2_gamma is bf16, expected fp32");
}
