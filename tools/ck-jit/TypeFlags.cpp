//===- TypeFlags.cpp - The types of weights to compile for ----------------===//
#include "TypeFlags.h"
#include "Verbs.h"
#include "ckjit/Weights/Conversion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

bool WeightTypeParser::parse(cl::Option &option, StringRef, StringRef argument, std::string &value) {
  const WeightFormat *format = findWeightFormat(argument);
  if (!format)
    return option.error("is '" + argument + "', expected one of " +
                        join(map_range(weightFormats(), [](const WeightFormat &f) { return f.name.str(); }), ", "));
  value = argument.str();
  return false;
}

std::optional<DType> ckjit::tool::givenType(const WeightTypeOption &option) {
  const WeightFormat *format = findWeightFormat(StringRef(option));
  return format ? std::optional(format->type) : std::nullopt;
}

TypeFlags::TypeFlags(cl::SubCommand &command)
    : type("type", cl::sub(command), cl::value_desc("FORMAT"),
           cl::desc("Format of the weights: fp32 (default), q8_0, q4_k, ...")),
      embed("embed", cl::sub(command), cl::value_desc("FORMAT"),
            cl::desc("Format of the embedding, which is the output head too (default: that of the weights)")),
      weights("weights", cl::sub(command), cl::value_desc("FILE"),
              cl::desc("Take the formats from this weight file, and without CONFIG and --ir its config too")) {}

std::vector<NamedFile> TypeFlags::inputs(const GraphOptions &options) const {
  std::vector<NamedFile> files = options.inputs();
  files.push_back({"--weights", weights});
  return files;
}

Expected<TypeFlags::Program> TypeFlags::ofFile(const GraphOptions &options) const {
  if (givenType(type) || givenType(embed))
    return usageError("--weights and --type or --embed are given, expected one of them: the file says which formats it has");
  Program program;
  BumpOpenOptions open{.configPath = options.config, .verifyChecksum = false};
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

/// Says which weights have another format than was asked for: the one that `init` and `quantize` give them.
static void noteOtherTypes(const ModelConfig &config, const FormatChoice &choice) {
  std::vector<TensorSpec> tensors = weightTensors(config);
  for (const FormatFallback &fallback : choice.fallbacks)
    if (tensors[fallback.tensor].layer <= 0)
      errs() << "ck-jit: note: " << tensors[fallback.tensor].name << " is " << dtypeName(choice.types[fallback.tensor])
             << ", not " << dtypeName(fallback.wanted) << ": its rows of " << fallback.row
             << " weights aren't whole blocks of " << formatOf(fallback.wanted).elements << "\n";
}

Expected<TypeFlags::Program> TypeFlags::load(const GraphOptions &options) const {
  if (!weights.empty())
    return ofFile(options);
  auto graph = options.load();
  if (!graph)
    return graph.takeError();
  Program program{std::move(*graph), {}, options.path()};
  if (!givenType(type) && !givenType(embed))
    return program;
  auto choice = chooseFormats(program.graph.config, {.matrices = givenType(type).value_or(DType::FP32),
                                                     .embedding = givenType(embed)});
  if (!choice)
    return choice.takeError();
  noteOtherTypes(program.graph.config, *choice);
  if (!all_of(choice->types, [](DType t) { return t == DType::FP32; }))
    program.types = std::move(choice->types);
  return program;
}
