//===- InspectVerb.cpp - ck-jit inspect: what a weight file holds ---------===//
#include "GraphOptions.h"
#include "Progress.h"
#include "Verbs.h"
#include "WeightFileFlags.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand inspectCommand(
    "inspect", "Show and check what a weight file holds\n\n"
               "  Opens FILE with every check that a run makes (header against config, dtype table, exact size,\n"
               "  SHA-256) and prints the header, the dtype table, and each tensor's format, shape, place and size.\n\n"
               "  Examples:\n"
               "    ck-jit inspect model.bump\n"
               "    ck-jit inspect model.bump --config config.json --check-tensors\n"
               "    ck-jit inspect weights.bin --raw --config config.json --json");

PathOption path(cl::Positional, cl::sub(inspectCommand), cl::value_desc("FILE"), cl::desc("FILE"));
WeightFileFlags fileFlags(inspectCommand);
PathOption irPath("ir", cl::sub(inspectCommand), cl::value_desc("FILE"),
                  cl::desc("Compare with the config of this graph (ck-jit ir --json) instead"));
cl::opt<bool> checkTensors("check-tensors", cl::sub(inspectCommand),
                           cl::desc("Fail if a weight is NaN or infinite, naming the tensor and the element"));
cl::opt<bool> jsonFlag("json", cl::sub(inspectCommand), cl::desc("Print JSON for programs"));

StringRef checksumText(ChecksumState state) {
  switch (state) {
  case ChecksumState::NotChecked: return "not checked";
  case ChecksumState::Ok: return "ok";
  case ChecksumState::Absent: return "absent";
  }
  return "unknown";
}

std::string shapeText(const TensorSpec &spec) {
  std::string text;
  for (int64_t extent : spec.shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string headerText(const BumpFile &file) {
  const BumpHeader &h = file.header;
  std::string text = fmt::format("{}: {}, {} bytes\n", path.getValue(), bumpKindName(file.kind), file.fileBytes);
  if (file.kind != BumpKind::Raw)
    text += fmt::format("Header: version={} model_type={} layers={} vocab={} embed={} ctx={} heads={} head_dim={}\n"
                        "Aligned dims (elements): embed={} head={} ctx={}\n"
                        "SHA-256: {}\n",
                        h.version, h.modelType, h.numLayers, h.vocabSize, h.embedDim, h.context, h.numHeads, h.headDim,
                        h.alignedEmbed, h.alignedHead, h.alignedContext, toHex(h.sha256, /*LowerCase=*/true));
  const ModelConfig &c = file.config;
  text += fmt::format("Checksum: {}\n"
                      "Config ({}): layers={} embed={} intermediate={} heads={} kv_heads={} vocab={} ctx={} "
                      "eps={:.6g} rope_theta={:.6g}\n",
                      checksumText(file.checksum), file.configSource, c.numLayers, c.hiddenSize, c.intermediateSize,
                      c.numHeads, c.numKVHeads, c.vocabSize, c.contextWindow, c.rmsNormEps, c.ropeTheta);
  return text;
}

/// The formats of the file's tensors, each once.
SmallSetVector<DType, 4> formatsIn(const BumpFile &file) {
  SmallSetVector<DType, 4> formats;
  for (const WeightFormat &format : weightFormats())
    if (any_of(file.tensors, [&](const BumpTensor &tensor) { return tensor.dtype == format.type; }))
      formats.insert(format.type);
  return formats;
}

/// "0 fp32, 7 q4_k"
std::string codesText(const BumpFile &file) {
  std::vector<std::string> codes;
  for (DType type : formatsIn(file))
    codes.push_back(fmt::format("{} {}", static_cast<int>(type), dtypeName(type).str()));
  return join(codes, ", ");
}

/// The dtype table: globals first and last, a row a layer, entries as dtype codes.
std::string tableText(const BumpFile &file) {
  if (file.kind != BumpKind::V3)
    return "";
  std::string text = fmt::format("dtype table ({} entries):", file.tensors.size());
  int layer = -2;
  for (const BumpTensor &tensor : file.tensors) {
    if (tensor.spec.layer != layer) {
      layer = tensor.spec.layer;
      text += layer < 0 ? "\n  globals  " : fmt::format("\n  layer {:<3}", layer);
    }
    text += fmt::format(" {}", static_cast<int>(tensor.dtype));
  }
  return text + "\n  (" + codesText(file) + ")\n";
}

bool isSeedFormat(DType type) { return type == DType::FP32 || type == DType::Q4_K || type == DType::Q6_K; }

/// What the seed system, to which the format belongs, can't read of the file; empty if it reads all of it (SPEC 2.1, 2.3).
std::string beyondSeed(const BumpFile &file) {
  constexpr int64_t kBlock = 256;
  std::vector<std::string> names;
  bool quantized = false, wo = false;
  for (DType type : formatsIn(file)) {
    quantized |= type != DType::FP32;
    if (!isSeedFormat(type))
      names.push_back(dtypeName(type).str());
  }
  if (!names.empty())
    return join(names, ", ");
  for (const BumpTensor &tensor : file.tensors)
    wo |= tensor.spec.name == "wo" && tensor.dtype != DType::FP32;
  const ModelConfig &c = file.config;
  if (quantized && (c.alignedHidden() % kBlock || c.alignedIntermediate() % kBlock))
    return fmt::format("blocks in a model of {} and {} wide rows", c.alignedHidden(), c.alignedIntermediate());
  if (wo && c.numHeads * c.alignedHead() != c.alignedHidden())
    return fmt::format("a quantized wo of {} columns in a model {} wide", c.numHeads * c.alignedHead(), c.alignedHidden());
  return "";
}

void printText(const BumpFile &file, const std::string &tensorsState) {
  outs() << headerText(file) << tableText(file);
  if (std::string beyond = beyondSeed(file); !beyond.empty())
    outs() << "Beyond the seed system: " << beyond << "; it reads fp32, q4_k and q6_k, in rows of whole blocks\n";
  if (!tensorsState.empty())
    outs() << "Values: " << tensorsState << "\n";
  outs() << "\n" << fmt::format("  {:<22}{:<8}{:<20}{:>16}{:>16}\n", "tensor", "dtype", "shape", "offset", "bytes");
  for (const BumpTensor &tensor : file.tensors) {
    const TensorSpec &spec = tensor.spec;
    outs() << fmt::format("  {:<22}{:<8}{:<20}{:>16}{:>16}\n",
                          spec.layer < 0 ? spec.name : fmt::format("L{} {}", spec.layer, spec.name),
                          dtypeName(tensor.dtype), shapeText(spec), tensor.fileOffset, tensor.bytes);
  }
}

void printHeaderJson(json::OStream &out, const BumpHeader &h) {
  out.attributeObject("header", [&] {
    out.attribute("version", h.version);
    out.attribute("model_type", h.modelType);
    out.attribute("num_layers", h.numLayers);
    out.attribute("vocab_size", h.vocabSize);
    out.attribute("embed_dim", h.embedDim);
    out.attribute("context", h.context);
    out.attribute("num_heads", h.numHeads);
    out.attribute("head_dim", h.headDim);
    out.attribute("aligned_embed", h.alignedEmbed);
    out.attribute("aligned_head", h.alignedHead);
    out.attribute("aligned_context", h.alignedContext);
    out.attribute("sha256", toHex(h.sha256, /*LowerCase=*/true));
  });
}

void printConfigJson(json::OStream &out, const BumpFile &file) {
  const ModelConfig &c = file.config;
  out.attributeObject("config", [&] {
    out.attribute("source", file.configSource);
    out.attribute("num_hidden_layers", c.numLayers);
    out.attribute("hidden_size", c.hiddenSize);
    out.attribute("intermediate_size", c.intermediateSize);
    out.attribute("num_attention_heads", c.numHeads);
    out.attribute("num_key_value_heads", c.numKVHeads);
    out.attribute("vocab_size", c.vocabSize);
    out.attribute("max_position_embeddings", c.contextWindow);
    out.attribute("rms_norm_eps", c.rmsNormEps);
    out.attribute("rope_theta", c.ropeTheta);
  });
}

void printTensorJson(json::OStream &out, const BumpTensor &tensor) {
  out.object([&] {
    out.attribute("name", tensor.spec.name);
    if (tensor.spec.layer >= 0)
      out.attribute("layer", tensor.spec.layer);
    out.attribute("dtype", dtypeName(tensor.dtype));
    out.attributeArray("shape", [&] {
      for (int64_t extent : tensor.spec.shape)
        out.value(extent);
    });
    out.attribute("offset", tensor.fileOffset);
    out.attribute("bytes", tensor.bytes);
  });
}

void printJson(const BumpFile &file, const std::string &tensorsState) {
  json::OStream out(outs(), /*IndentSize=*/2);
  out.object([&] {
    out.attribute("file", json::fixUTF8(path));
    out.attribute("kind", bumpKindName(file.kind));
    out.attribute("file_bytes", file.fileBytes);
    out.attribute("checksum", checksumText(file.checksum));
    if (std::string beyond = beyondSeed(file); !beyond.empty())
      out.attribute("beyond_seed", beyond);
    if (!tensorsState.empty())
      out.attribute("values", tensorsState);
    if (file.kind != BumpKind::Raw)
      printHeaderJson(out, file.header);
    printConfigJson(out, file);
    out.attributeArray("tensors", [&] {
      for (const BumpTensor &tensor : file.tensors)
        printTensorJson(out, tensor);
    });
  });
  outs() << "\n";
}

Expected<std::unique_ptr<BumpFile>> openNamed() {
  if (path.empty())
    return usageError("no weight file named: ck-jit inspect FILE");
  if (Error error = fileFlags.check())
    return error;
  if (!irPath.empty() && !fileFlags.config.empty())
    return usageError("give --config or --ir, not both: an IR file holds its config");
  BumpOpenOptions options;
  if (!irPath.empty()) {
    Expected<CKIRGraph> graph = loadProgram(irPath);
    if (!graph)
      return graph.takeError();
    options.graphConfig = graph->config;
    options.graphSource = "--ir " + irPath;
  }
  return fileFlags.open(path, std::move(options));
}

Error run() {
  Expected<std::unique_ptr<BumpFile>> file = openNamed();
  if (!file)
    return file.takeError();
  std::optional<std::string> nonFinite;
  if (checkTensors) {
    Progress progress("looking for NaN and Inf in " + path);
    Expected<std::optional<std::string>> found = (*file)->findNonFinite();
    if (!found)
      return found.takeError();
    nonFinite = *found;
  }
  std::string tensorsState = !checkTensors ? "" : nonFinite ? *nonFinite : "all finite";
  jsonFlag ? printJson(**file, tensorsState) : printText(**file, tensorsState);
  if (nonFinite)
    return createStringError(path + ": tensor values: found " + *nonFinite + ", expected finite numbers");
  return Error::success();
}

} // namespace

Verb inspectVerb() { return {&inspectCommand, run}; }

} // namespace ckjit::tool
