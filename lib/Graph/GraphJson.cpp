//===- GraphJson.cpp - The JSON IR map, out and in ------------------------===//
#include "JsonText.h"
#include "ckjit/Graph/CKIRGraph.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using ckjit::detail::FieldReader;
using ckjit::detail::textError;

namespace ckjit {
namespace {

constexpr int64_t kMaxLayerNumber = 0xFFFF;
/// 0xFFFF stands for IN.
constexpr int64_t kMaxNodeNumber = kLayerInput - 1;
/// A backward node reads one input for each output of its forward node.
constexpr size_t kMaxNodeOutputs = kMaxNodeInputs;

void writeConfig(raw_ostream &os, const ModelConfig &c) {
  os << "  \"config\": {\n"
     << "    \"num_layers\": " << c.numLayers << ",\n"
     << "    \"hidden_size\": " << c.hiddenSize << ",\n"
     << "    \"intermediate_size\": " << c.intermediateSize << ",\n"
     << "    \"num_attention_heads\": " << c.numHeads << ",\n"
     << "    \"num_key_value_heads\": " << c.numKVHeads << ",\n"
     << "    \"vocab_size\": " << c.vocabSize << ",\n"
     << "    \"context_window\": " << c.contextWindow << ",\n"
     << "    \"rms_norm_eps\": " << format("%.9g", double(c.rmsNormEps)) << ",\n"
     << "    \"rope_theta\": " << format("%.9g", double(c.ropeTheta)) << "\n"
     << "  },\n";
}

void writeReference(raw_ostream &os, NodeId id, unsigned slot) {
  os << "\"L" << id.layer << ":N" << id.node << ":" << slot << "\"";
}

void writeNode(raw_ostream &os, const CKIRNode &node) {
  os << "    {\n"
     << "      \"layer\": " << node.id.layer << ",\n"
     << "      \"node\": " << node.id.node << ",\n"
     << "      \"op\": \"" << nodeOpName(node.op) << "\",\n"
     << "      \"outputs\": [";
  for (unsigned out = 0; out < node.numOutputs; ++out) {
    os << (out ? ", " : "");
    writeReference(os, node.id, out);
  }
  os << "],\n      \"inputs\": [";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    os << (i ? ", " : "");
    if (node.inputs[i].isLayerInput())
      os << "\"IN\"";
    else
      writeReference(os, node.inputs[i].producer, node.inputs[i].outIndex);
  }
  os << "]\n    }";
}

Expected<ModelConfig> readConfig(const json::Object &map, StringRef where) {
  const json::Value *value = map.get("config");
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return textError(where + ": config is " + (value ? detail::describe(*value) : "missing") +
                     ", expected an object");
  std::string place = (where + ": config").str();
  FieldReader reader(*object, place);
  ModelConfig c;
  c.numLayers = reader.positive({"num_layers"});
  c.hiddenSize = reader.positive({"hidden_size"});
  c.intermediateSize = reader.positive({"intermediate_size"});
  c.numHeads = reader.positive({"num_attention_heads"});
  c.numKVHeads = reader.positiveOr({"num_key_value_heads"}, c.numHeads);
  c.vocabSize = reader.positiveOr({"vocab_size"}, 1);
  c.contextWindow = reader.positiveOr({"context_window"}, 1);
  c.rmsNormEps = reader.positiveRealOr({"rms_norm_eps"}, 1e-5f);
  c.ropeTheta = reader.positiveRealOr({"rope_theta"}, 0.0f);
  if (Error e = reader.takeError())
    return e;
  if (Error e = validateConfig(c, place))
    return e;
  return c;
}

std::optional<NodeOp> opFromName(StringRef name) {
  for (int i = 0; i <= static_cast<int>(NodeOp::SwiGLUBwd); ++i)
    if (nodeOpName(static_cast<NodeOp>(i)) == name)
      return static_cast<NodeOp>(i);
  return std::nullopt;
}

/// "L<layer>:N<node>:<slot>" in full, each number in its range.
std::optional<InputRef> referenceFromText(StringRef text) {
  unsigned layer = 0, node = 0, slot = 0;
  if (!text.consume_front("L") || text.consumeInteger(10, layer) || layer > kMaxLayerNumber ||
      !text.consume_front(":N") || text.consumeInteger(10, node) || node > kMaxNodeNumber ||
      !text.consume_front(":") || text.consumeInteger(10, slot) || slot > 0xFF || !text.empty())
    return std::nullopt;
  return InputRef{{static_cast<uint16_t>(layer), static_cast<uint16_t>(node)}, static_cast<uint8_t>(slot)};
}

/// Reads one element of "nodes"; `where` is its place ("ir.json: nodes[5]").
class NodeReader {
public:
  NodeReader(const json::Object &object, std::string where) : object(object), where(std::move(where)) {}

  Expected<CKIRNode> read() {
    FieldReader reader(object, where);
    node.id.layer = static_cast<uint16_t>(reader.inRange("layer", kMaxLayerNumber));
    node.id.node = static_cast<uint16_t>(reader.inRange("node", kMaxNodeNumber));
    if (Error e = reader.takeError())
      return e;
    if (Error e = readOp())
      return e;
    if (Error e = readOutputs())
      return e;
    if (Error e = readInputs())
      return e;
    return std::move(node);
  }

private:
  Error fail(const Twine &field, const json::Value *found, const Twine &expected) {
    return textError(where + ": " + field + " is " + (found ? detail::describe(*found) : "missing") +
                     ", expected " + expected);
  }

  Error readOp() {
    const json::Value *value = object.get("op");
    std::optional<StringRef> name = value ? value->getAsString() : std::nullopt;
    if (std::optional<NodeOp> op = name ? opFromName(*name) : std::nullopt) {
      node.op = *op;
      return Error::success();
    }
    return fail("op", value, "one of RMSNORM, LINEAR_QKV, ATTENTION, ADD, LINEAR, SPLIT, SWIGLU, or one of them with _BWD");
  }

  /// The array `key` with at most `most` elements.
  Expected<const json::Array *> readArray(StringRef key, size_t most) {
    const json::Value *value = object.get(key);
    const json::Array *array = value ? value->getAsArray() : nullptr;
    if (!array)
      return fail(key, value, "an array of strings");
    if (array->size() > most)
      return textError(where + ": " + key + " has " + Twine(array->size()) + " elements, expected at most " +
                       Twine(most));
    return array;
  }

  /// Outputs follow from the node's id, so the text may only say the same.
  Error readOutputs() {
    Expected<const json::Array *> array = readArray("outputs", kMaxNodeOutputs);
    if (!array)
      return array.takeError();
    for (size_t i = 0; i < (*array)->size(); ++i) {
      const json::Value &value = (**array)[i];
      InputRef own{node.id, static_cast<uint8_t>(i)};
      if (!value.getAsString() || referenceFromText(*value.getAsString()) != own)
        return fail("outputs[" + Twine(i) + "]", &value,
                    "\"L" + Twine(node.id.layer) + ":N" + Twine(node.id.node) + ":" + Twine(i) + "\"");
    }
    node.numOutputs = static_cast<uint8_t>((*array)->size());
    return Error::success();
  }

  Error readInputs() {
    Expected<const json::Array *> array = readArray("inputs", kMaxNodeInputs);
    if (!array)
      return array.takeError();
    for (size_t i = 0; i < (*array)->size(); ++i) {
      const json::Value &value = (**array)[i];
      std::optional<StringRef> text = value.getAsString();
      std::optional<InputRef> input;
      if (text == StringRef("IN"))
        input = InputRef{{node.id.layer, kLayerInput}, 0};
      else if (text)
        input = referenceFromText(*text);
      if (!input)
        return fail("inputs[" + Twine(i) + "]", &value, "\"IN\" or \"L<layer>:N<node>:<output>\"");
      node.inputs.push_back(*input);
    }
    return Error::success();
  }

  const json::Object &object;
  std::string where;
  CKIRNode node;
};

} // namespace

std::string writeGraphJson(const CKIRGraph &graph) {
  std::string text;
  raw_string_ostream os(text);
  os << "{\n";
  writeConfig(os, graph.config);
  os << "  \"nodes\": [\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    writeNode(os, graph.nodes[i]);
    os << (i + 1 < graph.nodes.size() ? ",\n" : "\n");
  }
  os << "  ]\n}\n";
  return text;
}

Expected<CKIRGraph> parseGraphJson(StringRef json, StringRef where) {
  Expected<json::Object> map = detail::parseJsonObject(json, where);
  if (!map)
    return map.takeError();
  Expected<ModelConfig> config = readConfig(*map, where);
  if (!config)
    return config.takeError();
  const json::Value *nodes = map->get("nodes");
  const json::Array *array = nodes ? nodes->getAsArray() : nullptr;
  if (!array || array->empty())
    return textError(where + ": nodes is " +
                     (array ? "an empty array" : nodes ? detail::describe(*nodes) : "missing") +
                     ", expected an array of at least one node");
  CKIRGraph graph{*config, {}};
  graph.nodes.reserve(array->size());
  for (size_t i = 0; i < array->size(); ++i) {
    std::string place = (where + ": nodes[" + Twine(i) + "]").str();
    const json::Object *object = (*array)[i].getAsObject();
    if (!object)
      return textError(place + " is " + detail::describe((*array)[i]) + ", expected an object");
    Expected<CKIRNode> node = NodeReader(*object, place).read();
    if (!node)
      return node.takeError();
    graph.nodes.push_back(std::move(*node));
  }
  return graph;
}

Expected<CKIRGraph> loadGraphJson(StringRef path) {
  Expected<std::string> text = detail::readJsonFile(path);
  if (!text)
    return text.takeError();
  return parseGraphJson(*text, path);
}

} // namespace ckjit
