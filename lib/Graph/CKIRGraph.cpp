//===- CKIRGraph.cpp - Build and print the graph --------------------------===//
#include "ckjit/Graph/CKIRGraph.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace ckjit {
namespace {

constexpr StringLiteral kOpNames[] = {
    "RMSNORM",     "LINEAR_QKV",     "ATTENTION",     "ADD",     "LINEAR",     "SPLIT",     "SWIGLU",
    "RMSNORM_BWD", "LINEAR_QKV_BWD", "ATTENTION_BWD", "ADD_BWD", "LINEAR_BWD", "SPLIT_BWD", "SWIGLU_BWD"};
constexpr int kForwardOps = static_cast<int>(NodeOp::RMSNormBwd);

/// A layer number is 16 bits wide.
constexpr int64_t kMaxLayers = 65535;

/// An input of a canonical node: the node number in the same layer, and its output.
struct Source {
  uint16_t node;
  uint8_t outIndex = 0;
};

struct CanonicalNode {
  NodeOp op;
  SmallVector<Source, 2> inputs;
  uint8_t numOutputs = 1;
};

/// Attention with its residual, then the gated MLP with its own (SPEC 1.2).
const CanonicalNode kDecoderLayer[] = {
    {NodeOp::RMSNorm, {{kLayerInput}}},
    {NodeOp::LinearQKV, {{0}}},
    {NodeOp::Attention, {{1}}},
    {NodeOp::Add, {{kLayerInput}, {2}}},
    {NodeOp::RMSNorm, {{3}}},
    {NodeOp::Linear, {{4}}},
    {NodeOp::Split, {{5}}, 2},
    {NodeOp::SwiGLU, {{6, 0}, {6, 1}}},
    {NodeOp::Linear, {{7}}},
    {NodeOp::Add, {{3}, {8}}},
};

CKIRNode backwardOf(const CKIRNode &forward) {
  CKIRNode node = forward;
  if (!isBackward(forward.op))
    node.op = static_cast<NodeOp>(static_cast<int>(forward.op) + kForwardOps);
  node.numOutputs = static_cast<uint8_t>(forward.inputs.size());
  // As in the seed: where more inputs are claimed than were copied, the rest is zero (L0:N0).
  node.inputs.resize(forward.numOutputs);
  return node;
}

} // namespace

StringRef nodeOpName(NodeOp op) {
  size_t index = static_cast<size_t>(op);
  return index < std::size(kOpNames) ? StringRef(kOpNames[index]) : StringRef("UNKNOWN");
}

bool isBackward(NodeOp op) { return op >= NodeOp::RMSNormBwd; }

CKIRGraph buildForwardGraph(const ModelConfig &config) {
  CKIRGraph graph{config, {}};
  int64_t layers = std::clamp<int64_t>(config.numLayers, 1, kMaxLayers);
  graph.nodes.reserve(size_t(layers) * std::size(kDecoderLayer));
  for (int64_t l = 0; l < layers; ++l) {
    uint16_t layer = static_cast<uint16_t>(l), number = 0;
    for (const CanonicalNode &canonical : kDecoderLayer) {
      CKIRNode node{{layer, number++}, canonical.op, {}, canonical.numOutputs};
      for (Source source : canonical.inputs)
        node.inputs.push_back({{layer, source.node}, source.outIndex});
      graph.nodes.push_back(std::move(node));
    }
  }
  return graph;
}

CKIRGraph buildBackwardGraph(const CKIRGraph &forward) {
  CKIRGraph graph{forward.config, {}};
  graph.nodes.reserve(forward.nodes.size());
  for (auto node = forward.nodes.rbegin(); node != forward.nodes.rend(); ++node)
    graph.nodes.push_back(backwardOf(*node));
  return graph;
}

std::string dumpGraph(const CKIRGraph &graph) {
  std::string text;
  raw_string_ostream os(text);
  const ModelConfig &c = graph.config;
  os << "CKIRGraph: layers=" << c.numLayers << ", hidden_size=" << c.hiddenSize
     << ", intermediate_size=" << c.intermediateSize << ", heads=" << c.numHeads
     << ", kv_heads=" << c.numKVHeads << ", vocab=" << c.vocabSize << ", ctx=" << c.contextWindow
     << ", eps=" << format("%.6g", double(c.rmsNormEps))
     << ", rope_theta=" << format("%.6g", double(c.ropeTheta)) << "\n";
  for (const CKIRNode &node : graph.nodes) {
    os << "  L" << node.id.layer << " N" << node.id.node << " " << left_justify(nodeOpName(node.op), 14)
       << " outputs=[";
    for (unsigned out = 0; out < node.numOutputs; ++out)
      os << (out ? "," : "") << "L" << node.id.layer << ":N" << node.id.node << ":" << out;
    os << "] inputs=[";
    StringRef separator = "";
    for (const InputRef &input : node.inputs) {
      os << separator;
      separator = ",";
      if (input.isLayerInput())
        os << "IN";
      else
        os << "L" << input.producer.layer << ":N" << input.producer.node;
    }
    os << "]\n";
  }
  return text;
}

} // namespace ckjit
