//===- CodegenApi.cpp - The seed's code generator -------------------------===//
#include "Boundary.h"
#include "ckjit/AOT/EmitRuntime.h"
#include "ckjit/Graph/CKIRGraph.h"
#include "ckjit/ckernel_codegen.h"
#include <cerrno>
#include <cstring>

using namespace llvm;
using namespace ckjit::capi;

static_assert(CK_OP_SWIGLU_BWD == static_cast<int>(ckjit::NodeOp::SwiGLUBwd), "the seed's order of ops");
static_assert(sizeof(CKKernelId) == 4 && sizeof(CKInputRef) == 6 && sizeof(CKIRNode) == 36, "the seed's layout");

static ckjit::ModelConfig toConfig(const CKModelConfig &config) {
  return {.numLayers = config.num_layers,
          .hiddenSize = config.hidden_size,
          .intermediateSize = config.intermediate_size,
          .numHeads = config.num_heads,
          .numKVHeads = config.num_kv_heads,
          .vocabSize = config.vocab_size,
          .contextWindow = config.context_window,
          .rmsNormEps = config.rms_norm_eps,
          .ropeTheta = config.rope_theta};
}

/// The seed's graph as ours. Error for what no node can be; whether it is a program is for others to tell.
static Expected<ckjit::CKIRGraph> toGraph(const CKIRGraph &graph, StringRef name) {
  if (graph.num_nodes < 0 || (graph.num_nodes > 0 && !graph.nodes))
    return fail(CKJIT_INVALID_ARGUMENT, name + ": num_nodes is " + Twine(graph.num_nodes) +
                                            (graph.nodes ? ", expected 0 or more" : " and nodes is NULL"));
  ckjit::CKIRGraph result{toConfig(graph.config), {}};
  for (const CKIRNode &node : ArrayRef(graph.nodes, static_cast<size_t>(graph.num_nodes))) {
    std::string place = (name + ", node " + Twine(&node - graph.nodes)).str();
    // As an int: in C an enum holds any number.
    int op = 0;
    static_assert(sizeof op == sizeof node.op);
    std::memcpy(&op, &node.op, sizeof op);
    if (op < 0 || op > CK_OP_SWIGLU_BWD)
      return fail(CKJIT_INVALID_ARGUMENT, place + ": op is " + Twine(op) + ", expected a CKOpType, 0 to " +
                                              Twine(int(CK_OP_SWIGLU_BWD)));
    if (node.n_inputs > ckjit::kMaxNodeInputs)
      return fail(CKJIT_INVALID_ARGUMENT, place + ": n_inputs is " + Twine(int(node.n_inputs)) +
                                              ", expected at most " + Twine(ckjit::kMaxNodeInputs));
    ckjit::CKIRNode converted{{node.id.layer, node.id.node}, static_cast<ckjit::NodeOp>(op), {}, node.n_outputs};
    for (const CKInputRef &input : ArrayRef(node.inputs, node.n_inputs))
      converted.inputs.push_back({{input.producer.layer, input.producer.node}, input.out_index});
    result.nodes.push_back(std::move(converted));
  }
  return result;
}

static Error writeSkeletonTo(const CKIRGraph *forward, const CKIRGraph *backward, FILE *out) {
  if (Error error = notNull(forward, "forward"))
    return error;
  if (Error error = notNull(out, "out"))
    return error;
  auto graph = toGraph(*forward, "forward");
  if (!graph)
    return graph.takeError();
  ckjit::CKIRGraph back;
  // The seed takes a backward graph without nodes for none.
  if (backward && backward->nodes && backward->num_nodes > 0) {
    auto converted = toGraph(*backward, "backward");
    if (!converted)
      return converted.takeError();
    back = std::move(*converted);
  }
  std::string text = ckjit::writeSkeleton(*graph, &back);
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size())
    return fail(CKJIT_FILE_ERROR, "the skeleton cannot be written: " + Twine(std::strerror(errno)));
  return Error::success();
}

static Error emitTo(const CKIRGraph *forward, const char *path, int mode) {
  if (Error error = notNull(forward, "forward"))
    return error;
  if (Error error = notNull(path, "path"))
    return error;
  if (Error error = notEmpty(path, "path"))
    return error;
  if (mode != CK_EMIT_STANDALONE && mode != CK_EMIT_LIBRARY)
    return fail(CKJIT_INVALID_ARGUMENT, "mode is " + Twine(mode) + ", expected a CKEmitMode, 0 or 1");
  auto graph = toGraph(*forward, "forward");
  if (!graph)
    return graph.takeError();
  if (Error error = ckjit::validateConfig(graph->config, "forward"))
    return error;
  auto target = ckjit::describeTarget("native");
  if (!target)
    return target.takeError();
  ckjit::CompileOptions options;
  options.target = std::move(*target);
  return ckjit::emitRuntime(*graph, "forward", options,
                            mode == CK_EMIT_LIBRARY ? ckjit::AotMode::Library : ckjit::AotMode::Standalone, path);
}

extern "C" {

void ck_codegen_c_skeleton(const CKIRGraph *forward, const CKIRGraph *backward, FILE *out) {
  guard([&] { return writeSkeletonTo(forward, backward, out); });
}

int ck_codegen_emit_runtime(const CKIRGraph *forward, const char *path, CKEmitMode mode) {
  int number = 0; // in C an enum holds any
  static_assert(sizeof number == sizeof mode);
  std::memcpy(&number, &mode, sizeof number);
  return guard([&] { return emitTo(forward, path, number); }) == CKJIT_OK ? 0 : -1;
}

} // extern "C"
