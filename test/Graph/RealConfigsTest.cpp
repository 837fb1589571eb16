//===- RealConfigsTest.cpp - The configs of real models -------------------===//
// Facts as published in the models' config files: which are this decoder, and
// by which field the others are refused.
#include "GraphTest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

namespace {

struct RealModel {
  const char *name, *type;
  int64_t hidden, intermediate, layers, heads, kvHeads, vocab, context;
  const char *theta;
  bool tied;
  const char *eps;
  const char *more;    ///< further fields, each with a comma before it
  const char *refused; ///< fields of the refusal, blank-separated; "" = accepted
};

const RealModel kModels[] = {
    {"SmolLM-135M", "llama", 576, 1536, 30, 9, 3, 49152, 2048, "10000.0", true, "1e-05", R"(, "bos_token_id": 0, "eos_token_id": 0)", ""},
    {"SmolLM2-135M", "llama", 576, 1536, 30, 9, 3, 49152, 8192, "100000", true, "1e-05", R"(, "rope_interleaved": false)", ""},
    {"SmolLM2-135M (v5)", "llama", 576, 1536, 30, 9, 3, 49152, 8192, nullptr, true, "1e-05", R"(, "rope_interleaved": false, "rope_parameters": {"rope_theta": 100000, "rope_type": "default"})", ""},
    {"SmolLM2-360M", "llama", 960, 2560, 32, 15, 5, 49152, 8192, "100000", true, "1e-05", "", ""},
    {"TinyLlama-1.1B v1.0", "llama", 2048, 5632, 22, 32, 4, 32000, 2048, "10000.0", false, "1e-05", "", "tie_word_embeddings"},
    {"TinyLlama-1.1B v0.4", "llama", 2048, 5632, 22, 32, 4, 32003, 2048, "10000.0", false, "1e-05", "", "tie_word_embeddings"},
    {"Llama-3.2-1B", "llama", 2048, 8192, 16, 32, 8, 128256, 131072, "500000.0", true, "1e-05", R"(, "head_dim": 64, "eos_token_id": [128001, 128008, 128009], "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"})", "rope_scaling.rope_type"},
    {"Llama-3.2-3B", "llama", 3072, 8192, 28, 24, 8, 128256, 131072, "500000.0", true, "1e-05", R"(, "head_dim": 128, "rope_scaling": {"factor": 32.0, "rope_type": "llama3"})", "rope_scaling.rope_type"},
    {"Llama-3.1-8B", "llama", 4096, 14336, 32, 32, 8, 128256, 131072, "500000.0", false, "1e-05", R"(, "rope_scaling": {"factor": 8.0, "rope_type": "llama3"})", "tie_word_embeddings rope_scaling.rope_type"},
    {"Qwen2.5-0.5B", "qwen2", 896, 4864, 24, 14, 2, 151936, 32768, "1000000.0", true, "1e-06", R"(, "use_sliding_window": false, "sliding_window": 32768, "max_window_layers": 24)", ""},
    {"Qwen2.5-1.5B", "qwen2", 1536, 8960, 28, 12, 2, 151936, 32768, "1000000.0", true, "1e-06", R"(, "use_sliding_window": false, "sliding_window": 4096)", ""},
    {"DeepSeek-R1-Distill-Qwen-1.5B", "qwen2", 1536, 8960, 28, 12, 2, 151936, 131072, "10000", false, "1e-06", R"(, "use_sliding_window": false, "sliding_window": 4096)", "tie_word_embeddings"},
    {"Qwen2-7B", "qwen2", 3584, 18944, 28, 28, 4, 152064, 32768, "1000000.0", false, "1e-06", R"(, "use_sliding_window": false)", "tie_word_embeddings"},
    {"Qwen3-0.6B", "qwen3", 1024, 3072, 28, 16, 8, 151936, 40960, "1000000", true, "1e-06", R"(, "head_dim": 128)", "model_type"},
    {"Qwen3-4B", "qwen3", 2560, 9728, 36, 32, 8, 151936, 40960, "1000000", true, "1e-06", R"(, "head_dim": 128)", "model_type"},
    {"Qwen3-32B", "qwen3", 5120, 25600, 64, 64, 8, 151936, 40960, "1000000", false, "1e-06", R"(, "head_dim": 128)", "model_type"},
    {"Mistral-7B v0.1", "mistral", 4096, 14336, 32, 32, 8, 32000, 32768, "10000.0", false, "1e-05", R"(, "sliding_window": 4096)", "tie_word_embeddings sliding_window"},
    {"Mistral-7B v0.3", "mistral", 4096, 14336, 32, 32, 8, 32768, 32768, "1000000.0", false, "1e-05", R"(, "sliding_window": null)", "tie_word_embeddings"},
    {"Mistral-Nemo-Base-2407", "mistral", 5120, 14336, 40, 32, 8, 131072, 128000, "1000000.0", false, "1e-05", R"(, "head_dim": 128, "sliding_window": null)", "tie_word_embeddings head_dim"},
    {"Phi-3-mini-4k", "phi3", 3072, 8192, 32, 32, 32, 32064, 4096, "10000.0", false, "1e-05", R"(, "rope_scaling": null, "sliding_window": 2047)", "tie_word_embeddings sliding_window"},
    {"Phi-3.5-mini", "phi3", 3072, 8192, 32, 32, 32, 32064, 131072, "10000.0", false, "1e-05", R"(, "rope_scaling": {"type": "longrope", "short_factor": [1.0], "long_factor": [1.1]}, "original_max_position_embeddings": 4096)", "tie_word_embeddings rope_scaling.type"},
    {"Phi-3.5-mini, older name", "phi3", 3072, 8192, 32, 32, 32, 32064, 131072, "10000.0", false, "1e-05", R"(, "rope_scaling": {"type": "su", "short_factor": [1.0], "long_factor": [1.1]})", "rope_scaling.type"},
    {"Phi-4-mini", "phi3", 3072, 8192, 32, 24, 8, 200064, 131072, "10000.0", true, "1e-05", R"(, "partial_rotary_factor": 0.75, "rope_scaling": {"type": "longrope"})", "rope_scaling.type partial_rotary_factor"},
    {"Gemma-2-2b", "gemma2", 2304, 9216, 26, 8, 4, 256000, 8192, "10000.0", true, "1e-06", R"(, "head_dim": 256, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "sliding_window": 4096, "query_pre_attn_scalar": 256)", "model_type"},
    {"Gemma-3-1b", "gemma3_text", 1152, 6912, 26, 4, 1, 262144, 32768, "1000000", true, "1e-06", R"(, "head_dim": 256, "sliding_window": 512)", "model_type"},
    {"OLMo-1B-hf", "olmo", 2048, 8192, 16, 16, 16, 50304, 2048, "10000.0", true, nullptr, "", "model_type"},
    {"OLMo-2-7B", "olmo2", 4096, 11008, 32, 32, 32, 100352, 4096, "500000", false, "1e-06", "", "model_type"},
    {"StableLM-3b", "stablelm", 2560, 6912, 32, 32, 32, 50304, 4096, "10000", false, nullptr, R"(, "layer_norm_eps": 1e-05, "partial_rotary_factor": 0.25)", "model_type"},
    {"StableLM-2-1.6b", "stablelm", 2048, 5632, 24, 32, 32, 100352, 4096, "10000", false, nullptr, R"(, "layer_norm_eps": 1e-05, "partial_rotary_factor": 0.25, "use_qkv_bias": true)", "model_type"},
    {"MiniCPM-2B", "minicpm", 2304, 5760, 40, 36, 36, 122753, 4096, "10000.0", true, "1e-05", R"(, "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256)", "model_type"},
    {"MiniCPM-2B as llama", "llama", 2304, 5760, 40, 36, 36, 122760, 65536, "1000000", true, "1e-05", R"(, "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256)", "scale_emb scale_depth dim_model_base"},
    {"Granite-3.1-2b-base", "granite", 2048, 8192, 40, 32, 8, 49152, 131072, "5000000.0", true, "1e-05", R"(, "attention_multiplier": 0.015625, "embedding_multiplier": 12.0, "residual_multiplier": 0.22, "logits_scaling": 8.0)", "model_type"},
    {"Yi-34B", "llama", 7168, 20480, 60, 56, 8, 64000, 4096, "5000000.0", false, "1e-05", "", "tie_word_embeddings"},
    {"Yi-6B", "llama", 4096, 11008, 32, 32, 4, 64000, 4096, "5000000.0", false, "1e-05", "", "tie_word_embeddings"},
};

std::string configText(const RealModel &m) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{\"model_type\": \"" << m.type << "\", \"hidden_act\": \"silu\", \"hidden_size\": " << m.hidden
     << ", \"intermediate_size\": " << m.intermediate << ", \"num_hidden_layers\": " << m.layers
     << ", \"num_attention_heads\": " << m.heads << ", \"num_key_value_heads\": " << m.kvHeads
     << ", \"vocab_size\": " << m.vocab << ", \"max_position_embeddings\": " << m.context
     << ", \"tie_word_embeddings\": " << (m.tied ? "true" : "false");
  if (m.theta)
    os << ", \"rope_theta\": " << m.theta;
  if (m.eps)
    os << ", \"rms_norm_eps\": " << m.eps;
  os << m.more << "}";
  return text;
}

void checkShape(const RealModel &m, const ModelConfig &c) {
  CHECK(c.hiddenSize == m.hidden);
  CHECK(c.intermediateSize == m.intermediate);
  CHECK(c.numLayers == m.layers);
  CHECK(c.numHeads == m.heads);
  CHECK(c.numKVHeads == m.kvHeads);
  CHECK(c.vocabSize == m.vocab);
  CHECK(c.contextWindow == m.context);
  CHECK(c.ropeTheta == (m.theta ? std::stof(m.theta) : 100000.0f));
  CHECK(c.rmsNormEps == (m.eps ? std::stof(m.eps) : 1e-5f));
}

} // namespace

TEST_CASE("real models are accepted, or refused by the field that stands in the way") {
  for (const RealModel &m : kModels) {
    INFO(m.name);
    llvm::Expected<ModelConfig> config = parseModelConfig(configText(m), m.name);
    CHECK(bool(config) == llvm::StringRef(m.refused).empty());
    if (config) {
      checkShape(m, *config);
      continue;
    }
    std::string message = llvm::toString(config.takeError());
    llvm::SmallVector<llvm::StringRef> fields;
    llvm::StringRef(m.refused).split(fields, ' ');
    for (llvm::StringRef field : fields)
      CHECK_THAT(message, Contains((field + " is ").str()));
  }
}

TEST_CASE("every real model gives its shape") {
  for (const RealModel &m : kModels) {
    INFO(m.name);
    llvm::Expected<ModelConfig> config = parseModelConfig(configText(m), m.name, {.shapeOnly = true});
    if (!config)
      FAIL(llvm::toString(config.takeError()));
    checkShape(m, *config);
  }
}

TEST_CASE("the text model of a multimodal file is judged by its own fields") {
  std::string ministral = R"({"model_type": "mistral3", "vision_config": {"hidden_size": 1024},
    "text_config": {"model_type": "ministral3", "hidden_size": 3072, "intermediate_size": 9216, "num_hidden_layers": 26,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072,
      "max_position_embeddings": 262144, "rms_norm_eps": 1e-05, "tie_word_embeddings": true,
      "rope_parameters": {"type": "yarn", "rope_theta": 1000000.0, "factor": 16.0,
                          "original_max_position_embeddings": 16384, "llama_4_scaling_beta": 0.1}}})";
  std::string message = messageOf(parseModelConfig(ministral, "Ministral-3-3B"));
  CHECK_THAT(message, Contains("head_dim is 128, expected 3072/32") && Contains("rope_parameters.type is \"yarn\""));
  llvm::Expected<ModelConfig> shape = parseModelConfig(ministral, "Ministral-3-3B", {.shapeOnly = true});
  REQUIRE(bool(shape));
  CHECK(*shape == ModelConfig{26, 3072, 9216, 32, 8, 131072, 262144, 1e-5f, 1e6f});
}

TEST_CASE("the configs of the shared models are read") {
  std::string shared = CKJIT_SHARED_DIR;
  if (!llvm::sys::fs::is_directory(shared)) {
    WARN("skipped: there is no folder " << shared);
    return;
  }
  struct Case {
    const char *file;
    ModelConfig config;
  };
  const Case cases[] = {
      {"golden/a_mha_fp32", {2, 64, 128, 4, 4, 256, 32, 1e-5f, 1e4f}},
      {"golden/b_gqa_fp32", {1, 96, 168, 8, 2, 200, 48, 1e-5f, 1e4f}},
      {"golden/c_awkward_dims", {2, 60, 100, 3, 3, 257, 17, 1e-6f, 5e5f}},
      {"golden/d_nope_pos", {2, 64, 128, 4, 2, 200, 24, 1e-5f, 0.0f}},
      {"golden/j_litmus", {1, 40, 32, 2, 2, 97, 11, 1e-5f, 1e4f}},
      {"data/stories260K", {5, 64, 172, 8, 4, 512, 256, 1e-5f, 1e4f}},
  };
  for (const Case &c : cases) {
    llvm::Expected<ModelConfig> config = loadModelConfig(shared + "/" + c.file + "/config.json");
    if (!config)
      FAIL(llvm::toString(config.takeError()));
    CHECK(*config == c.config);
  }
}
