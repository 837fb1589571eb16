//===- Import.cpp - From a CKIRGraph to a ck program ----------------------===//
#include "ckjit/Import/Import.h"
#include "ckjit/Dialect/CK/CKDialect.h"
#include "mlir/IR/Builders.h"
#include <map>

using namespace mlir;
using namespace ckjit;
using namespace ckjit::ck;

namespace {
/// Makes the program of one graph, op by op in execution order.
class Importer {
public:
  Importer(MLIRContext &context, const CKIRGraph &graph, ArrayRef<ValueKind> kinds, const WeightTypes &types)
      : builder(&context), graph(graph), config(graph.config), kinds(kinds), types(types), loc(builder.getUnknownLoc()) {
    for (auto [spec, type] : llvm::zip(weightTensors(config, types), types))
      typeOf[{spec.name, spec.layer}] = type;
  }

  OwningOpRef<ModuleOp> import(bool decode);

private:
  void importProgram(ModuleOp module, StringRef name, int64_t maxTokens);
  Value buffer(Space space, StringRef name, int layer, ArrayRef<int64_t> shape, Type element = {});
  DType weightType(StringRef name, int layer) const {
    auto found = typeOf.find({name.str(), layer});
    return found == typeOf.end() ? DType::FP32 : found->second;
  }
  /// A weight of `shape` in weights.
  Value weight(StringRef name, int layer, ArrayRef<int64_t> shape);
  Value scratch(StringRef name, int layer, int64_t features) {
    return buffer(Space::Scratch, name, layer, {maxTokens, features});
  }
  int64_t widthOf(ValueKind kind) const;
  Value embed();
  void finish(Value hidden, bool withLoss);
  Value norm(Value x, Value gamma, Value out);
  void importNode(const CKIRNode &node, ValueKind kind);
  void importQKV(const CKIRNode &node);
  void project(const CKIRNode &node, StringRef letter, int64_t heads, Value out, bool rotate);
  Value importAttention(const CKIRNode &node);
  Value importLinear(const CKIRNode &node, ValueKind kind);
  Value operand(const CKIRNode &node, size_t index);
  std::string slotName(const CKIRNode &node, unsigned output) const;
  FloatAttr f32(float value) { return builder.getF32FloatAttr(value); }

  OpBuilder builder;
  const CKIRGraph &graph;
  const ModelConfig &config;
  ArrayRef<ValueKind> kinds;
  const WeightTypes &types;
  std::map<std::pair<std::string, int>, DType> typeOf;
  Location loc;
  int64_t maxTokens = 0; ///< rows of the program's activations
  Value layerInput;
  Operation *lastBuffer = nullptr; ///< buffers stand together at the top
  std::map<std::tuple<int, int, int>, Value> values; ///< (layer, node, output); QKV: outputs 0, 1, 2 are q, k, v
  std::map<std::pair<std::string, int>, Value> buffers;
};
} // namespace

Value Importer::buffer(Space space, StringRef name, int layer, ArrayRef<int64_t> shape, Type element) {
  auto [place, isNew] = buffers.try_emplace({name.str(), layer});
  if (!isNew)
    return place->second;
  OpBuilder::InsertionGuard guard(builder);
  if (lastBuffer)
    builder.setInsertionPointAfter(lastBuffer);
  else
    builder.setInsertionPointToStart(builder.getInsertionBlock());
  auto type = MemRefType::get(shape, element ? element : builder.getF32Type());
  auto op = BufferOp::create(builder, loc, type, space, builder.getStringAttr(name),
                             layer < 0 ? IntegerAttr() : builder.getI64IntegerAttr(layer), IntegerAttr());
  lastBuffer = op;
  return place->second = op.getResult();
}

Value Importer::weight(StringRef name, int layer, ArrayRef<int64_t> shape) {
  const WeightFormat &format = formatOf(weightType(name, layer));
  Type element = builder.getF32Type();
  SmallVector<int64_t> stored(shape);
  if (format.type == DType::BF16)
    element = builder.getBF16Type();
  else if (format.type == DType::FP16)
    element = builder.getF16Type();
  else if (format.isQuantized()) {
    element = BlockType::get(builder.getContext(), static_cast<Format>(format.type));
    stored.back() /= format.elements;
  }
  return buffer(Space::Weight, name, layer, stored, element);
}

int64_t Importer::widthOf(ValueKind kind) const {
  switch (kind) {
  case ValueKind::Hidden: return config.hiddenSize;
  case ValueKind::Half: return config.intermediateSize;
  case ValueKind::FC1: return 2 * config.intermediateSize;
  case ValueKind::QKV: return config.numHeads * config.headDim();
  }
  llvm_unreachable("every kind has a width");
}

/// The seed's name of a node's output, or "n<node>.<output>" elsewhere than in the canonical graph.
std::string Importer::slotName(const CKIRNode &node, unsigned output) const {
  static const std::map<std::pair<int, NodeOp>, const char *> names = {
      {{0, NodeOp::RMSNorm}, "ln1_out"}, {{2, NodeOp::Attention}, "proj_tmp"}, {{3, NodeOp::Add}, "residual1"},
      {{4, NodeOp::RMSNorm}, "ln2_out"}, {{5, NodeOp::Linear}, "fc1_out"},     {{7, NodeOp::SwiGLU}, "swiglu_out"},
      {{8, NodeOp::Linear}, "mlp_out"},  {{9, NodeOp::Add}, "output"}};
  auto found = names.find({node.id.node, node.op});
  bool fits = found != names.end();
  if (fits && node.op == NodeOp::Add)
    fits = kinds[&node - graph.nodes.data()] == ValueKind::Hidden;
  if (fits && node.op == NodeOp::SwiGLU)
    fits = kinds[&node - graph.nodes.data()] == ValueKind::Half;
  if (fits)
    return found->second;
  return ("n" + Twine(node.id.node) + "." + Twine(output)).str();
}

Value Importer::operand(const CKIRNode &node, size_t index) {
  const InputRef &ref = node.inputs[index];
  if (ref.isLayerInput())
    return layerInput;
  return values.at({ref.producer.layer, ref.producer.node, ref.outIndex});
}

Value Importer::norm(Value x, Value gamma, Value out) {
  RMSNormOp::create(builder, loc, x, gamma, out, /*rstd=*/Value(), f32(config.rmsNormEps),
                    builder.getI64IntegerAttr(config.hiddenSize));
  return out;
}

Value Importer::embed() {
  Value ids = buffer(Space::Extra, "tokens", -1, {config.contextWindow}, builder.getI32Type());
  Value table = weight("token_emb", -1, {config.vocabSize, config.alignedHidden()});
  Value positions;
  if (config.ropeTheta <= 0)
    positions = weight("pos_emb", -1, {config.contextWindow, config.alignedHidden()});
  Value out = scratch("embedded_input", -1, config.hiddenSize);
  EmbedOp::create(builder, loc, ids, table, positions, out);
  return out;
}

void Importer::project(const CKIRNode &node, StringRef letter, int64_t heads, Value out, bool rotate) {
  int layer = node.id.layer;
  int64_t headDim = config.headDim();
  Value matrix = weight(("w" + letter).str(), layer, {heads, config.alignedHead(), config.alignedHidden()});
  Value bias = weight(("b" + letter).str(), layer, {heads, config.alignedHead()});
  UnitAttr headMajor = letter == "q" ? UnitAttr() : builder.getUnitAttr();
  LinearOp::create(builder, loc, operand(node, 0), matrix, bias, Value(), Value(), Value(), out, headMajor,
                   builder.getI64IntegerAttr(headDim), builder.getI64IntegerAttr(config.hiddenSize), TileAttr());
  if (!rotate)
    return;
  Value cos = buffer(Space::Slot, "rope_cos_cache", -1, {config.contextWindow, headDim / 2});
  Value sin = buffer(Space::Slot, "rope_sin_cache", -1, {config.contextWindow, headDim / 2});
  RopeOp::create(builder, loc, out, cos, sin, headMajor, builder.getI64IntegerAttr(headDim));
}

void Importer::importQKV(const CKIRNode &node) {
  int layer = node.id.layer;
  int64_t kvHeads = config.numKVHeads;
  bool rotate = config.ropeTheta > 0;
  SmallVector<int64_t> cache = {kvHeads, config.contextWindow, config.alignedHead()};
  Value q = scratch("q", layer, config.numHeads * config.headDim());
  Value k = buffer(Space::Slot, "k", layer, cache), v = buffer(Space::Slot, "v", layer, cache);
  project(node, "q", config.numHeads, q, rotate);
  project(node, "k", kvHeads, k, rotate);
  project(node, "v", kvHeads, v, false);
  values[{layer, node.id.node, 0}] = q;
  values[{layer, node.id.node, 1}] = k;
  values[{layer, node.id.node, 2}] = v;
}

Value Importer::importAttention(const CKIRNode &node) {
  int layer = node.id.layer;
  const NodeId &producer = node.inputs[0].producer;
  auto part = [&](int index) { return values.at({producer.layer, producer.node, index}); };
  int64_t heads = config.numHeads, headDim = config.headDim();
  Value attended = scratch("attn_out", layer, heads * headDim);
  AttentionOp::create(builder, loc, part(0), part(1), part(2), attended, builder.getI64IntegerAttr(heads),
                      builder.getI64IntegerAttr(headDim), TileAttr());
  SmallVector<int64_t> shape{heads, config.alignedHidden(), config.alignedHead()};
  if (formatOf(weightType("wo", layer)).isQuantized())
    shape = {config.alignedHidden(), heads * config.alignedHead()};
  Value matrix = weight("wo", layer, shape);
  Value bias = weight("bo", layer, {config.alignedHidden()});
  Value out = scratch(slotName(node, 0), layer, config.hiddenSize);
  AttnProjectOp::create(builder, loc, attended, matrix, bias, Value(), out,
                        builder.getI64IntegerAttr(config.hiddenSize), builder.getI64IntegerAttr(headDim), TileAttr());
  return out;
}

Value Importer::importLinear(const CKIRNode &node, ValueKind kind) {
  int layer = node.id.layer;
  bool first = node.id.node == 5;
  int64_t hidden = config.alignedHidden(), inner = config.alignedIntermediate();
  Value matrix = first ? weight("w1", layer, {2, inner, hidden}) : weight("w2", layer, {hidden, inner});
  Value bias = first ? weight("b1", layer, {2, inner}) : weight("b2", layer, {hidden});
  Value out = scratch(slotName(node, 0), layer, widthOf(kind));
  LinearOp::create(builder, loc, operand(node, 0), matrix, bias, Value(), Value(), Value(), out, UnitAttr(),
                   builder.getI64IntegerAttr(first ? config.intermediateSize : config.hiddenSize),
                   builder.getI64IntegerAttr(first ? config.hiddenSize : config.intermediateSize), TileAttr());
  return out;
}

void Importer::importNode(const CKIRNode &node, ValueKind kind) {
  int layer = node.id.layer;
  auto result = [&](unsigned output) { return scratch(slotName(node, output), layer, widthOf(kind)); };
  auto define = [&](unsigned output, Value value) { values[{layer, node.id.node, output}] = value; };
  switch (node.op) {
  case NodeOp::RMSNorm: {
    Value gamma = weight(node.id.node == 0 ? "ln1_gamma" : "ln2_gamma", layer, {config.alignedHidden()});
    return define(0, norm(operand(node, 0), gamma, result(0)));
  }
  case NodeOp::LinearQKV: return importQKV(node);
  case NodeOp::Attention: return define(0, importAttention(node));
  case NodeOp::Linear: return define(0, importLinear(node, kind));
  case NodeOp::Add:
    define(0, result(0));
    AddOp::create(builder, loc, operand(node, 0), operand(node, 1), values[{layer, node.id.node, 0}]);
    return;
  case NodeOp::SwiGLU:
    define(0, result(0));
    SwiGLUOp::create(builder, loc, operand(node, 0), operand(node, 1), values[{layer, node.id.node, 0}]);
    return;
  case NodeOp::Split:
    define(0, result(0));
    define(1, result(1));
    SplitOp::create(builder, loc, operand(node, 0), values[{layer, node.id.node, 0}],
                    values[{layer, node.id.node, 1}]);
    return;
  default: llvm_unreachable("validateGraph refuses backward ops");
  }
}

void Importer::finish(Value hidden, bool withLoss) {
  Value gamma = weight("final_ln_weight", -1, {config.alignedHidden()});
  Value normed = norm(hidden, gamma, scratch("final_output", -1, config.hiddenSize));
  Value table = weight("token_emb", -1, {config.vocabSize, config.alignedHidden()});
  Value logits = buffer(Space::Slot, "logits", -1, {config.contextWindow, config.vocabSize});
  LMHeadOp::create(builder, loc, normed, table, logits, builder.getI64IntegerAttr(config.hiddenSize), TileAttr());
  if (!withLoss)
    return;
  Value targets = buffer(Space::Extra, "targets", -1, {config.contextWindow}, builder.getI32Type());
  Value loss = buffer(Space::Extra, "loss", -1, {config.contextWindow});
  CrossEntropyOp::create(builder, loc, logits, targets, loss);
}

OwningOpRef<ModuleOp> Importer::import(bool decode) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  (*module)->setAttr(kModelAttr, ModelAttr::get(builder.getContext(), config.numLayers, config.hiddenSize,
                                                config.intermediateSize, config.numHeads, config.numKVHeads,
                                                config.vocabSize, config.contextWindow, f32(config.rmsNormEps),
                                                f32(config.ropeTheta)));
  if (!types.empty()) {
    SmallVector<int8_t> codes;
    for (DType type : types)
      codes.push_back(static_cast<int8_t>(type));
    (*module)->setAttr(kWeightsAttr, builder.getDenseI8ArrayAttr(codes));
  }
  importProgram(*module, kPrefillName, config.contextWindow);
  if (decode)
    importProgram(*module, kDecodeName, std::min(maxTokensInRows(types), config.contextWindow));
  return module;
}

void Importer::importProgram(ModuleOp module, StringRef name, int64_t tokens) {
  maxTokens = tokens;
  buffers.clear();
  values.clear();
  lastBuffer = nullptr;
  builder.setInsertionPointToEnd(module.getBody());
  auto program = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  bool rows = name == kDecodeName;
  if (rows)
    program->setAttr(kRowsAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(program.addEntryBlock());
  layerInput = embed();
  for (size_t index = 0; index < graph.nodes.size(); ++index) {
    const CKIRNode &node = graph.nodes[index];
    importNode(node, kinds[index]);
    bool lastOfLayer = index + 1 == graph.nodes.size() || graph.nodes[index + 1].id.layer != node.id.layer;
    if (lastOfLayer)
      layerInput = values.at({node.id.layer, node.id.node, 0});
  }
  finish(layerInput, /*withLoss=*/!rows);
  func::ReturnOp::create(builder, loc);
}

int64_t ckjit::maxTokensInRows(const WeightTypes &types) {
  return llvm::any_of(types, [](DType type) { return formatOf(type).isQuantized(); }) ? 8 : 4;
}

llvm::Expected<OwningOpRef<ModuleOp>> ckjit::importGraph(MLIRContext &context, const CKIRGraph &graph,
                                                         llvm::StringRef where, bool decode,
                                                         const WeightTypes &weightTypes) {
  auto kinds = validateGraph(graph, where);
  if (!kinds)
    return kinds.takeError();
  if (llvm::Error error = checkWeightTypes(graph.config, weightTypes, where))
    return error;
  return Importer(context, graph, *kinds, weightTypes).import(decode);
}
