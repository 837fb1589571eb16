//===- GraphValidate.cpp - Is this graph a program? -----------------------===//
#include "JsonText.h"
#include "ckjit/Graph/CKIRGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using ckjit::detail::textError;

namespace ckjit {
namespace {

std::string nodeText(const CKIRNode &node) {
  return ("L" + Twine(node.id.layer) + ":N" + Twine(node.id.node) + " " + nodeOpName(node.op)).str();
}

std::string referenceText(const InputRef &ref) {
  return ("L" + Twine(ref.producer.layer) + ":N" + Twine(ref.producer.node) + ":" + Twine(unsigned(ref.outIndex))).str();
}

StringRef kindText(ValueKind kind) {
  switch (kind) {
  case ValueKind::Hidden:
    return "hidden (D wide)";
  case ValueKind::Half:
    return "half (I wide)";
  case ValueKind::FC1:
    return "gate and up (2*I wide)";
  case ValueKind::QKV:
    return "q, k and v";
  }
  return "";
}

/// How many values an op reads, and the node numbers in a layer that hold its weights (none: any number).
struct OpRule {
  size_t inputs;
  unsigned outputs;
  SmallVector<uint16_t, 2> numbers;
};

OpRule ruleOf(NodeOp op) {
  switch (op) {
  case NodeOp::RMSNorm:
    return {1, 1, {0, 4}};
  case NodeOp::LinearQKV:
    return {1, 1, {1}};
  case NodeOp::Attention:
    return {1, 1, {2}};
  case NodeOp::Linear:
    return {1, 1, {5, 8}};
  case NodeOp::Split:
    return {1, 2, {}};
  default:
    return {2, 1, {}};
  }
}

class Validator {
public:
  Validator(const CKIRGraph &graph, StringRef where) : graph(graph), where(where) {}

  Expected<std::vector<ValueKind>> run() {
    if (Error e = validateConfig(graph.config, where))
      return e;
    if (graph.nodes.empty())
      return textError(where + ": the graph has no nodes, expected at least one a layer");
    kinds.reserve(graph.nodes.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (Error e = checkNode(i))
        return e;
    if (Error e = checkLayerEnd(graph.nodes.size()))
      return e;
    if (int64_t layers = graph.nodes.back().id.layer + 1; layers != graph.config.numLayers)
      return textError(where + ": the graph's nodes fill " + Twine(layers) + " layers, expected " +
                       Twine(graph.config.numLayers) + " as its config says");
    return std::move(kinds);
  }

private:
  Error fail(const CKIRNode &node, const Twine &message) {
    return textError(where + ": " + nodeText(node) + ": " + message);
  }

  Error checkNode(size_t index) {
    const CKIRNode &node = graph.nodes[index];
    if (isBackward(node.op))
      return fail(node, "is a backward op, expected forward ops only (the backward program is derived from them)");
    if (Error e = checkLayerOrder(index))
      return e;
    if (node.id.node == kLayerInput)
      return fail(node, "has node number 65535, which stands for IN; expected at most 65534");
    if (Error e = checkShape(node))
      return e;
    SmallVector<ValueKind, 4> operands;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Expected<ValueKind> kind = operandKind(node, i);
      if (!kind)
        return kind.takeError();
      operands.push_back(*kind);
    }
    Expected<ValueKind> result = resultKind(node, operands);
    if (!result)
      return result.takeError();
    if (!indexOf.try_emplace(key(node.id), index).second)
      return fail(node, "its id is that of an earlier node (" + nodeText(graph.nodes[indexOf[key(node.id)]]) +
                            "), expected ids to differ");
    kinds.push_back(*result);
    return Error::success();
  }

  /// Layers ascend by one from 0; a finished layer must end with what the next one reads.
  Error checkLayerOrder(size_t index) {
    const CKIRNode &node = graph.nodes[index];
    if (index == 0)
      return node.id.layer == 0 ? Error::success() : fail(node, "is the first node, expected it in layer 0");
    unsigned previous = graph.nodes[index - 1].id.layer;
    if (node.id.layer == previous)
      return Error::success();
    if (node.id.layer != previous + 1)
      return fail(node, "follows a node of layer " + Twine(previous) + ", expected layer " + Twine(previous) +
                            " or " + Twine(previous + 1));
    return checkLayerEnd(index);
  }

  Error checkLayerEnd(size_t end) {
    const CKIRNode &last = graph.nodes[end - 1];
    if (kinds[end - 1] == ValueKind::Hidden)
      return Error::success();
    return fail(last, "ends its layer with " + kindText(kinds[end - 1]) + ", expected " + kindText(ValueKind::Hidden));
  }

  Error checkShape(const CKIRNode &node) {
    OpRule rule = ruleOf(node.op);
    if (node.inputs.size() != rule.inputs)
      return fail(node, "has " + Twine(node.inputs.size()) + " inputs, expected " + Twine(rule.inputs));
    if (node.numOutputs != rule.outputs)
      return fail(node, "has " + Twine(unsigned(node.numOutputs)) + " outputs, expected " + Twine(rule.outputs));
    if (rule.numbers.empty() || is_contained(rule.numbers, node.id.node))
      return Error::success();
    std::string numbers = std::to_string(rule.numbers.front());
    if (rule.numbers.size() > 1)
      numbers += " or " + std::to_string(rule.numbers.back());
    return fail(node, "has node number " + Twine(node.id.node) + ", expected " + numbers +
                          " (the number binds the op's weights)");
  }

  /// What input `i` of `node` carries; its producer must stand earlier.
  Expected<ValueKind> operandKind(const CKIRNode &node, size_t i) {
    const InputRef &ref = node.inputs[i];
    if (ref.isLayerInput()) {
      if (ref.producer.layer == node.id.layer && ref.outIndex == 0)
        return ValueKind::Hidden;
      return fail(node, "input " + Twine(i) + " is IN of layer " + Twine(ref.producer.layer) + ", output " +
                            Twine(unsigned(ref.outIndex)) + ", expected IN of its own layer, output 0");
    }
    auto found = indexOf.find(key(ref.producer));
    if (found == indexOf.end())
      return fail(node, "input " + Twine(i) + " is " + referenceText(ref) +
                            ", which no earlier node gives; expected IN or an output of a node before it");
    const CKIRNode &producer = graph.nodes[found->second];
    if (ref.outIndex >= producer.numOutputs)
      return fail(node, "input " + Twine(i) + " is " + referenceText(ref) + ", expected an output below " +
                            Twine(unsigned(producer.numOutputs)) + " of " + nodeText(producer));
    return kinds[found->second];
  }

  Expected<ValueKind> unary(const CKIRNode &node, ValueKind found, ValueKind expected, ValueKind result) {
    if (found == expected)
      return result;
    return fail(node, "input 0 is " + kindText(found) + ", expected " + kindText(expected));
  }

  Expected<ValueKind> resultKind(const CKIRNode &node, ArrayRef<ValueKind> operands) {
    using enum ValueKind;
    switch (node.op) {
    case NodeOp::RMSNorm:
      return unary(node, operands[0], Hidden, Hidden);
    case NodeOp::LinearQKV:
      return unary(node, operands[0], Hidden, QKV);
    case NodeOp::Attention:
      return unary(node, operands[0], QKV, Hidden);
    case NodeOp::Split:
      return unary(node, operands[0], FC1, Half);
    case NodeOp::Linear:
      return node.id.node == 5 ? unary(node, operands[0], Hidden, FC1) : unary(node, operands[0], Half, Hidden);
    default:
      break;
    }
    if (operands[0] == QKV || operands[1] == QKV)
      return fail(node, "reads " + kindText(QKV) + ", which only ATTENTION can; expected hidden, half, or gate and up");
    if (operands[0] != operands[1])
      return fail(node, "input 0 is " + kindText(operands[0]) + " and input 1 is " + kindText(operands[1]) +
                            ", expected two of one kind");
    return operands[0];
  }

  /// 64 bits wide, as DenseMap keeps the two largest keys of a type for itself.
  static uint64_t key(NodeId id) { return uint64_t(id.layer) << 16 | id.node; }

  const CKIRGraph &graph;
  StringRef where;
  std::vector<ValueKind> kinds;
  DenseMap<uint64_t, size_t> indexOf;
};

} // namespace

Expected<std::vector<ValueKind>> validateGraph(const CKIRGraph &graph, StringRef where) {
  return Validator(graph, where).run();
}

} // namespace ckjit
