//===- CKIRGraph.h - The seed's graph: ten nodes a layer --------*- C++ -*-===//
#ifndef CKJIT_GRAPH_CKIRGRAPH_H
#define CKJIT_GRAPH_CKIRGRAPH_H

#include "ckjit/Graph/ModelConfig.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace ckjit {

/// Node kinds, in the seed's enum order (SPEC 1.2).
enum class NodeOp : uint8_t {
  RMSNorm, LinearQKV, Attention, Add, Linear, Split, SwiGLU,
  RMSNormBwd, LinearQKVBwd, AttentionBwd, AddBwd, LinearBwd, SplitBwd, SwiGLUBwd,
};

/// "RMSNORM", "LINEAR_QKV", ..., "SWIGLU_BWD".
llvm::StringRef nodeOpName(NodeOp op);
bool isBackward(NodeOp op);

struct NodeId {
  uint16_t layer = 0;
  uint16_t node = 0;
  bool operator==(const NodeId &) const = default;
  auto operator<=>(const NodeId &) const = default;
};

/// The target id at which the loss passes over a position (SPEC 0.6).
inline constexpr int32_t kIgnoredTarget = -100;

/// Node number that means "the input of this layer" (IN).
inline constexpr uint16_t kLayerInput = 0xFFFF;
inline constexpr size_t kMaxNodeInputs = 4;

struct InputRef {
  NodeId producer;
  uint8_t outIndex = 0;
  bool isLayerInput() const { return producer.node == kLayerInput; }
  bool operator==(const InputRef &) const = default;
};

struct CKIRNode {
  NodeId id;
  NodeOp op = NodeOp::RMSNorm;
  llvm::SmallVector<InputRef, 4> inputs;
  uint8_t numOutputs = 1;
  bool operator==(const CKIRNode &) const = default;
};

/// Nodes in execution order, layer by layer. A layer's result is output 0 of
/// its last node and is the next layer's IN. Embedding, RoPE, final norm and
/// head stand around the nodes and are not listed (SPEC 0.8).
struct CKIRGraph {
  ModelConfig config;
  std::vector<CKIRNode> nodes;
};

/// Width of a node's output row; Hidden = D, Half = I, FC1 = 2*I (gate first,
/// up second), QKV = the triple that only ATTENTION reads.
enum class ValueKind : uint8_t { Hidden, Half, FC1, QKV };

/// The canonical decoder: 10 nodes for each of max(L,1) layers (SPEC 1.2).
CKIRGraph buildForwardGraph(const ModelConfig &config);

/// The seed's placeholder backward graph: forward nodes reversed, op -> op_BWD,
/// n_inputs and n_outputs exchanged, inputs copied (SPEC 1.2).
CKIRGraph buildBackwardGraph(const CKIRGraph &forward);

/// Checks that the graph is a program: layers ascending and none empty, ids
/// unique, only forward ops, every reference defined by an earlier node (of
/// this layer or an earlier one) with that output, input and output counts of
/// each op, weighted ops at the node numbers that bind their weights (SPEC 0.8:
/// RMSNORM 0 or 4, LINEAR_QKV 1, ATTENTION 2, LINEAR 5 or 8), operand kinds
/// (RMSNORM, LINEAR_QKV and LINEAR 5 read Hidden; LINEAR 8 reads Half; SPLIT
/// reads FC1 and gives two Half; ADD and SWIGLU read two values of one kind, not QKV, and
/// give that kind; ATTENTION reads QKV, gives Hidden), a layer's result is
/// Hidden. Returns the kind of output 0 of each node, in node order (SPLIT: Half).
/// Messages name node ("L0:N5 LINEAR"), what was found and what is expected.
llvm::Expected<std::vector<ValueKind>> validateGraph(const CKIRGraph &graph, llvm::StringRef where);

/// The text dump, as the seed prints it (SPEC 1.3, dump line).
std::string dumpGraph(const CKIRGraph &graph);

/// JSON IR map out and in (SPEC 1.3). Reading checks syntax, types, ranges and
/// op names; it does not call validateGraph (a backward map reads too).
std::string writeGraphJson(const CKIRGraph &graph);
llvm::Expected<CKIRGraph> parseGraphJson(llvm::StringRef json, llvm::StringRef where);
llvm::Expected<CKIRGraph> loadGraphJson(llvm::StringRef path);

/// The C skeleton text of the seed's ck_codegen_c_skeleton, byte for byte.
std::string writeSkeleton(const CKIRGraph &forward, const CKIRGraph *backward);

} // namespace ckjit
#endif
