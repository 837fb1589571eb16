//===- ModelConfig.cpp - Read, check and write a model's shape ------------===//
#include "ckjit/Graph/ModelConfig.h"
#include "ConfigLimits.h"
#include "JsonText.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using ckjit::detail::FieldReader;
using ckjit::detail::textError;

namespace ckjit {
namespace {

/// Layer numbers are 16 bits wide in the graph.
constexpr int64_t kMaxLayers = 65535;

Error checkPositiveDims(const ModelConfig &c, StringRef where) {
  const std::pair<StringRef, int64_t> dims[] = {
      {"num_hidden_layers", c.numLayers},    {"hidden_size", c.hiddenSize},
      {"intermediate_size", c.intermediateSize}, {"num_attention_heads", c.numHeads},
      {"num_key_value_heads", c.numKVHeads}, {"vocab_size", c.vocabSize},
      {"max_position_embeddings", c.contextWindow}};
  for (auto [name, value] : dims)
    if (value <= 0 || value > detail::kMaxDim)
      return textError(where + ": " + name + " is " + Twine(value) +
                       ", expected a positive integer below 2147483648");
  if (c.numLayers > kMaxLayers)
    return textError(where + ": num_hidden_layers is " + Twine(c.numLayers) + ", expected at most " +
                     Twine(kMaxLayers));
  return Error::success();
}

Error checkHeads(const ModelConfig &c, StringRef where) {
  if (c.numHeads % c.numKVHeads != 0)
    return textError(where + ": num_attention_heads is " + Twine(c.numHeads) +
                     ", expected a multiple of num_key_value_heads, which is " + Twine(c.numKVHeads));
  if (c.hiddenSize % c.numHeads != 0)
    return textError(where + ": hidden_size is " + Twine(c.hiddenSize) +
                     ", expected a multiple of num_attention_heads, which is " + Twine(c.numHeads));
  if (c.ropeTheta > 0 && c.headDim() % 2 != 0)
    return textError(where + ": the head dim (hidden_size / num_attention_heads) is " + Twine(c.headDim()) +
                     ", expected an even number, as RoPE is on (rope_theta > 0)");
  return Error::success();
}

Error checkReals(const ModelConfig &c, StringRef where) {
  if (!std::isfinite(c.rmsNormEps) || c.rmsNormEps <= 0)
    return textError(where + ": rms_norm_eps is " + std::to_string(c.rmsNormEps) +
                     ", expected a positive number");
  if (!std::isfinite(c.ropeTheta) || c.ropeTheta < 0)
    return textError(where + ": rope_theta is " + std::to_string(c.ropeTheta) +
                     ", expected a positive number, or 0 for learned positions");
  return Error::success();
}

/// The largest buffers of SPEC 3, over all layers; every other one is smaller than one of these.
Error checkProducts(const ModelConfig &c, StringRef where) {
  const int64_t d = c.alignedHidden(), ff = 2 * c.alignedIntermediate(), ctx = c.alignedContext(),
                lanes = c.numHeads * c.alignedHead(), layers = c.numLayers;
  struct Buffer {
    StringRef name;
    SmallVector<int64_t, 4> dims;
  };
  const Buffer buffers[] = {
      {"vocab_size x hidden_size", {c.vocabSize, d}},
      {"max_position_embeddings x vocab_size", {ctx, c.vocabSize}},
      {"layers x intermediate_size x hidden_size", {layers, ff, d}},
      {"layers x heads x head dim x hidden_size", {layers, lanes, d}},
      {"layers x max_position_embeddings x intermediate_size", {layers, ctx, ff}},
      {"layers x max_position_embeddings x hidden_size", {layers, ctx, std::max(lanes, d)}},
      {"layers x heads x max_position_embeddings^2", {layers, c.numHeads, ctx, ctx}},
  };
  for (const Buffer &buffer : buffers) {
    int64_t bytes = sizeof(float);
    for (int64_t dim : buffer.dims)
      if (__builtin_mul_overflow(bytes, dim, &bytes))
        return textError(where + ": " + buffer.name +
                         " overflows 63 bits as bytes of fp32, expected smaller dims");
  }
  return Error::success();
}

/// The object that describes the text model: `text_config` if the file has one (SPEC 1.1).
Expected<const json::Object *> findScope(const json::Object &root, StringRef where) {
  const json::Value *text = root.get("text_config");
  if (!text || text->kind() == json::Value::Null)
    return &root;
  if (const json::Object *object = text->getAsObject())
    return object;
  return textError(where + ": text_config is " + detail::describe(*text) + ", expected an object");
}

/// rope_theta at the top, else inside rope_parameters or rope_scaling, where newer files keep it.
Expected<float> readRopeTheta(const json::Object &scope, StringRef where) {
  FieldReader reader(scope, where);
  float theta = reader.positiveRealOr({"rope_theta", "rope_base"}, 0.0f);
  if (Error e = reader.takeError())
    return e;
  bool given = false;
  for (StringRef key : {"rope_theta", "rope_base"})
    given |= scope.get(key) && scope.get(key)->kind() != json::Value::Null;
  if (given)
    return theta;
  for (StringRef key : {"rope_parameters", "rope_scaling"}) {
    const json::Object *rope = scope.getObject(key);
    if (!rope || !rope->get("rope_theta"))
      continue;
    FieldReader nested(*rope, (where + ": " + key).str());
    theta = nested.positiveRealOr({"rope_theta"}, 0.0f);
    if (Error e = nested.takeError())
      return e;
    break;
  }
  return theta;
}

Expected<ModelConfig> readFields(const json::Object &scope, StringRef where) {
  ModelConfig c;
  FieldReader reader(scope, where);
  c.numLayers = reader.positive({"num_hidden_layers", "n_layer"});
  c.hiddenSize = reader.positive({"hidden_size", "n_embd", "d_model"});
  c.intermediateSize = reader.positive({"intermediate_size", "n_inner", "ffn_dim", "mlp_dim"});
  c.numHeads = reader.positive({"num_attention_heads", "n_head", "num_heads"});
  c.numKVHeads = reader.positiveOr({"num_key_value_heads", "num_kv_heads"}, c.numHeads);
  c.vocabSize = reader.positiveOr({"vocab_size", "n_vocab"}, 1);
  c.contextWindow =
      reader.positiveOr({"max_position_embeddings", "n_positions", "context_length", "seq_len"}, 1);
  c.rmsNormEps = reader.positiveRealOr({"rms_norm_eps", "layer_norm_eps"}, 1e-5f);
  if (Error e = reader.takeError())
    return e;
  Expected<float> theta = readRopeTheta(scope, where);
  if (!theta)
    return theta.takeError();
  c.ropeTheta = *theta;
  return c;
}

} // namespace

Error validateConfig(const ModelConfig &config, StringRef where) {
  if (Error e = checkPositiveDims(config, where))
    return e;
  if (Error e = checkReals(config, where))
    return e;
  if (Error e = checkHeads(config, where))
    return e;
  return checkProducts(config, where);
}

Expected<ModelConfig> parseModelConfig(StringRef json, StringRef where, const ConfigOptions &options) {
  Expected<json::Object> root = detail::parseJsonObject(json, where);
  if (!root)
    return root.takeError();
  Expected<const json::Object *> scope = findScope(*root, where);
  if (!scope)
    return scope.takeError();
  if (!options.shapeOnly)
    if (Error e = detail::checkModelType(**scope, *root, where))
      return e;
  Expected<ModelConfig> config = readFields(**scope, where);
  if (!config)
    return config.takeError();
  // Before the general checks: head_dim explains a hidden size that the heads don't divide.
  if (!options.shapeOnly)
    if (Error e = detail::checkExpressible(**scope, *root, *config, where))
      return e;
  if (Error e = validateConfig(*config, where))
    return e;
  return config;
}

Expected<ModelConfig> loadModelConfig(StringRef path, const ConfigOptions &options) {
  Expected<std::string> text = detail::readJsonFile(path);
  if (!text)
    return text.takeError();
  return parseModelConfig(*text, path, options);
}

std::string writeModelConfig(const ModelConfig &c) {
  std::string text;
  raw_string_ostream os(text);
  os << "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n  \"model_type\": \"llama\",\n"
     << "  \"num_hidden_layers\": " << c.numLayers << ",\n"
     << "  \"hidden_size\": " << c.hiddenSize << ",\n"
     << "  \"intermediate_size\": " << c.intermediateSize << ",\n"
     << "  \"num_attention_heads\": " << c.numHeads << ",\n"
     << "  \"num_key_value_heads\": " << c.numKVHeads << ",\n"
     << "  \"vocab_size\": " << c.vocabSize << ",\n"
     << "  \"max_position_embeddings\": " << c.contextWindow << ",\n"
     << "  \"hidden_act\": \"silu\",\n"
     // Nine digits bring every fp32 back exactly.
     << "  \"rms_norm_eps\": " << format("%.9g", double(c.rmsNormEps)) << ",\n"
     << "  \"rope_theta\": " << format("%.9g", double(c.ropeTheta)) << ",\n"
     << "  \"tie_word_embeddings\": true\n}\n";
  return text;
}

} // namespace ckjit
