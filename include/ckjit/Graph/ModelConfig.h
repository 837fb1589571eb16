//===- ModelConfig.h - Shape of a decoder-only transformer ------*- C++ -*-===//
#ifndef CKJIT_GRAPH_MODELCONFIG_H
#define CKJIT_GRAPH_MODELCONFIG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace ckjit {

/// Alignment of every padded dimension: 64 bytes of fp32.
inline constexpr int64_t kAlignElements = 16;

/// `n` rounded up to the next multiple of kAlignElements.
constexpr int64_t alignElements(int64_t n) {
  return (n + kAlignElements - 1) / kAlignElements * kAlignElements;
}

/// The numbers that fix a model's shape (SPEC 1.1). Valid once validate()
/// has accepted it; all dims are then positive and below 2^31.
struct ModelConfig {
  int64_t numLayers = 0;
  int64_t hiddenSize = 0;
  int64_t intermediateSize = 0;
  int64_t numHeads = 0;
  int64_t numKVHeads = 0;
  int64_t vocabSize = 1;
  int64_t contextWindow = 1;
  float rmsNormEps = 1e-5f;
  /// 0 = no RoPE, learned positions (pos_emb) are added instead.
  float ropeTheta = 0.0f;

  int64_t headDim() const { return hiddenSize / numHeads; }
  int64_t alignedHidden() const { return alignElements(hiddenSize); }
  int64_t alignedHead() const { return alignElements(headDim()); }
  int64_t alignedIntermediate() const { return alignElements(intermediateSize); }
  int64_t alignedContext() const { return alignElements(contextWindow); }

  bool operator==(const ModelConfig &) const = default;
};

struct ConfigOptions {
  /// Accept fields that BUMPWGT3 can't express (untied head, rope_scaling,
  /// own head_dim, ...) and use only the shape. For benchmarks and `layout`.
  bool shapeOnly = false;
};

/// Checks the rules of SPEC 1.1 (layout_model): positive dims, H % K == 0,
/// D % H == 0, even head dim with RoPE, and that no product of dims overflows.
llvm::Error validateConfig(const ModelConfig &config, llvm::StringRef where);

/// Reads an HF-style config.json text (SPEC 1.1: keys, aliases, text_config
/// scope) and validates it. `where` names the file in messages. A file without
/// tie_word_embeddings counts as tied: the weight format has no head of its own.
llvm::Expected<ModelConfig> parseModelConfig(llvm::StringRef json, llvm::StringRef where,
                                             const ConfigOptions &options = {});

/// Reads and parses the config file at `path` (size-bounded read).
llvm::Expected<ModelConfig> loadModelConfig(llvm::StringRef path, const ConfigOptions &options = {});

/// HF-style JSON text of `config`, with tie_word_embeddings true; round-trips
/// through parseModelConfig.
std::string writeModelConfig(const ModelConfig &config);

} // namespace ckjit
#endif
