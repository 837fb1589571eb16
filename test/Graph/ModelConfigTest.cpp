//===- ModelConfigTest.cpp - Reading, checking and writing configs --------===//
#include "GraphTest.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

namespace {

/// The smallest complete config, with `extra` fields ("\"key\": value, ...") before its end.
std::string withFields(const std::string &extra) {
  return R"({"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
             "max_position_embeddings": 32)" +
         (extra.empty() ? "" : ", " + extra) + "}";
}

ModelConfig parsed(const std::string &json, ConfigOptions options = {}) {
  llvm::Expected<ModelConfig> config = parseModelConfig(json, "c.json", options);
  if (!config)
    FAIL(llvm::toString(config.takeError()));
  return *config;
}

std::string refusal(const std::string &json, ConfigOptions options = {}) {
  return messageOf(parseModelConfig(json, "c.json", options));
}

/// A file that is removed at the end of the test.
struct TemporaryFile {
  llvm::SmallString<128> path;
  explicit TemporaryFile(llvm::StringRef text) {
    int fd = -1;
    REQUIRE(!llvm::sys::fs::createTemporaryFile("ckjit-graph-test", "json", fd, path));
    llvm::raw_fd_ostream(fd, true) << text;
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
};

} // namespace

TEST_CASE("every field is read under its first name") {
  ModelConfig c = parsed(R"({"num_hidden_layers": 3, "hidden_size": 60, "intermediate_size": 100,
    "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 257, "max_position_embeddings": 17,
    "rms_norm_eps": 1e-06, "rope_theta": 500000.0, "tie_word_embeddings": true, "model_type": "llama"})");
  CHECK(c == ModelConfig{3, 60, 100, 6, 2, 257, 17, 1e-6f, 500000.0f});
  CHECK(c.headDim() == 10);
  CHECK(c.alignedHidden() == 64);
  CHECK(c.alignedHead() == 16);
  CHECK(c.alignedIntermediate() == 112);
  CHECK(c.alignedContext() == 32);
}

TEST_CASE("aliases are tried in order, and null counts as absent") {
  CHECK(parsed(R"({"n_layer": 1, "n_embd": 8, "n_inner": 9, "n_head": 2, "num_kv_heads": 1, "n_vocab": 5,
                   "n_positions": 7, "layer_norm_eps": 0.5, "rope_base": 100})") ==
        ModelConfig{1, 8, 9, 2, 1, 5, 7, 0.5f, 100.0f});
  CHECK(parsed(R"({"n_layer": 1, "d_model": 8, "ffn_dim": 9, "num_heads": 2, "context_length": 7})") ==
        ModelConfig{1, 8, 9, 2, 2, 1, 7, 1e-5f, 0.0f});
  CHECK(parsed(R"({"n_layer": 1, "d_model": 8, "mlp_dim": 9, "num_heads": 2, "seq_len": 7})").contextWindow == 7);
  CHECK(parsed(withFields(R"("n_layer": 9, "n_embd": 4096)")).numLayers == 2);
  CHECK(parsed(R"({"num_hidden_layers": null, "n_layer": 5, "hidden_size": 64, "intermediate_size": null,
                   "n_inner": 128, "num_attention_heads": 4})")
            .numLayers == 5);
}

TEST_CASE("absent fields have the seed's defaults") {
  ModelConfig c = parsed(R"({"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4})");
  CHECK(c == ModelConfig{2, 64, 128, 4, 4, 1, 1, 1e-5f, 0.0f});
  CHECK(parsed(withFields(R"("num_key_value_heads": null)")).numKVHeads == 4);
  CHECK(parsed(withFields(R"("num_key_value_heads": 0, "vocab_size": 0, "rms_norm_eps": 0)")) ==
        ModelConfig{2, 64, 128, 4, 4, 1, 32, 1e-5f, 0.0f});
  CHECK(parsed(withFields(R"("hidden_size": 64.0)")).hiddenSize == 64);
}

TEST_CASE("text_config is the scope when it is there") {
  std::string inner = withFields(R"("vocab_size": 11)");
  CHECK(parsed(R"({"num_hidden_layers": 99, "vocab_size": 7, "text_config": )" + inner + "}").vocabSize == 11);
  CHECK(parsed(R"({"num_hidden_layers": 99, "text_config": )" + inner + "}").numLayers == 2);
  CHECK(parsed(withFields(R"("text_config": null)")).numLayers == 2);
  CHECK(refusal(withFields(R"("text_config": [1])")) == "c.json: text_config is an array, expected an object");
  // Nested objects of other names are not searched, as the seed's text search did.
  CHECK_THAT(refusal(R"({"vision_config": )" + inner + "}"), Contains("num_hidden_layers is missing"));
  CHECK_THAT(refusal(R"({"tie_word_embeddings": false, "text_config": )" + inner + "}"),
             Contains("tie_word_embeddings is false, expected true"));
  CHECK_THAT(refusal(R"({"model_type": "gemma3", "text_config": )" + inner + "}"), Contains("model_type is \"gemma3\""));
}

TEST_CASE("a missing dimension is named with its aliases") {
  CHECK(refusal("{}") == "c.json: num_hidden_layers is missing, expected a positive integer (also read as n_layer)");
  std::string complete = withFields("");
  for (std::string key : {"num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads"})
    CHECK_THAT(refusal(replaced(complete, "\"" + key + "\"", "\"other\"")), Contains("c.json: " + key + " is missing"));
}

TEST_CASE("a value of the wrong type or range is an error that names the key and the value") {
  const std::string keys[] = {"num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads",
                              "num_key_value_heads", "vocab_size", "max_position_embeddings"};
  const std::string values[] = {"\"64\"", "64.5", "true", "[64]", "-1", "2147483648", "9223372036854775808", "1e30"};
  const std::string shown[] = {"\"64\"", "64.5", "true", "an array", "-1", "2147483648", "9223372036854775808", "1.0000000000000000e+30"};
  for (const std::string &key : keys)
    for (size_t i = 0; i < std::size(values); ++i) {
      std::string text = R"({"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128,
        "num_attention_heads": 4, ")" + key + "\": " + values[i] + "}";
      INFO(key << " = " << values[i]);
      std::string message = refusal(text);
      CHECK_THAT(message, Contains("c.json: " + key + " is "));
      if (i != 7)
        CHECK(message == "c.json: " + key + " is " + shown[i] + ", expected a positive integer below 2147483648");
    }
  CHECK(refusal(withFields(R"("num_hidden_layers": 0)")) == "c.json: num_hidden_layers is 0, expected a positive integer");
  for (std::string key : {"rms_norm_eps", "rope_theta"})
    for (std::string value : {"\"1e-5\"", "true", "{}", "-1", "1e39", "1e400", "1e-60"}) {
      INFO(key << " = " << value);
      CHECK_THAT(refusal(withFields("\"" + key + "\": " + value)),
                 Contains("c.json: " + key + " is ") && Contains("expected a positive number in the range of fp32, or 0"));
    }
  CHECK_THAT(refusal(withFields(R"("rope_base": "x")")), Contains("rope_base is \"x\""));
}

TEST_CASE("dims that don't fit together are refused") {
  CHECK(refusal(withFields(R"("num_attention_heads": 3)")) ==
        "c.json: hidden_size is 64, expected a multiple of num_attention_heads, which is 3");
  CHECK(refusal(withFields(R"("num_key_value_heads": 3)")) ==
        "c.json: num_attention_heads is 4, expected a multiple of num_key_value_heads, which is 3");
  CHECK_THAT(refusal(withFields(R"("hidden_size": 60, "rope_theta": 1e4)")),
             Contains("head dim (hidden_size / num_attention_heads) is 15, expected an even number"));
  CHECK(parsed(withFields(R"("hidden_size": 60)")).headDim() == 15);
  CHECK(refusal(withFields(R"("num_hidden_layers": 65536)")) ==
        "c.json: num_hidden_layers is 65536, expected at most 65535");
  CHECK_THAT(refusal(withFields(R"("vocab_size": 2147483647, "hidden_size": 2147483644)")),
             Contains("vocab_size x hidden_size overflows 63 bits"));
  CHECK_THAT(refusal(withFields(R"("max_position_embeddings": 2147483647)")), Contains("max_position_embeddings^2 overflows"));
}

TEST_CASE("validateConfig checks a config that was made by hand") {
  CHECK(messageOf(validateConfig(smallConfig(), "here")) == "(no error)");
  ModelConfig c = smallConfig();
  c.vocabSize = 0;
  CHECK(messageOf(validateConfig(c, "here")) == "here: vocab_size is 0, expected a positive integer below 2147483648");
  c = smallConfig();
  c.rmsNormEps = 0;
  CHECK_THAT(messageOf(validateConfig(c, "here")), Contains("here: rms_norm_eps is 0.0"));
  c = smallConfig();
  c.ropeTheta = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(messageOf(validateConfig(c, "here")), Contains("rope_theta is nan"));
  CHECK_THAT(messageOf(validateConfig(ModelConfig(), "here")), Contains("num_hidden_layers is 0"));
}

TEST_CASE("rope_theta nested in rope_parameters or rope_scaling is read when there is none at the top") {
  CHECK(parsed(withFields(R"("rope_parameters": {"rope_theta": 100000.0, "rope_type": "default"})")).ropeTheta == 1e5f);
  CHECK(parsed(withFields(R"("rope_parameters": {"rope_theta": 100000})")).ropeTheta == 1e5f);
  CHECK(parsed(withFields(R"("rope_scaling": {"type": "default", "rope_theta": 7})")).ropeTheta == 7.0f);
  CHECK(parsed(withFields(R"("rope_theta": 10000, "rope_parameters": {"rope_theta": 5})")).ropeTheta == 1e4f);
  CHECK(parsed(withFields(R"("rope_theta": 0, "rope_parameters": {"rope_theta": 5})")).ropeTheta == 0.0f);
  CHECK_THAT(refusal(withFields(R"("rope_parameters": {"rope_theta": "5"})")),
             Contains("c.json: rope_parameters: rope_theta is \"5\""));
}

TEST_CASE("fields that the weight format can't express are refused by name") {
  struct Case {
    std::string fields, expected;
  };
  const Case cases[] = {
      {R"("tie_word_embeddings": false)", "tie_word_embeddings is false, expected true"},
      {R"("tie_word_embeddings": "yes")", "tie_word_embeddings is \"yes\", expected true"},
      {R"("head_dim": 32)", "head_dim is 32, expected 64/4"},
      {R"("head_dim": 16.5)", "head_dim is 16.5, expected 64/4"},
      {R"("head_dim": 128, "num_attention_heads": 5)", "head_dim is 128, expected 64/5"},
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 32})", "rope_scaling.rope_type is \"llama3\""},
      {R"("rope_scaling": {"type": "linear", "factor": 2})", "rope_scaling.type is \"linear\""},
      {R"("rope_scaling": {"factor": 2})", "rope_scaling is an object with \"factor\" and no type"},
      {R"("rope_scaling": "yarn")", "rope_scaling is \"yarn\", expected an object or null"},
      {R"("rope_parameters": {"rope_type": "yarn"})", "rope_parameters.rope_type is \"yarn\""},
      {R"("rope_parameters": {"full_attention": {"rope_theta": 1}})", "rope_parameters is an object with \"full_attention\""},
      {R"("rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5})", "rope_parameters.partial_rotary_factor is 0.5"},
      {R"("partial_rotary_factor": 0.75)", "partial_rotary_factor is 0.75, expected 1"},
      {R"("sliding_window": 16)", "sliding_window is 16, expected null or at least the context of 32"},
      {R"("sliding_window": 16, "use_sliding_window": true)", "sliding_window is 16"},
      {R"("sliding_window": "16")", "sliding_window is \"16\""},
      {R"("layer_types": ["full_attention", "linear_attention"])", "layer_types is an array with \"linear_attention\""},
      {R"("layer_types": 1)", "layer_types is 1"},
      {R"("use_qk_norm": true)", "use_qk_norm is true, expected false"},
      {R"("hidden_act": "gelu")", "hidden_act is \"gelu\", expected \"silu\""},
      {R"("hidden_activation": "gelu_pytorch_tanh")", "hidden_activation is"},
      {R"("activation_function": "gelu_new")", "activation_function is"},
      {R"("hidden_act": 3)", "hidden_act is 3"},
      {R"("attn_logit_softcapping": 50.0)", "attn_logit_softcapping is 50"},
      {R"("final_logit_softcapping": 30.0)", "final_logit_softcapping is 30"},
      {R"("query_pre_attn_scalar": 256)", "query_pre_attn_scalar is 256, expected the head dim"},
      {R"("attention_multiplier": 0.015625)", "attention_multiplier is 0.015625, expected 1/sqrt(head dim)"},
      {R"("embedding_multiplier": 12)", "embedding_multiplier is 12, expected 1"},
      {R"("residual_multiplier": 0.22)", "residual_multiplier is 0.22"},
      {R"("logits_scaling": 8)", "logits_scaling is 8, expected 1"},
      {R"("scale_emb": 12)", "scale_emb is 12"},
      {R"("scale_depth": 1.4)", "scale_depth is 1.3999999999999999, expected none"},
      {R"("dim_model_base": 256)", "dim_model_base is 256, expected the hidden size of 64"},
      {R"("num_local_experts": 8)", "num_local_experts is 8, expected 0 or null"},
      {R"("kv_lora_rank": 512)", "kv_lora_rank is 512, expected none"},
      {R"("alibi": true)", "alibi is true"},
      {R"("rope_interleaved": true)", "rope_interleaved is true"},
      {R"("rotary_dim": 8)", "rotary_dim is 8, expected 64/4 (the whole head"},
      {R"("rope_dim": 8)", "rope_dim is 8, expected 64/4"},
      {R"("rotary_ndims": 4)", "rotary_ndims is 4"},
      {R"("clip_qkv": 8.0)", "clip_qkv is 8, expected none"},
      {R"("use_logn_attn": true)", "use_logn_attn is true"},
      {R"("lm_head_multiplier": 0.5)", "lm_head_multiplier is 0.5, expected 1"},
      {R"("key_multiplier": 0.5)", "key_multiplier is 0.5, expected 1"},
      {R"("q_lora_rank": 1536)", "q_lora_rank is 1536, expected none"},
      {R"("cross_layer_attention": true)", "cross_layer_attention is true, expected false"},
      {R"("use_cla": true)", "use_cla is true"},
      {R"("cla_share_factor": 2)", "cla_share_factor is 2, expected 1"},
      {R"("num_kv_shared_layers": 10)", "num_kv_shared_layers is 10, expected 0"},
      {R"("cross_attention_layers": [3])", "cross_attention_layers is an array, expected none"},
      {R"("attention_chunk_size": 8)", "attention_chunk_size is 8, expected none"},
      {R"("global_attn_every_n_layers": 3)", "global_attn_every_n_layers is 3, expected 1"},
      {R"("local_attention": 128)", "local_attention is 128, expected none"},
      {R"("layer_norm_bias": true)", "layer_norm_bias is true, expected false"},
      {R"("norm_bias": true)", "norm_bias is true"},
      {R"("use_post_norm": true)", "use_post_norm is true"},
      {R"("post_norm": true)", "post_norm is true"},
      {R"("embedding_scale": 8)", "embedding_scale is 8, expected 1"},
      {R"("scale_embedding": true)", "scale_embedding is true"},
      {R"("no_rope_layer_interval": 4)", "no_rope_layer_interval is 4, expected 0 or null"},
      {R"("rope_ratio": 50)", "rope_ratio is 50, expected 1"},
      {R"("use_dynamic_ntk": true)", "use_dynamic_ntk is true"},
      {R"("rotary_emb_base": 10000)", "rotary_emb_base is 10000, expected none"},
      {R"("rope_local_base_freq": 10000)", "rope_local_base_freq is 10000"},
      {R"("layer_norm_epsilon": 1e-6)", "layer_norm_epsilon is"},
      {R"("norm_eps": 1e-6, "rms_norm_eps": 1e-5)", "norm_eps is"},
  };
  for (const Case &c : cases) {
    INFO(c.fields);
    std::string message = refusal(withFields(c.fields));
    CHECK_THAT(message, Contains("c.json: the weight format cannot express this model: ") && Contains(c.expected));
  }
  CHECK_THAT(refusal(withFields(R"("tie_word_embeddings": false, "head_dim": 8, "alibi": true)")),
             Contains("tie_word_embeddings is") && Contains("; head_dim is") && Contains("; alibi is"));
}

TEST_CASE("model types that compute something else are refused by name, before their dims are asked for") {
  for (std::string type : {"qwen3", "gemma", "gemma2", "gemma3_text", "olmo", "olmo2", "stablelm", "minicpm", "granite",
                           "gpt2", "gpt_neox", "mixtral", "something-new"}) {
    INFO(type);
    CHECK_THAT(refusal(R"({"model_type": ")" + type + "\"}"), Contains("model_type is \"" + type + "\", expected one of llama"));
    CHECK(parsed(withFields(R"("model_type": ")" + type + "\""), {.shapeOnly = true}).hiddenSize == 64);
  }
  CHECK_THAT(refusal(withFields(R"("model_type": 3)")), Contains("model_type is 3"));
  for (std::string type : {"llama", "mistral", "qwen2", "phi3"})
    CHECK(parsed(withFields(R"("model_type": ")" + type + "\"")).numLayers == 2);
}

TEST_CASE("harmless values of those fields are accepted") {
  for (std::string fields : {
           R"("tie_word_embeddings": true, "head_dim": 16, "rope_scaling": null, "partial_rotary_factor": 1.0)",
           R"("head_dim": null, "rope_scaling": {"rope_type": "default"}, "rope_parameters": {})",
           R"("sliding_window": 32768, "use_sliding_window": false)",
           R"("sliding_window": 4, "use_sliding_window": false)",
           R"("sliding_window": 32, "use_sliding_window": true)",
           R"("sliding_window": null, "layer_types": ["full_attention", "full_attention"])",
           R"("hidden_act": "silu", "use_qk_norm": false, "attn_logit_softcapping": null)",
           R"("hidden_act": "swish", "attention_bias": true, "mlp_bias": false, "rope_interleaved": false)",
           R"("query_pre_attn_scalar": 16, "attention_multiplier": 0.25, "embedding_multiplier": 1.0)",
           R"("num_local_experts": 0, "pretraining_tp": 1, "eos_token_id": [1, 2, 3])",
           R"("rotary_dim": 16, "rope_dim": 16, "clip_qkv": null, "cross_layer_attention": false)",
           R"("global_attn_every_n_layers": 1, "no_rope_layer_interval": 0, "layer_norm_bias": false)",
           R"("norm_eps": 1e-5, "layer_norm_epsilon": 0.00001)",
           // A weight file has no head of its own, so a config that is silent means a tied one.
           R"("tie_word_embeddings": true)",
           R"("tie_word_embeddings": null)",
       }) {
    INFO(fields);
    CHECK(parsed(withFields(fields)) == ModelConfig{2, 64, 128, 4, 4, 1, 32, 1e-5f, 0.0f});
  }
}

TEST_CASE("text that isn't a JSON object is refused") {
  CHECK(refusal("") == "c.json: is empty, expected a JSON object");
  CHECK(refusal(" \n") == "c.json: is empty, expected a JSON object");
  CHECK_THAT(refusal("<!DOCTYPE html><html></html>"), Contains("c.json: is not JSON: [1:1, byte=1]"));
  CHECK(refusal("[1]") == "c.json: holds an array, expected a JSON object");
  CHECK(refusal("3") == "c.json: holds 3, expected a JSON object");
  CHECK_THAT(refusal("{\"hidden_size\": 64"), Contains("is not JSON"));
  CHECK_THAT(refusal("{\"a\": \"\xff\"}"), Contains("Invalid UTF-8"));
  CHECK_THAT(refusal(withFields("") + "x"), Contains("is not JSON"));
}

TEST_CASE("deep nesting is refused before the parser would overflow the stack") {
  for (char open : {'[', '{'})
    CHECK(refusal(std::string(1000000, open)) == "c.json: nests 1000000 levels deep, expected at most 64");
  CHECK_THAT(refusal("{\"a\": " + std::string(64, '[') + std::string(64, ']') + "}"), Contains("nests 65 levels deep"));
  CHECK(parsed(withFields("\"a\": " + std::string(63, '[') + std::string(63, ']'))).numLayers == 2);
  // Brackets inside strings don't nest.
  CHECK(parsed(withFields("\"a\": \"\\\"" + std::string(1000, '[') + "\"")).numLayers == 2);
}

TEST_CASE("a long value is cut in the message") {
  std::string message = refusal(withFields("\"vocab_size\": \"" + std::string(1000, 'x') + "\""));
  CHECK_THAT(message, Contains("xxx..., expected"));
  CHECK(message.size() < 200);
}

TEST_CASE("files are read whole, and what can't be read says why") {
  TemporaryFile good(withFields(R"("vocab_size": 77)"));
  llvm::Expected<ModelConfig> config = loadModelConfig(good.path);
  REQUIRE(bool(config));
  CHECK(config->vocabSize == 77);
  TemporaryFile bad("{");
  CHECK_THAT(messageOf(loadModelConfig(bad.path)), Contains(bad.path.c_str()) && Contains("is not JSON"));
  CHECK_THAT(messageOf(loadModelConfig("/no/such/config.json")),
             Contains("/no/such/config.json: file: cannot be read: No such file"));
  CHECK(messageOf(loadModelConfig("/")) == "/: file: found a directory, expected a regular file");
  CHECK(messageOf(loadModelConfig("/dev/zero")) == "/dev/zero: file: found a character device, expected a regular file");
  std::string large = withFields("") + std::string(16 << 20, ' ');
  CHECK_THAT(refusal(large), Contains("expected at most 16777216"));
  TemporaryFile largeFile(large);
  CHECK_THAT(messageOf(loadModelConfig(largeFile.path)),
             Contains("file size: found " + std::to_string(large.size()) + " bytes, expected at most 16777216 bytes of JSON"));
}

TEST_CASE("a pipe without writer is refused and not waited for") {
  TemporaryFile file("");
  std::string pipe = (file.path + ".pipe").str();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string asConfig = messageOf(loadModelConfig(pipe)), asGraph = messageOf(loadGraphJson(pipe));
  REQUIRE(::unlink(pipe.c_str()) == 0);
  CHECK(asConfig == pipe + ": file: found a pipe, expected a regular file");
  CHECK(asGraph == asConfig);
}

TEST_CASE("a written config reads back the same") {
  const ModelConfig configs[] = {smallConfig(),
                                 {3, 60, 100, 6, 2, 257, 17, 1e-6f, 500000.0f},
                                 {1, 8, 9, 2, 1, 5, 7, std::nextafter(1e-5f, 1.0f), 0.0f},
                                 {30, 576, 1536, 9, 3, 49152, 2048, 1e-5f, std::nextafter(1e4f, 2e4f)}};
  for (const ModelConfig &c : configs)
    CHECK(parsed(writeModelConfig(c)) == c);
  CHECK(writeModelConfig(smallConfig()) == R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "num_hidden_layers": 2,
  "hidden_size": 64,
  "intermediate_size": 128,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "vocab_size": 256,
  "max_position_embeddings": 32,
  "hidden_act": "silu",
  "rms_norm_eps": 9.99999975e-06,
  "rope_theta": 10000,
  "tie_word_embeddings": true
}
)");
}
