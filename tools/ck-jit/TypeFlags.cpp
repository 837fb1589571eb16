//===- TypeFlags.cpp - The types of weights to compile for ----------------===//
#include "TypeFlags.h"
#include "Verbs.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

TypeFlags::TypeFlags(cl::SubCommand &command)
    : formats(command),
      weights("weights", cl::sub(command), cl::value_desc("FILE"),
              cl::desc("Take the formats from this weight file, and without CONFIG and --ir its config too")),
      kind(command) {}

std::vector<NamedFile> TypeFlags::inputs(const GraphOptions &options) const {
  std::vector<NamedFile> files = options.inputs();
  files.push_back({"--weights", weights});
  return files;
}

Expected<TypeFlags::Program> TypeFlags::ofFile(const GraphOptions &options) const {
  if (formats.given())
    return usageError("--weights and --type, --embed or --layers are given, expected one of them: the file says which formats it has");
  Program program;
  BumpOpenOptions open{.configPath = options.config, .configOption = "CONFIG", .verifyChecksum = false};
  kind.addTo(open);
  if (options.given()) {
    auto graph = options.load();
    if (!graph)
      return graph.takeError();
    program.graph = std::move(*graph);
    open.graphConfig = options.ir.empty() ? std::nullopt : std::optional(program.graph.config);
    open.graphSource = "--ir " + options.ir;
  }
  auto file = BumpFile::open(weights, open);
  if (!file)
    return file.takeError();
  if (!options.given())
    program.graph = buildForwardGraph((*file)->config);
  program.types = (*file)->weightTypes();
  program.source = options.given() ? options.path() : weights.getValue();
  return program;
}

Expected<TypeFlags::Program> TypeFlags::load(const GraphOptions &options) const {
  Expected<FormatRequest> request = formats.request();
  if (!request)
    return request.takeError();
  if (!weights.empty())
    return ofFile(options);
  if (kind.raw || !kind.weightType.empty())
    return usageError(Twine(kind.raw ? "--raw" : "--weight-dtype") + " says what the file of --weights is, and none is given");
  auto graph = options.load();
  if (!graph)
    return graph.takeError();
  Program program{std::move(*graph), {}, options.path()};
  if (!formats.given())
    return program;
  auto choice = chooseFormats(program.graph.config, *request);
  if (!choice)
    return choice.takeError();
  noteFallbacks(program.graph.config, *choice);
  if (!all_of(choice->types, [](DType t) { return t == DType::FP32; }))
    program.types = std::move(choice->types);
  return program;
}
