//===- Suspects.h - Which ops a wrong result may come from ------*- C++ -*-===//
#ifndef CKJIT_LIB_ENGINE_SUSPECTS_H
#define CKJIT_LIB_ENGINE_SUSPECTS_H

#include "ckjit/Reference/Reference.h"
#include <map>
#include <set>

namespace ckjit {

/// Walks back from a result to those it is computed from. Not every node has a slot: what SPLIT gives, and a node
/// elsewhere than in the canonical graph, can only be judged by what reads it.
class Suspects {
public:
  explicit Suspects(const CKIRGraph &graph) : graph(graph) {}

  /// Call for each result that was compared, in order.
  void compared(const ReferenceValue &value);
  /// Fills in where the fault of `value`, the first that differs, may lie.
  void trace(const ReferenceValue &value);

  std::vector<std::string> behind, ops; ///< each name once

private:
  void traceNode(NodeId id);
  void traceInputs(const CKIRNode &node);
  void traceLayerInput(int layer);
  const CKIRNode *find(NodeId id) const;

  const CKIRGraph &graph;
  std::map<NodeId, std::vector<std::string>> slots; ///< what each node gives, where it was compared
  std::set<NodeId> visited;
};

} // namespace ckjit
#endif
