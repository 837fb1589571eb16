//===- Reference.cpp - Walks the graph in double precision ----------------===//
#include "ckjit/Reference/Reference.h"
#include "ScalarOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <memory>

using namespace llvm;

namespace ckjit {
namespace {
using reference::Matrix;

/// Outputs of one node. LINEAR_QKV: q, k, v, each [heads * T][hd]; SPLIT: gate, up; others one matrix.
using Outputs = SmallVector<std::shared_ptr<Matrix>, 3>;

struct CanonicalNode {
  uint16_t node;
  NodeOp op;
  ValueKind kind;
  const char *buffer;
};

/// Nodes that stand in the canonical graph with one result that has a buffer of its own (SPEC 1.2, 3).
constexpr CanonicalNode kCanonicalNodes[] = {
    {0, NodeOp::RMSNorm, ValueKind::Hidden, "ln1_out"},   {2, NodeOp::Attention, ValueKind::Hidden, "proj_tmp"},
    {3, NodeOp::Add, ValueKind::Hidden, "residual1"},     {4, NodeOp::RMSNorm, ValueKind::Hidden, "ln2_out"},
    {5, NodeOp::Linear, ValueKind::FC1, "fc1_out"},       {7, NodeOp::SwiGLU, ValueKind::Half, "swiglu_out"},
    {8, NodeOp::Linear, ValueKind::Hidden, "mlp_out"},    {9, NodeOp::Add, ValueKind::Hidden, "output"},
};
constexpr uint16_t kCanonicalSplit = 6;

const char *bufferName(const CKIRNode &node, ValueKind kind) {
  for (const CanonicalNode &known : kCanonicalNodes)
    if (known.node == node.id.node && known.op == node.op && known.kind == kind)
      return known.buffer;
  return "node";
}

const char *opLabel(NodeOp op) {
  switch (op) {
  case NodeOp::RMSNorm: return "rmsnorm";
  case NodeOp::LinearQKV: return "qkv_project";
  case NodeOp::Attention: return "attn_project";
  case NodeOp::Add: return "residual_add";
  case NodeOp::Linear: return "linear";
  case NodeOp::Split: return "split";
  case NodeOp::SwiGLU: return "swiglu";
  default: return "unknown";
  }
}

class Walker {
public:
  Walker(const CKIRGraph &graph, WeightLookup weights, ArrayRef<int32_t> tokens,
         function_ref<bool(const ReferenceValue &)> sink)
      : graph(graph), config(graph.config), weights(weights), tokens(tokens), sink(sink) {}

  Error run(ArrayRef<ValueKind> kinds);

private:
  Error embedTokens();
  Error walkNode(const CKIRNode &node, ValueKind kind);
  Error finish();

  Expected<Outputs> compute(const CKIRNode &node);
  Expected<Outputs> computeRmsNorm(const CKIRNode &node);
  Expected<Outputs> computeQkv(const CKIRNode &node);
  Expected<Outputs> computeAttention(const CKIRNode &node);
  Expected<Outputs> computeLinear(const CKIRNode &node);

  Expected<const Outputs *> producer(const CKIRNode &node, size_t slot) const;
  Expected<const Matrix *> input(const CKIRNode &node, size_t slot) const;
  Expected<const float *> weight(StringRef name, int layer) const;
  Expected<Matrix> project(const CKIRNode &node, const Matrix &x, char which);

  void countReads();
  void release(const CKIRNode &node);
  void emit(Matrix &value, const char *name, const char *op, int layer = -1, int node = -1);
  void emitNode(const CKIRNode &node, ValueKind kind, const Outputs &outputs);

  int64_t tokenCount() const { return static_cast<int64_t>(tokens.size()); }

  const CKIRGraph &graph;
  const ModelConfig &config;
  WeightLookup weights;
  ArrayRef<int32_t> tokens;
  function_ref<bool(const ReferenceValue &)> sink;

  std::map<NodeId, Outputs> results;
  std::map<NodeId, size_t> pendingReads; ///< a result is dropped with its last reader
  Outputs layerInput;
  Outputs lastOutputs;
  bool stopped = false;
};

Outputs single(Matrix value) { return {std::make_shared<Matrix>(std::move(value))}; }

std::string describe(const CKIRNode &node) {
  return formatv("L{0}:N{1} {2}", node.id.layer, node.id.node, nodeOpName(node.op));
}

Expected<const float *> Walker::weight(StringRef name, int layer) const {
  if (const float *data = weights(name, layer))
    return data;
  if (layer < 0)
    return createStringError(formatv("reference: no tensor '{0}'; expected one from the weight lookup", name).str());
  return createStringError(
      formatv("reference: no tensor '{0}' of layer {1}; expected one from the weight lookup", name, layer).str());
}

Expected<const Outputs *> Walker::producer(const CKIRNode &node, size_t slot) const {
  const InputRef &ref = node.inputs[slot];
  if (ref.isLayerInput())
    return &layerInput;
  auto found = results.find(ref.producer);
  if (found != results.end() && ref.outIndex < found->second.size())
    return &found->second;
  return createStringError(formatv("reference: {0}: input {1} is L{2}:N{3}:{4}, expected an output of an earlier node",
                                   describe(node), slot, ref.producer.layer, ref.producer.node, int(ref.outIndex))
                               .str());
}

Expected<const Matrix *> Walker::input(const CKIRNode &node, size_t slot) const {
  Expected<const Outputs *> outputs = producer(node, slot);
  if (!outputs)
    return outputs.takeError();
  const InputRef &ref = node.inputs[slot];
  return (**outputs)[ref.isLayerInput() ? 0 : ref.outIndex].get();
}

void Walker::emit(Matrix &value, const char *name, const char *op, int layer, int node) {
  if (stopped)
    return;
  // The sink gets an owning value; lend it the numbers instead of a copy.
  ReferenceValue lent{name, layer, node, op, value.rows, value.cols, std::move(value.data)};
  stopped = !sink(lent);
  value.data = std::move(lent.data);
}

void Walker::emitNode(const CKIRNode &node, ValueKind kind, const Outputs &outputs) {
  const int layer = node.id.layer, number = node.id.node;
  if (node.op == NodeOp::LinearQKV) {
    const char *rotated = config.ropeTheta > 0 ? "rope" : "qkv_project";
    emit(*outputs[0], "q", rotated, layer, number);
    emit(*outputs[1], "k", rotated, layer, number);
    emit(*outputs[2], "v", "qkv_project", layer, number);
    return;
  }
  if (node.op == NodeOp::Split && number == kCanonicalSplit)
    return; // the halves are columns of fc1_out, no buffer of their own
  for (const std::shared_ptr<Matrix> &output : outputs)
    emit(*output, bufferName(node, kind), opLabel(node.op), layer, number);
}

Expected<Outputs> Walker::computeRmsNorm(const CKIRNode &node) {
  Expected<const Matrix *> x = input(node, 0);
  if (!x)
    return x.takeError();
  const bool first = node.id.node == 0;
  Expected<const float *> gamma = weight(first ? "ln1_gamma" : "ln2_gamma", node.id.layer);
  if (!gamma)
    return gamma.takeError();
  Matrix rstd = reference::reciprocalRms(**x, config.rmsNormEps);
  emit(rstd, first ? "ln1_rstd" : "ln2_rstd", opLabel(node.op), node.id.layer, node.id.node);
  return single(reference::rmsNorm(**x, rstd, *gamma));
}

Expected<Matrix> Walker::project(const CKIRNode &node, const Matrix &x, char which) {
  Expected<const float *> w = weight(std::string("w") + which, node.id.layer);
  if (!w)
    return w.takeError();
  Expected<const float *> b = weight(std::string("b") + which, node.id.layer);
  if (!b)
    return b.takeError();
  const int64_t heads = which == 'q' ? config.numHeads : config.numKVHeads;
  Matrix out = reference::projectHeads(config, x, heads, *w, *b);
  if (which != 'v' && config.ropeTheta > 0)
    reference::applyRope(config, out, tokenCount());
  return out;
}

Expected<Outputs> Walker::computeQkv(const CKIRNode &node) {
  Expected<const Matrix *> x = input(node, 0);
  if (!x)
    return x.takeError();
  Outputs outputs;
  for (char which : {'q', 'k', 'v'}) {
    Expected<Matrix> value = project(node, **x, which);
    if (!value)
      return value.takeError();
    outputs.push_back(std::make_shared<Matrix>(std::move(*value)));
  }
  return outputs;
}

Expected<Outputs> Walker::computeAttention(const CKIRNode &node) {
  Expected<const Outputs *> qkv = producer(node, 0);
  if (!qkv)
    return qkv.takeError();
  if ((*qkv)->size() != 3)
    return createStringError(
        formatv("reference: {0}: input 0 isn't a LINEAR_QKV result, expected one", describe(node)).str());
  Expected<const float *> wo = weight("wo", node.id.layer);
  if (!wo)
    return wo.takeError();
  Expected<const float *> bo = weight("bo", node.id.layer);
  if (!bo)
    return bo.takeError();
  Matrix attended = reference::attention(config, *(**qkv)[0], *(**qkv)[1], *(**qkv)[2]);
  emit(attended, "attn_out", "attention", node.id.layer, node.id.node);
  return single(reference::projectAttention(config, attended, *wo, *bo));
}

Expected<Outputs> Walker::computeLinear(const CKIRNode &node) {
  const bool first = node.id.node == 5;
  Expected<const Matrix *> x = input(node, 0);
  if (!x)
    return x.takeError();
  Expected<const float *> w = weight(first ? "w1" : "w2", node.id.layer);
  if (!w)
    return w.takeError();
  Expected<const float *> b = weight(first ? "b1" : "b2", node.id.layer);
  if (!b)
    return b.takeError();
  return single(first ? reference::expand(config, **x, *w, *b) : reference::contract(config, **x, *w, *b));
}

Expected<Outputs> Walker::compute(const CKIRNode &node) {
  switch (node.op) {
  case NodeOp::RMSNorm: return computeRmsNorm(node);
  case NodeOp::LinearQKV: return computeQkv(node);
  case NodeOp::Attention: return computeAttention(node);
  case NodeOp::Linear: return computeLinear(node);
  default: break;
  }
  Expected<const Matrix *> a = input(node, 0);
  if (!a)
    return a.takeError();
  if (node.op == NodeOp::Split)
    return Outputs{std::make_shared<Matrix>(reference::takeHalf(**a, 0)),
                   std::make_shared<Matrix>(reference::takeHalf(**a, 1))};
  Expected<const Matrix *> b = input(node, 1);
  if (!b)
    return b.takeError();
  return single(node.op == NodeOp::Add ? reference::add(**a, **b) : reference::swiglu(**a, **b));
}

void Walker::countReads() {
  for (const CKIRNode &node : graph.nodes)
    for (const InputRef &ref : node.inputs)
      if (!ref.isLayerInput())
        ++pendingReads[ref.producer];
}

/// Drops the results that no later node reads.
void Walker::release(const CKIRNode &node) {
  for (const InputRef &ref : node.inputs)
    if (!ref.isLayerInput() && --pendingReads[ref.producer] == 0)
      results.erase(ref.producer);
  if (pendingReads[node.id] == 0)
    results.erase(node.id);
}

Error Walker::walkNode(const CKIRNode &node, ValueKind kind) {
  Expected<Outputs> outputs = compute(node);
  if (!outputs)
    return outputs.takeError();
  emitNode(node, kind, *outputs);
  lastOutputs = *outputs;
  results[node.id] = std::move(*outputs);
  release(node);
  return Error::success();
}

Error Walker::embedTokens() {
  Expected<const float *> tokenEmb = weight("token_emb", -1);
  if (!tokenEmb)
    return tokenEmb.takeError();
  const float *posEmb = nullptr;
  if (config.ropeTheta <= 0) {
    Expected<const float *> found = weight("pos_emb", -1);
    if (!found)
      return found.takeError();
    posEmb = *found;
  }
  lastOutputs = single(reference::embed(config, tokens, *tokenEmb, posEmb));
  emit(*lastOutputs[0], "embedded_input", "embed");
  return Error::success();
}

/// Final norm and tied head, over the last layer's result.
Error Walker::finish() {
  Expected<const float *> gamma = weight("final_ln_weight", -1);
  if (!gamma)
    return gamma.takeError();
  Expected<const float *> tokenEmb = weight("token_emb", -1);
  if (!tokenEmb)
    return tokenEmb.takeError();
  Matrix rstd = reference::reciprocalRms(*lastOutputs[0], config.rmsNormEps);
  emit(rstd, "final_ln_rstd", "rmsnorm");
  Matrix normed = reference::rmsNorm(*lastOutputs[0], rstd, *gamma);
  emit(normed, "final_output", "rmsnorm");
  if (stopped)
    return Error::success();
  Matrix logits = reference::lmHead(config, normed, *tokenEmb);
  emit(logits, "logits", "lm_head");
  return Error::success();
}

Error Walker::run(ArrayRef<ValueKind> kinds) {
  countReads();
  if (Error error = embedTokens())
    return error;
  int layer = -1;
  for (auto [node, kind] : zip_equal(graph.nodes, kinds)) {
    if (stopped)
      return Error::success();
    if (node.id.layer != layer)
      layerInput = lastOutputs;
    layer = node.id.layer;
    if (Error error = walkNode(node, kind))
      return error;
  }
  return stopped ? Error::success() : finish();
}

Error checkTokens(const ModelConfig &config, ArrayRef<int32_t> tokens) {
  const int64_t context = config.contextWindow, vocab = config.vocabSize;
  if (tokens.empty() || tokens.size() > static_cast<size_t>(context))
    return createStringError(
        formatv("reference: {0} tokens, expected 1 to {1} (the context window)", tokens.size(), context).str());
  for (auto [position, id] : enumerate(tokens))
    if (id < 0 || id >= vocab)
      return createStringError(formatv("reference: token id {0} at position {1}, expected 0 to {2} (the vocabulary)",
                                       id, position, vocab - 1)
                                   .str());
  return Error::success();
}

} // namespace

Error runReference(const CKIRGraph &graph, WeightLookup weights, ArrayRef<int32_t> tokens,
                   function_ref<bool(const ReferenceValue &)> sink) {
  if (Error error = validateConfig(graph.config, "reference"))
    return error;
  Expected<std::vector<ValueKind>> kinds = validateGraph(graph, "reference");
  if (!kinds)
    return kinds.takeError();
  if (Error error = checkTokens(graph.config, tokens))
    return error;
  return Walker(graph, weights, tokens, sink).run(*kinds);
}

std::vector<double> referenceLosses(const ReferenceValue &logits, ArrayRef<int32_t> targets) {
  std::vector<double> losses;
  for (auto [row, target] : enumerate(targets)) {
    ArrayRef<double> values = ArrayRef(logits.data).slice(row * logits.cols, logits.cols);
    losses.push_back(target < 0 ? 0 : reference::crossEntropy(values, target));
  }
  return losses;
}

} // namespace ckjit
