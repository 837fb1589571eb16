//===- LayoutVerb.cpp - ck-jit layout: where every buffer stands ----------===//
#include "TypeFlags.h"
#include "Verbs.h"
#include "ckjit/Layout/ArenaPlan.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand layoutCommand(
    "layout", "Show where every buffer stands in memory\n\n"
              "  Lays out the one block of memory (the arena) that a model runs in, and prints for each buffer\n"
              "  its role, type, shape in elements, offset in bytes and size in bytes. Where layers are alike, layer\n"
              "  0 stands for all of them: layer n is n times the layer stride further on. Weights are fp32, or of\n"
              "  the formats of --type and --embed, or of a file.\n\n"
              "  Examples:\n"
              "    ck-jit layout config.json\n"
              "    ck-jit layout config.json --training --all\n"
              "    ck-jit layout config.json --type q4_k --embed q6_k\n"
              "    ck-jit layout --weights model.bump\n"
              "    ck-jit layout --ir ir.json --json");

GraphOptions graphOptions(layoutCommand, ShapeOnly::Offer);
TypeFlags types(layoutCommand);
cl::opt<bool> trainingFlag("training", cl::sub(layoutCommand),
                           cl::desc("Lay out for training, with gradients and attention scores"));
cl::opt<bool> allFlag("all", cl::sub(layoutCommand), cl::desc("Print the buffers of every layer"));
cl::opt<bool> jsonFlag("json", cl::sub(layoutCommand), cl::desc("Print JSON for programs, every layer included"));

std::string shapeText(const Buffer &buffer) {
  std::string text;
  for (int64_t extent : buffer.shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string rowText(const Buffer &buffer) {
  std::string name = buffer.layer < 0 ? buffer.name : fmt::format("L{} {}", buffer.layer, buffer.name);
  std::string head = fmt::format("  {:<22}{:<12}{:<6}{:<20}", name, roleName(buffer.role), dtypeName(buffer.type),
                                 shapeText(buffer));
  if (!buffer.allocated)
    return head + fmt::format("{:>16}{:>16}\n", "-", "-");
  return head + fmt::format("{:>16}{:>16}\n", buffer.offset, buffer.bytes);
}

/// Every layer looks like layer 0; not so where weights have other types.
bool layersAlike(const ArenaPlan &plan) {
  return all_of(plan.buffers, [&](const Buffer &buffer) {
    const Buffer *first = plan.find(buffer.name, buffer.layer < 0 ? -1 : 0);
    return buffer.layer <= 0 || !buffer.allocated ||
           (buffer.type == first->type && buffer.offset == first->offset + buffer.layer * plan.layerStride);
  });
}

/// Totals in the words of the seed's own dump (SPEC 9, --dump).
std::string totalsText(const ArenaPlan &plan) {
  const ModelConfig &c = plan.config;
  auto at = [&](const char *name) { return plan.find(name)->offset; };
  return fmt::format("Model config:\n"
                     " layers={} embed={} intermediate={} heads={} kv_heads={}\n"
                     " head_dim={} vocab={} ctx={}\n"
                     " eps={:.6g} rope_theta={:.6g}\n",
                     c.numLayers, c.hiddenSize, c.intermediateSize, c.numHeads, c.numKVHeads, c.headDim(), c.vocabSize,
                     c.contextWindow, c.rmsNormEps, c.ropeTheta) +
         fmt::format("Aligned dims (elements): embed={} head={} ctx={}\n"
                     "Memory: total_bytes={}\n"
                     "Global offsets (bytes): token={} pos={} embedded={} layers_start={}\n",
                     c.alignedHidden(), c.alignedHead(), c.alignedContext(), plan.totalBytes,
                     at("token_emb"), at("pos_emb"), at("embedded_input"), plan.layersStart) +
         fmt::format("Final offsets (bytes): final_ln_w={} final_ln_b={} final_ln_mean={} final_ln_rstd={}\n"
                     "LM/logits offsets (bytes): lm_head={} logits={}\n"
                     "Layer stride (bytes): {}\n",
                     at("final_ln_weight"), at("final_ln_bias"), at("final_ln_mean"), at("final_ln_rstd"),
                     at("lm_head_weight"), at("logits"), plan.layerStride);
}

void printText(const ArenaPlan &plan) {
  outs() << totalsText(plan) << "\n"
         << fmt::format("  {:<22}{:<12}{:<6}{:<20}{:>16}{:>16}\n", "buffer", "role", "type", "shape", "offset", "bytes");
  bool all = allFlag || !layersAlike(plan);
  for (const Buffer &buffer : plan.buffers)
    if (buffer.layer <= 0 || all)
      outs() << rowText(buffer);
  if (plan.config.numLayers > 1 && !all)
    outs() << fmt::format("  layers 1 to {} follow, each {} bytes further on (--all prints them)\n",
                          plan.config.numLayers - 1, plan.layerStride);
}

void printJson(const ArenaPlan &plan) {
  json::OStream out(outs(), /*IndentSize=*/2);
  out.object([&] {
    out.attribute("training", bool(trainingFlag));
    out.attribute("total_bytes", plan.totalBytes);
    out.attribute("layers_start", plan.layersStart);
    out.attribute("layer_stride", plan.layerStride);
    out.attributeArray("buffers", [&] {
      for (const Buffer &buffer : plan.buffers)
        out.object([&] {
          out.attribute("name", buffer.name);
          if (buffer.layer >= 0)
            out.attribute("layer", buffer.layer);
          out.attribute("role", roleName(buffer.role));
          out.attribute("type", dtypeName(buffer.type));
          out.attributeArray("shape", [&] {
            for (int64_t extent : buffer.shape)
              out.value(extent);
          });
          out.attribute("allocated", buffer.allocated);
          out.attribute("offset", buffer.offset);
          out.attribute("bytes", buffer.bytes);
        });
    });
  });
  outs() << "\n";
}

Error run() {
  Expected<TypeFlags::Program> program = types.load(graphOptions);
  if (!program)
    return program.takeError();
  if (trainingFlag && !program->types.empty())
    return usageError("--training needs fp32 weights, and these are " +
                      describeTypes(program->graph.config, program->types));
  Expected<ArenaPlan> plan = planArena(program->graph.config, {.training = trainingFlag, .weightTypes = program->types});
  if (!plan)
    return plan.takeError();
  jsonFlag ? printJson(*plan) : printText(*plan);
  return Error::success();
}

} // namespace

Verb layoutVerb() { return {&layoutCommand, run}; }

} // namespace ckjit::tool
