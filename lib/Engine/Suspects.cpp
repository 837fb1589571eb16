//===- Suspects.cpp - Which ops a wrong result may come from --------------===//
#include "Suspects.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace ckjit;

static NodeId idOf(const ReferenceValue &value) {
  return {static_cast<uint16_t>(value.layer), static_cast<uint16_t>(value.node)};
}

static std::string label(StringRef name, int layer) {
  return layer < 0 ? name.str() : (name + " of layer " + Twine(layer)).str();
}

static void add(std::vector<std::string> &names, const std::string &name) {
  if (!is_contained(names, name))
    names.push_back(name);
}

/// What a node without a slot does, in the words of ReferenceValue::op. Only these ops can stand anywhere.
static const char *opOf(const CKIRNode &node) {
  switch (node.op) {
  case NodeOp::Add: return "residual_add";
  case NodeOp::Split: return "split";
  case NodeOp::SwiGLU: return "swiglu";
  default: return "linear";
  }
}

void Suspects::compared(const ReferenceValue &value) {
  if (value.node < 0)
    return;
  // q, k and v are results side by side; otherwise what a node gave before (rstd, attn_out) is on the way to the last.
  std::vector<std::string> &names = slots[idOf(value)];
  if (value.name != "k" && value.name != "v")
    names.clear();
  names.push_back(value.name);
}

const CKIRNode *Suspects::find(NodeId id) const {
  auto found = find_if(graph.nodes, [&](const CKIRNode &node) { return node.id == id; });
  return found == graph.nodes.end() ? nullptr : &*found;
}

void Suspects::traceLayerInput(int layer) {
  if (layer == 0) {
    add(behind, "embedded_input");
    return;
  }
  auto isBefore = [&](const CKIRNode &node) { return node.id.layer == layer - 1; };
  for (const CKIRNode &node : make_range(graph.nodes.rbegin(), graph.nodes.rend()))
    if (isBefore(node))
      return traceNode(node.id);
}

void Suspects::traceInputs(const CKIRNode &node) {
  for (const InputRef &input : node.inputs)
    input.isLayerInput() ? traceLayerInput(node.id.layer) : traceNode(input.producer);
}

void Suspects::traceNode(NodeId id) {
  auto seen = slots.find(id);
  const CKIRNode *node = find(id);
  if (seen != slots.end())
    for (const std::string &name : seen->second)
      add(behind, label(name, id.layer));
  else if (node && visited.insert(id).second) {
    traceInputs(*node);
    add(ops, opOf(*node));
  }
}

void Suspects::trace(const ReferenceValue &value) {
  const CKIRNode *node = value.node < 0 ? nullptr : find(idOf(value));
  if (value.name == "logits")
    add(behind, "final_output");
  else if (value.name == "loss")
    add(behind, "logits");
  else if (value.op == "rmsnorm" && value.layer < 0)
    traceLayerInput(static_cast<int>(graph.config.numLayers));
  else if (value.name == "proj_tmp")
    add(behind, label("attn_out", value.layer));
  else if (node)
    traceInputs(*node);
  if (value.op == "rope") {
    // Heads are rotated where they are computed, by tables that are packed before.
    add(ops, "pack");
    add(ops, "qkv_project");
  }
  add(ops, value.op);
}
