//===- RandomGraph.cpp - Seeded edits of the canonical graph --------------===//
#include "Support/RandomGraph.h"
#include "Support/SplitMix.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <optional>

using namespace llvm;

namespace ckjit::test {
namespace {

/// A value that a node may read: an output of an earlier node, or IN.
struct Source {
  InputRef ref;
  ValueKind kind;
};

/// What a node gives if its inputs are sound; `first` is the kind of its first input.
ValueKind resultKind(const CKIRNode &node, ValueKind first) {
  switch (node.op) {
  case NodeOp::LinearQKV: return ValueKind::QKV;
  case NodeOp::Linear: return node.id.node == 5 ? ValueKind::FC1 : ValueKind::Hidden;
  case NodeOp::Split: return ValueKind::Half;
  case NodeOp::Add:
  case NodeOp::SwiGLU: return first;
  default: return ValueKind::Hidden;
  }
}

std::optional<ValueKind> kindOf(ArrayRef<Source> sources, const InputRef &ref) {
  if (ref.isLayerInput())
    return ValueKind::Hidden;
  for (const Source &source : sources)
    if (source.ref == ref)
      return source.kind;
  return std::nullopt;
}

/// Everything defined before node `index`, IN of that node's layer first.
std::vector<Source> sourcesBefore(const CKIRGraph &graph, size_t index, uint16_t layer) {
  std::vector<Source> sources{{{{layer, kLayerInput}, 0}, ValueKind::Hidden}};
  for (const CKIRNode &node : ArrayRef(graph.nodes).take_front(index)) {
    ValueKind first = ValueKind::Hidden;
    if (!node.inputs.empty())
      first = kindOf(sources, node.inputs[0]).value_or(ValueKind::Hidden);
    for (uint8_t out = 0; out < node.numOutputs; ++out)
      sources.push_back({{node.id, out}, resultKind(node, first)});
  }
  return sources;
}

using Kinds = SmallVector<ValueKind, 4>;

bool weightsBind(const CKIRNode &node) {
  const uint16_t n = node.id.node;
  switch (node.op) {
  case NodeOp::RMSNorm: return n == 0 || n == 4;
  case NodeOp::LinearQKV: return n == 1;
  case NodeOp::Attention: return n == 2;
  case NodeOp::Linear: return n == 5 || n == 8;
  default: return n != kLayerInput;
  }
}

bool operandsFit(const CKIRNode &node, const Kinds &kinds) {
  const auto only = [&](ValueKind kind) { return kinds.size() == 1 && kinds[0] == kind; };
  switch (node.op) {
  case NodeOp::RMSNorm:
  case NodeOp::LinearQKV: return only(ValueKind::Hidden);
  case NodeOp::Attention: return only(ValueKind::QKV);
  case NodeOp::Linear: return only(node.id.node == 5 ? ValueKind::Hidden : ValueKind::Half);
  case NodeOp::Split: return only(ValueKind::FC1);
  case NodeOp::Add:
  case NodeOp::SwiGLU: return kinds.size() == 2 && kinds[0] == kinds[1] && kinds[0] != ValueKind::QKV;
  default: return false;
  }
}

bool nodeFits(const CKIRGraph &graph, size_t index) {
  const CKIRNode &node = graph.nodes[index];
  const std::vector<Source> sources = sourcesBefore(graph, index, node.id.layer);
  Kinds kinds;
  for (const InputRef &ref : node.inputs) {
    std::optional<ValueKind> kind = kindOf(sources, ref);
    if (!kind)
      return false;
    kinds.push_back(*kind);
  }
  return node.numOutputs == (node.op == NodeOp::Split ? 2 : 1) && weightsBind(node) && operandsFit(node, kinds);
}

/// Kind of output 0 of the node at `index`.
ValueKind kindAt(const CKIRGraph &graph, size_t index) {
  const CKIRNode &node = graph.nodes[index];
  for (const Source &source : sourcesBefore(graph, index + 1, node.id.layer))
    if (source.ref == InputRef{node.id, 0})
      return source.kind;
  return ValueKind::QKV;
}

bool layersFit(const CKIRGraph &graph) {
  int64_t layer = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].id.layer != layer)
      return false;
    const bool last = i + 1 == graph.nodes.size() || graph.nodes[i + 1].id.layer != layer;
    if (last && kindAt(graph, i) != ValueKind::Hidden)
      return false;
    layer += last;
  }
  return layer == std::max<int64_t>(graph.config.numLayers, 1);
}

/// First node of the layer and one past its last.
std::pair<size_t, size_t> layerRange(const CKIRGraph &graph, uint16_t layer) {
  const auto inLayer = [&](const CKIRNode &node) { return node.id.layer == layer; };
  const auto first = find_if(graph.nodes, inLayer);
  const auto last = std::find_if_not(first, graph.nodes.end(), inLayer);
  return {static_cast<size_t>(first - graph.nodes.begin()), static_cast<size_t>(last - graph.nodes.begin())};
}

/// One seeded change after another to a graph.
class Editor {
public:
  Editor(CKIRGraph &graph, SplitMix &rng) : graph(graph), rng(rng) {}

  /// Makes one edit; a graph without nodes stays as it is. Spoiling edits only with `spoil`.
  void edit(bool spoil);

private:
  size_t pickNode() { return rng.below(graph.nodes.size()); }
  uint16_t pickLayer() { return graph.nodes[pickNode()].id.layer; }
  Source pickSource(size_t index, uint16_t layer, std::optional<ValueKind> kind);
  uint16_t newNumber(uint16_t layer);

  void rewireSlot(size_t index, size_t slot);
  void rewire();
  void rewireReaders(size_t from, ArrayRef<NodeId> gone);
  void drop();
  void dropBlock();
  void move();
  void insert();
  void renumber();
  void spoil();

  CKIRGraph &graph;
  SplitMix &rng;
};

/// A value defined before `index`: of that kind if one is asked for and there is any.
Source Editor::pickSource(size_t index, uint16_t layer, std::optional<ValueKind> kind) {
  std::vector<Source> sources = sourcesBefore(graph, index, layer), fitting;
  copy_if(sources, std::back_inserter(fitting), [&](const Source &s) { return !kind || s.kind == *kind; });
  const std::vector<Source> &from = fitting.empty() ? sources : fitting;
  return from[rng.below(from.size())];
}

uint16_t Editor::newNumber(uint16_t layer) {
  uint16_t number = 10;
  for (const CKIRNode &node : graph.nodes)
    if (node.id.layer == layer)
      number = std::max<uint16_t>(number, node.id.node + 1);
  return number;
}

/// Gives the slot another value, usually of the kind it had.
void Editor::rewireSlot(size_t index, size_t slot) {
  CKIRNode &node = graph.nodes[index];
  std::optional<ValueKind> kind = kindOf(sourcesBefore(graph, graph.nodes.size(), node.id.layer), node.inputs[slot]);
  if (rng.chance(15))
    kind.reset();
  node.inputs[slot] = pickSource(index, node.id.layer, kind).ref;
}

void Editor::rewire() {
  const size_t index = pickNode();
  if (!graph.nodes[index].inputs.empty())
    rewireSlot(index, rng.below(graph.nodes[index].inputs.size()));
}

/// Gives readers of nodes that are about to go another value; the nodes still stand in the graph.
void Editor::rewireReaders(size_t from, ArrayRef<NodeId> gone) {
  const auto leaves = [&](const InputRef &ref) { return is_contained(gone, ref.producer); };
  for (size_t i = from; i < graph.nodes.size(); ++i)
    for (size_t slot = 0; slot < graph.nodes[i].inputs.size(); ++slot)
      for (int attempt = 0; attempt < 8 && leaves(graph.nodes[i].inputs[slot]); ++attempt)
        rewireSlot(i, slot);
}

void Editor::drop() {
  const size_t index = pickNode();
  if (rng.chance(85))
    rewireReaders(index, graph.nodes[index].id);
  graph.nodes.erase(graph.nodes.begin() + static_cast<ptrdiff_t>(index));
}

/// Drops the attention block (nodes 0 to 3) or the MLP (4 to 9) of a layer.
void Editor::dropBlock() {
  const uint16_t layer = pickLayer();
  const bool mlp = rng.chance(50);
  const auto leaves = [&](const CKIRNode &node) {
    return node.id.layer == layer && node.id.node < 10 && (node.id.node >= 4) == mlp;
  };
  SmallVector<NodeId, 8> gone;
  for (const CKIRNode &node : graph.nodes)
    if (leaves(node))
      gone.push_back(node.id);
  rewireReaders(0, gone);
  erase_if(graph.nodes, leaves);
}

/// Moves a node to another place in its layer.
void Editor::move() {
  const size_t from = pickNode();
  const auto [first, last] = layerRange(graph, graph.nodes[from].id.layer);
  const size_t to = first + rng.below(last - first);
  const auto at = [&](size_t i) { return graph.nodes.begin() + static_cast<ptrdiff_t>(i); };
  if (from < to)
    std::rotate(at(from), at(from + 1), at(to + 1));
  else
    std::rotate(at(to), at(from), at(from + 1));
}

/// Adds an ADD or SWIGLU and usually lets a later node read it.
void Editor::insert() {
  const uint16_t layer = pickLayer();
  const auto [first, last] = layerRange(graph, layer);
  const size_t index = first + rng.below(last - first + 1);
  CKIRNode node;
  node.id = {layer, newNumber(layer)};
  node.op = rng.chance(60) ? NodeOp::Add : NodeOp::SwiGLU;
  const Source a = pickSource(index, layer, std::nullopt);
  const Source b = pickSource(index, layer, a.kind);
  node.inputs = {a.ref, b.ref};
  graph.nodes.insert(graph.nodes.begin() + static_cast<ptrdiff_t>(index), node);
  if (index + 1 >= graph.nodes.size() || !rng.chance(75))
    return;
  const size_t reader = index + 1 + rng.below(graph.nodes.size() - index - 1);
  const size_t slots = graph.nodes[reader].inputs.size();
  if (slots)
    graph.nodes[reader].inputs[rng.below(slots)] = {node.id, 0};
}

/// Gives a node another number; its readers follow.
void Editor::renumber() {
  const NodeId old = graph.nodes[pickNode()].id;
  const NodeId fresh{old.layer, rng.chance(70) ? newNumber(old.layer) : static_cast<uint16_t>(rng.below(12))};
  for (CKIRNode &node : graph.nodes) {
    if (node.id == old)
      node.id = fresh;
    for (InputRef &ref : node.inputs)
      if (ref.producer == old)
        ref.producer = fresh;
  }
}

/// Breaks a count, an op or a reference.
void Editor::spoil() {
  CKIRNode &node = graph.nodes[pickNode()];
  switch (rng.below(4)) {
  case 0: node.numOutputs = static_cast<uint8_t>(1 + rng.below(3)); return;
  case 1: node.op = static_cast<NodeOp>(rng.below(14)); return;
  case 2: node.inputs.resize(rng.below(kMaxNodeInputs + 1), InputRef{{node.id.layer, kLayerInput}, 0}); return;
  default: break;
  }
  if (node.inputs.empty())
    return;
  const uint64_t layers = static_cast<uint64_t>(graph.config.numLayers);
  const NodeId producer{static_cast<uint16_t>(rng.below(layers + 1)), static_cast<uint16_t>(rng.below(14))};
  node.inputs[0] = {producer, static_cast<uint8_t>(rng.below(3))};
}

void Editor::edit(bool spoiling) {
  if (graph.nodes.empty())
    return;
  const uint64_t choice = rng.below(spoiling ? 100 : 92);
  if (choice < 18)
    return drop();
  if (choice < 28)
    return dropBlock();
  if (choice < 48)
    return rewire();
  if (choice < 66)
    return move();
  if (choice < 84)
    return insert();
  if (choice < 92)
    return renumber();
  spoil();
}

} // namespace

bool isProgram(const CKIRGraph &graph) {
  std::map<NodeId, int> uses;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (++uses[graph.nodes[i].id] > 1 || !nodeFits(graph, i))
      return false;
  return layersFit(graph);
}

CKIRGraph makeRandomGraph(const ModelConfig &config, uint64_t seed) {
  SplitMix rng(seed);
  rng.next(); // neighbouring seeds start from neighbouring states
  CKIRGraph graph = buildForwardGraph(config);
  const bool careful = rng.chance(35);
  const uint64_t edits = 1 + rng.below(careful ? 6 : 4);
  for (uint64_t i = 0; i < edits; ++i)
    for (int attempt = 0; attempt < 20; ++attempt) {
      CKIRGraph edited = graph;
      Editor(edited, rng).edit(!careful);
      if (careful && !isProgram(edited))
        continue;
      graph = std::move(edited);
      break;
    }
  return graph;
}

} // namespace ckjit::test
