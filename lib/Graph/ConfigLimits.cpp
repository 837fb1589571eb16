//===- ConfigLimits.cpp - What BUMPWGT3 can't express ---------------------===//
#include "ConfigLimits.h"
#include "JsonText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace ckjit::detail {
namespace {

/// A field that changes the computation unless it has one harmless value.
struct FieldRule {
  StringRef key;
  enum { Absent, False, Off, One } harmless; ///< Off: 0 or false
};

constexpr FieldRule kRules[] = {
    // Logits and attention scores.
    {"attn_logit_softcapping", FieldRule::Off},
    {"final_logit_softcapping", FieldRule::Off},
    {"logits_scaling", FieldRule::One},
    {"logit_scale", FieldRule::One},
    {"lm_head_multiplier", FieldRule::One},
    {"key_multiplier", FieldRule::One},
    {"clip_qkv", FieldRule::Absent},
    {"use_logn_attn", FieldRule::False},
    {"use_qk_norm", FieldRule::False},
    {"qk_layernorm", FieldRule::False},
    {"qk_norm", FieldRule::False},
    {"alibi", FieldRule::False},
    {"kv_lora_rank", FieldRule::Absent},
    {"q_lora_rank", FieldRule::Absent},
    // Keys and values, or masks, that differ from layer to layer.
    {"cross_layer_attention", FieldRule::False},
    {"use_cla", FieldRule::False},
    {"cla_share_factor", FieldRule::One},
    {"num_kv_shared_layers", FieldRule::Off},
    {"cross_attention_layers", FieldRule::Absent},
    {"attention_chunk_size", FieldRule::Absent},
    {"global_attn_every_n_layers", FieldRule::One},
    {"local_attention", FieldRule::Absent},
    // Norms with a bias, or in other places.
    {"layer_norm_bias", FieldRule::False},
    {"norm_bias", FieldRule::False},
    {"use_post_norm", FieldRule::False},
    {"post_norm", FieldRule::False},
    // Scaled embeddings and residuals.
    {"embedding_multiplier", FieldRule::One},
    {"embedding_scale", FieldRule::One},
    {"scale_embedding", FieldRule::False},
    {"residual_multiplier", FieldRule::One},
    {"scale_emb", FieldRule::One},
    {"scale_depth", FieldRule::Absent},
    // RoPE over part of a head, over neighbouring lanes, or in some layers only.
    {"partial_rotary_factor", FieldRule::One},
    {"rotary_pct", FieldRule::One},
    {"rope_pct", FieldRule::One},
    {"rope_interleaved", FieldRule::False},
    {"no_rope_layers", FieldRule::Absent},
    {"no_rope_layer_interval", FieldRule::Off},
    {"rope_ratio", FieldRule::One},
    {"use_dynamic_ntk", FieldRule::False},
    // A theta by a name that isn't read, or a second one.
    {"rotary_emb_base", FieldRule::Absent},
    {"rope_local_base_freq", FieldRule::Absent},
    // Another block structure.
    {"use_parallel_residual", FieldRule::False},
    {"parallel_attn", FieldRule::False},
    {"num_experts", FieldRule::Off},
    {"num_local_experts", FieldRule::Off},
    {"n_routed_experts", FieldRule::Off},
    {"is_encoder_decoder", FieldRule::False},
    {"add_cross_attention", FieldRule::False},
};

/// Model types whose decoder is the seed's: RMSNorm, RoPE in half-split order, SwiGLU, no q/k norms.
constexpr StringRef kModelTypes[] = {"llama", "mistral", "mistral3", "ministral3", "qwen2", "phi3", "internlm2"};

bool isNumber(const json::Value &value, double wanted) { return value.getAsNumber() == wanted; }

bool isHarmless(const FieldRule &rule, const json::Value &value) {
  bool isFalse = value.getAsBoolean() == false;
  switch (rule.harmless) {
  case FieldRule::Absent:
    return false;
  case FieldRule::False:
    return isFalse;
  case FieldRule::Off:
    return isFalse || isNumber(value, 0);
  case FieldRule::One:
    return isNumber(value, 1);
  }
  return false;
}

StringRef expectedText(const FieldRule &rule) {
  switch (rule.harmless) {
  case FieldRule::Absent:
    return "none";
  case FieldRule::False:
    return "false";
  case FieldRule::Off:
    return "0 or null";
  case FieldRule::One:
    return "1";
  }
  return "";
}

/// The value, or null when it is absent or JSON null.
const json::Value *get(const json::Object &object, StringRef key) {
  const json::Value *value = object.get(key);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

/// A multimodal file holds some facts of its text model outside text_config.
const json::Value *getEither(const json::Object &scope, const json::Object &root, StringRef key) {
  const json::Value *value = get(scope, key);
  return value ? value : get(root, key);
}

/// Collects "KEY is FOUND, expected EXPECTED" for each field that stands in the way.
class LimitCheck {
public:
  LimitCheck(const json::Object &scope, const json::Object &root, const ModelConfig &config)
      : scope(scope), root(root), config(config) {}

  std::string run() {
    checkTied();
    checkHeadDim();
    checkRotatedDims();
    checkEpsAliases();
    checkRopeObject("rope_scaling");
    checkRopeObject("rope_parameters");
    checkSlidingWindow();
    checkLayerTypes();
    checkActivation();
    checkAttentionScale();
    checkLogitBase();
    for (const FieldRule &rule : kRules)
      if (const json::Value *value = get(scope, rule.key); value && !isHarmless(rule, *value))
        refuse(rule.key, describe(*value), expectedText(rule));
    return join(reasons, "; ");
  }

private:
  void refuse(const Twine &key, const Twine &found, const Twine &expected) {
    reasons.push_back((key + " is " + found + ", expected " + expected).str());
  }

  /// Absent counts as true, whatever a model class of Hugging Face would take: the weight file has no head of its own
  /// (SPEC 2.5), so its config can only mean a tied one. Whoever writes a file from a checkpoint has to ask there.
  void checkTied() {
    const json::Value *tied = getEither(scope, root, "tie_word_embeddings");
    if (tied && tied->getAsBoolean() != true)
      refuse("tie_word_embeddings", describe(*tied), "true (the file holds no head of its own)");
  }

  void checkHeadDim() {
    const json::Value *dim = get(scope, "head_dim");
    if (!dim || (config.hiddenSize % config.numHeads == 0 && dim->getAsInteger() == config.headDim()))
      return;
    refuse("head_dim", describe(*dim),
           Twine(config.hiddenSize) + "/" + Twine(config.numHeads) + " (hidden size / heads)");
  }

  /// RoPE turns whole heads.
  void checkRotatedDims() {
    for (StringRef key : {"rotary_dim", "rope_dim", "rotary_ndims"}) {
      const json::Value *dim = get(scope, key);
      if (dim && !isNumber(*dim, double(config.hiddenSize) / double(config.numHeads)))
        refuse(key, describe(*dim),
               Twine(config.hiddenSize) + "/" + Twine(config.numHeads) + " (the whole head: hidden size / heads)");
    }
  }

  /// An eps by a name that isn't read may only repeat the one that is.
  void checkEpsAliases() {
    for (StringRef key : {"norm_eps", "norm_epsilon", "layer_norm_epsilon", "layernorm_epsilon"}) {
      const json::Value *eps = get(scope, key);
      if (eps && static_cast<float>(eps->getAsNumber().value_or(-1)) != config.rmsNormEps)
        refuse(key, describe(*eps), "the rms_norm_eps of " + describe(json::Value(double(config.rmsNormEps))));
    }
  }

  /// rope_scaling and rope_parameters: only plain RoPE, whose type is "default" or "none"; without a
  /// type only the theta may be there.
  void checkRopeObject(StringRef key) {
    const json::Value *value = get(scope, key);
    if (!value)
      return;
    const json::Object *rope = value->getAsObject();
    if (!rope)
      return refuse(key, describe(*value), "an object or null");
    if (const json::Value *part = get(*rope, "partial_rotary_factor"); part && !isNumber(*part, 1))
      refuse(key + ".partial_rotary_factor", describe(*part), "1");
    StringRef typeKey = get(*rope, "rope_type") ? "rope_type" : "type";
    if (const json::Value *type = get(*rope, typeKey)) {
      std::optional<StringRef> name = type->getAsString();
      if (name != StringRef("default") && name != StringRef("none"))
        refuse(key + "." + typeKey, describe(*type), "\"default\"");
      return;
    }
    for (const auto &entry : *rope)
      if (entry.second.kind() != json::Value::Null && StringRef(entry.first) != "rope_theta" &&
          StringRef(entry.first) != "partial_rotary_factor")
        return refuse(key, "an object with " + describe(json::Value(StringRef(entry.first))) + " and no type",
                      "null or type \"default\"");
  }

  void checkSlidingWindow() {
    const json::Value *window = get(scope, "sliding_window");
    const json::Value *use = get(scope, "use_sliding_window");
    if (!window || (use && use->getAsBoolean() == false))
      return;
    std::optional<int64_t> size = window->getAsInteger();
    if (size && (*size <= 0 || *size >= config.contextWindow))
      return;
    refuse("sliding_window", describe(*window),
           "null or at least the context of " + Twine(config.contextWindow));
  }

  /// Windows are judged by checkSlidingWindow; any other kind of layer isn't this decoder's.
  void checkLayerTypes() {
    const json::Value *types = get(scope, "layer_types");
    if (!types)
      return;
    const json::Array *list = types->getAsArray();
    if (!list)
      return refuse("layer_types", describe(*types), "an array or null");
    for (const json::Value &type : *list)
      if (type.getAsString() != StringRef("full_attention") &&
          type.getAsString() != StringRef("sliding_attention"))
        return refuse("layer_types", "an array with " + describe(type), "only \"full_attention\"");
  }

  void checkActivation() {
    for (StringRef key : {"hidden_act", "hidden_activation", "activation_function"}) {
      const json::Value *act = get(scope, key);
      if (act && act->getAsString() != StringRef("silu") && act->getAsString() != StringRef("swish"))
        refuse(key, describe(*act), "\"silu\"");
    }
  }

  /// Scores are scaled by 1/sqrt(head dim), whatever name a config gives that.
  void checkAttentionScale() {
    double headDim = double(config.hiddenSize) / double(config.numHeads);
    if (const json::Value *scalar = get(scope, "query_pre_attn_scalar"); scalar && !isNumber(*scalar, headDim))
      refuse("query_pre_attn_scalar", describe(*scalar), "the head dim");
    const json::Value *factor = get(scope, "attention_multiplier");
    constexpr double kRoundingOfPrintedFactor = 1e-6;
    if (factor && !(std::abs(factor->getAsNumber().value_or(0) * std::sqrt(headDim) - 1) < kRoundingOfPrintedFactor))
      refuse("attention_multiplier", describe(*factor), "1/sqrt(head dim)");
  }

  void checkLogitBase() {
    const json::Value *base = get(scope, "dim_model_base");
    if (base && !isNumber(*base, double(config.hiddenSize)))
      refuse("dim_model_base", describe(*base), "the hidden size of " + Twine(config.hiddenSize));
  }

  const json::Object &scope;
  const json::Object &root;
  const ModelConfig &config;
  SmallVector<std::string> reasons;
};

Error refusal(StringRef where, const Twine &reasons) {
  return textError(where + ": the weight format cannot express this model: " + reasons);
}

} // namespace

Error checkModelType(const json::Object &scope, const json::Object &root, StringRef where) {
  const json::Value *type = getEither(scope, root, "model_type");
  if (!type || (type->getAsString() && is_contained(kModelTypes, *type->getAsString())))
    return Error::success();
  std::string known = join(std::begin(kModelTypes), std::end(kModelTypes), ", ");
  return refusal(where, "model_type is " + describe(*type) + ", expected one of " + known +
                            ", which have no norms, activations or scales of another kind");
}

Error checkExpressible(const json::Object &scope, const json::Object &root, const ModelConfig &config,
                       StringRef where) {
  std::string reasons = LimitCheck(scope, root, config).run();
  return reasons.empty() ? Error::success() : refusal(where, reasons);
}

} // namespace ckjit::detail
