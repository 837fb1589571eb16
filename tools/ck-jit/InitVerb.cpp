//===- InitVerb.cpp - ck-jit init: a model of random weights --------------===//
#include "FormatFlags.h"
#include "GraphOptions.h"
#include "Progress.h"
#include "Verbs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

/// Lives as long as the subcommand that refers to it.
const std::string kDescription = (
    "Write a model of random weights\n\n"
    "  Writes a weight file for the model that CONFIG describes, its weights random but\n"
    "  well-conditioned: everything runs on it, and it says nothing sensible. The same seed gives\n"
    "  the same file on every machine. The formats:\n\n"
    "    v3    BUMPWGT3, with the config in its footer: runs as it is\n"
    "    v2    BUMPWGT2, without dtype table and footer: run it with --config FILE, or with\n"
    "          config.json beside it\n"
    "    raw   the tensors alone, as the seed's --out-weights writes them: run it with --raw, and\n"
    "          the config as for v2\n\n"
    "  A v3 file may have other weight formats than fp32 (--type): the same model, quantized as `ck-jit\n"
    "  quantize` does it.\n\n" + kFormatHelp + "\n"
    "  Examples:\n"
    "    ck-jit init config.json -o model.bump --seed 7\n"
    "    ck-jit init config.json -o weights.bin --format=raw\n"
    "    ck-jit init config.json -o small.bump --type q4_k --embed q6_k").str();

cl::SubCommand initCommand("init", kDescription);

GraphOptions graphOptions(initCommand);
PathOption outputPath("o", cl::sub(initCommand), cl::value_desc("FILE"), cl::desc("The file to write"));
cl::opt<uint64_t> seed("seed", cl::sub(initCommand), cl::value_desc("N"), cl::init(0),
                       cl::desc("Seed of the random numbers (default 0)"));
cl::opt<BumpKind> format("format", cl::sub(initCommand), cl::init(BumpKind::V3), cl::desc("What to write (default v3)"),
                         cl::values(clEnumValN(BumpKind::V3, "v3", "BUMPWGT3, with the config in its footer"),
                                    clEnumValN(BumpKind::V2, "v2", "BUMPWGT2; to be run with a config"),
                                    clEnumValN(BumpKind::Raw, "raw", "no header; to be run with --raw and a config")));
FormatFlags formats(initCommand);

/// Writes the model in the formats that are asked for.
Error writeInFormats(const ModelConfig &config, const FormatRequest &request) {
  Expected<FormatChoice> choice = chooseFormats(config, request);
  if (!choice)
    return choice.takeError();
  noteFallbacks(config, *choice);
  Expected<std::unique_ptr<ThreadTeam>> team = ThreadTeam::create(0);
  if (!team)
    return team.takeError();
  Progress progress("writing " + outputPath);
  ConvertOptions options;
  options.parallel = onTeam(**team);
  options.progress = [&](int64_t done, int64_t total) {
    progress.show(done, total);
    return Error::success();
  };
  return writeConverted(outputPath, config, choice->types, *randomSource(config, seed), options).takeError();
}

Error writeModel(const ModelConfig &config) {
  Progress progress("writing " + outputPath);
  auto show = [&](int64_t done, int64_t total) { progress.show(done, total); };
  return writeRandomModel(outputPath, config, seed, show, format);
}

Error run() {
  Expected<FormatRequest> request = formats.request();
  if (!request)
    return request.takeError();
  if (formats.given() && format != BumpKind::V3)
    return usageError("--type, --embed and --layers need --format=v3: only BUMPWGT3 says which format a weight has");
  if (outputPath.empty())
    return usageError("no file to write: give -o FILE");
  if (Error error = checkOutput({"-o", outputPath}, graphOptions.inputs(), Dash::Refused))
    return error;
  Expected<CKIRGraph> graph = graphOptions.load();
  if (!graph)
    return graph.takeError();
  if (Error error = formats.given() ? writeInFormats(graph->config, *request) : writeModel(graph->config))
    return error;
  uint64_t bytes = 0;
  if (std::error_code code = sys::fs::file_size(outputPath, bytes))
    return createStringError(code, outputPath + ": its size cannot be read: " + code.message());
  outs() << fmt::format("wrote {} ({} bytes, seed {})\n", outputPath.getValue(), bytes, seed.getValue());
  return Error::success();
}

} // namespace

Verb initVerb() { return {&initCommand, run}; }

} // namespace ckjit::tool
