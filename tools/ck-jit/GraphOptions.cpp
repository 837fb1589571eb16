//===- GraphOptions.cpp - CONFIG or --ir, for every verb ------------------===//
#include "GraphOptions.h"
#include "Verbs.h"

using namespace llvm;

namespace ckjit::tool {

GraphOptions::GraphOptions(cl::SubCommand &command, ShapeOnly offer)
    : config(cl::Positional, cl::sub(command), cl::value_desc("CONFIG"), cl::desc("[CONFIG: a model's config.json]")),
      ir("ir", cl::sub(command), cl::value_desc("FILE"),
         cl::desc("Take the graph from a JSON IR map (as `ck-jit ir CONFIG --json FILE` writes it) "
                  "instead of building it from CONFIG")) {
  if (offer == ShapeOnly::Offer)
    shapeOnly = std::make_unique<cl::opt<bool>>(
        "shape-only", cl::sub(command),
        cl::desc("Take only the dimensions from CONFIG, also of a model that the weight format cannot "
                 "express (untied head, RoPE scaling, ...)"));
}

Expected<CKIRGraph> GraphOptions::buildFromConfig() const {
  Expected<ModelConfig> parsed = loadModelConfig(config, {.shapeOnly = shapeOnly && *shapeOnly});
  if (parsed)
    return buildForwardGraph(*parsed);
  std::string message = toString(parsed.takeError());
  if (shapeOnly && !*shapeOnly) {
    // Tell of --shape-only where it exists and would do.
    Expected<ModelConfig> shape = loadModelConfig(config, {.shapeOnly = true});
    message += shape ? " (--shape-only takes just the shape)" : "";
    consumeError(shape.takeError());
  }
  return createStringError(message);
}

Expected<CKIRGraph> loadProgram(StringRef path) {
  Expected<CKIRGraph> graph = loadGraphJson(path);
  if (!graph)
    return graph.takeError();
  if (Expected<std::vector<ValueKind>> kinds = validateGraph(*graph, path); !kinds)
    return kinds.takeError();
  return graph;
}

Expected<CKIRGraph> GraphOptions::load() const {
  if (!given())
    return usageError("no model named: give a config.json, or --ir FILE");
  if (!config.empty() && !ir.empty())
    return usageError("both a config (" + config.getValue() + ") and --ir (" + ir.getValue() +
                      ") were given; give one of them");
  return ir.empty() ? buildFromConfig() : loadProgram(ir);
}

} // namespace ckjit::tool
