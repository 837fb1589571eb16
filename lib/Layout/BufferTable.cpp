//===- BufferTable.cpp - The one table of the arena -----------------------===//
#include "BufferTable.h"
#include "llvm/Support/ErrorHandling.h"

using namespace ckjit;
using namespace ckjit::layout;

namespace {
using enum Dim;
constexpr auto W = BufferRole::Weight;
constexpr auto A = BufferRole::Activation;
constexpr auto S = BufferRole::Scratch;
constexpr auto G = BufferRole::Gradient;
constexpr auto Glob = Scope::Global;
constexpr auto Layer = Scope::Layer;
constexpr auto Always = When::Always;
constexpr auto Rope = When::WithRope;
constexpr auto Train = When::Training;

constexpr BufferRow kTable[] = {
    // name, role, scope, condition, shape
    {"token_emb", W, Glob, Always, {V, AlignedD}},
    {"pos_emb", W, Glob, Always, {C, AlignedD}},
    {"embedded_input", A, Glob, Always, {C, AlignedD}},
    {"rope_cos_cache", A, Glob, Rope, {C, HalfHd}},
    {"rope_sin_cache", A, Glob, Rope, {C, HalfHd}},
    {"final_ln_weight", W, Glob, Always, {AlignedD}},
    {"final_ln_bias", W, Glob, Always, {AlignedD}},
    {"final_ln_mean", A, Glob, Always, {C}},
    {"final_ln_rstd", A, Glob, Always, {C}},
    {"final_output", A, Glob, Always, {C, AlignedD}},
    {"lm_head_weight", W, Glob, Always, {V, AlignedD}, "token_emb"},
    {"logits", A, Glob, Always, {C, V}},
    {"d_token_emb", G, Glob, Train, {V, AlignedD}},
    {"d_pos_emb", G, Glob, Train, {C, AlignedD}},
    {"d_final_output", G, Glob, Train, {C, AlignedD}},
    {"d_final_input", G, Glob, Train, {C, AlignedD}},
    {"d_final_ln_weight", G, Glob, Train, {AlignedD}},
    {"d_logits", G, Glob, Train, {C, V}},

    {"ln1_gamma", W, Layer, Always, {AlignedD}},
    {"ln1_out", A, Layer, Always, {C, AlignedD}},
    {"ln1_rstd", A, Layer, Always, {C}},
    {"wq", W, Layer, Always, {H, AlignedHd, AlignedD}},
    {"bq", W, Layer, Always, {H, AlignedHd}},
    {"wk", W, Layer, Always, {K, AlignedHd, AlignedD}},
    {"bk", W, Layer, Always, {K, AlignedHd}},
    {"wv", W, Layer, Always, {K, AlignedHd, AlignedD}},
    {"bv", W, Layer, Always, {K, AlignedHd}},
    {"q", A, Layer, Always, {H, C, AlignedHd}},
    {"k", A, Layer, Always, {K, C, AlignedHd}},
    {"v", A, Layer, Always, {K, C, AlignedHd}},
    {"scores", A, Layer, Train, {H, AlignedC, AlignedC}},
    {"attn_out", A, Layer, Always, {H, C, AlignedHd}},
    {"wo", W, Layer, Always, {H, AlignedD, AlignedHd}},
    {"bo", W, Layer, Always, {AlignedD}},
    {"proj_tmp", A, Layer, Always, {C, AlignedD}},
    {"proj_scratch", S, Layer, Always, {C, AlignedD}},
    {"residual1", A, Layer, Always, {C, AlignedD}},
    {"ln2_gamma", W, Layer, Always, {AlignedD}},
    {"ln2_out", A, Layer, Always, {C, AlignedD}},
    {"ln2_rstd", A, Layer, Always, {C}},
    {"w1", W, Layer, Always, {TwoAlignedI, AlignedD}},
    {"b1", W, Layer, Always, {TwoAlignedI}},
    {"fc1_out", A, Layer, Always, {C, TwoAlignedI}},
    {"swiglu_out", A, Layer, Always, {C, AlignedI}},
    {"w2", W, Layer, Always, {AlignedD, AlignedI}},
    {"b2", W, Layer, Always, {AlignedD}},
    {"mlp_out", A, Layer, Always, {C, AlignedD}},
    {"output", A, Layer, Always, {C, AlignedD}},
    {"d_output", G, Layer, Train, {C, AlignedD}},
    {"d_residual1", G, Layer, Train, {C, AlignedD}},
    {"d_mlp_out", G, Layer, Train, {C, AlignedD}},
    {"d_swiglu_out", G, Layer, Train, {C, AlignedI}},
    {"d_w2", G, Layer, Train, {AlignedD, AlignedI}},
    {"d_b2", G, Layer, Train, {AlignedD}},
    {"d_fc1_out", G, Layer, Train, {C, TwoAlignedI}},
    {"d_ln2_out", G, Layer, Train, {C, AlignedD}},
    {"d_w1", G, Layer, Train, {TwoAlignedI, AlignedD}},
    {"d_b1", G, Layer, Train, {TwoAlignedI}},
    {"d_ln2_gamma", G, Layer, Train, {AlignedD}},
    {"d_input", G, Layer, Train, {C, AlignedD}},
    {"d_proj_tmp", G, Layer, Train, {C, AlignedD}},
    {"d_attn_out", G, Layer, Train, {H, C, AlignedHd}},
    {"d_wo", G, Layer, Train, {H, AlignedD, AlignedHd}},
    {"d_bo", G, Layer, Train, {AlignedD}},
    {"d_q", G, Layer, Train, {H, C, AlignedHd}},
    {"d_k", G, Layer, Train, {K, C, AlignedHd}},
    {"d_v", G, Layer, Train, {K, C, AlignedHd}},
    {"d_scores", G, Layer, Train, {H, AlignedC, AlignedC}},
    {"d_ln1_out", G, Layer, Train, {C, AlignedD}},
    {"d_wq", G, Layer, Train, {H, AlignedHd, AlignedD}},
    {"d_bq", G, Layer, Train, {H, AlignedHd}},
    {"d_wk", G, Layer, Train, {K, AlignedHd, AlignedD}},
    {"d_bk", G, Layer, Train, {K, AlignedHd}},
    {"d_wv", G, Layer, Train, {K, AlignedHd, AlignedD}},
    {"d_bv", G, Layer, Train, {K, AlignedHd}},
    {"d_ln1_gamma", G, Layer, Train, {AlignedD}},
};

constexpr size_t countGlobals() {
  size_t n = 0;
  while (kTable[n].scope == Scope::Global)
    ++n;
  return n;
}
} // namespace

llvm::ArrayRef<BufferRow> ckjit::layout::bufferTable() { return kTable; }

llvm::ArrayRef<BufferRow> ckjit::layout::rowsOf(Scope scope) {
  constexpr size_t globals = countGlobals();
  llvm::ArrayRef<BufferRow> all(kTable);
  return scope == Scope::Global ? all.take_front(globals) : all.drop_front(globals);
}

int64_t ckjit::layout::paddedExtent(Dim dim, const ModelConfig &config) {
  switch (dim) {
  case None: return 1;
  case V: return config.vocabSize;
  case C: return config.contextWindow;
  case AlignedC: return config.alignedContext();
  case AlignedD: return config.alignedHidden();
  case HalfHd: return config.headDim() / 2;
  case H: return config.numHeads;
  case K: return config.numKVHeads;
  case AlignedHd: return config.alignedHead();
  case AlignedI: return config.alignedIntermediate();
  case TwoAlignedI: return 2 * config.alignedIntermediate();
  }
  llvm_unreachable("unknown Dim");
}

int64_t ckjit::layout::logicalExtent(Dim dim, const ModelConfig &config) {
  switch (dim) {
  case AlignedC: return config.contextWindow;
  case AlignedD: return config.hiddenSize;
  case AlignedHd: return config.headDim();
  case AlignedI:
  case TwoAlignedI: return config.intermediateSize;
  default: return paddedExtent(dim, config);
  }
}
