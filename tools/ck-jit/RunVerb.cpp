//===- RunVerb.cpp - ck-jit run: one forward pass over a token file -------===//
#include "CompileFlags.h"
#include "ModelFlags.h"
#include "Progress.h"
#include "RunReport.h"
#include "Verbs.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand runCommand(
    "run", "Compile a model and run it over a token file\n\n"
           "  Compiles the model for this CPU, loads its weights, computes the logits of every token in one go\n"
           "  and prints the speed, the mean loss of the next token over the given ids, and the likeliest ids\n"
           "  after the last one. Tokens are int32, little-endian, 1 to the context.\n\n"
           "  Examples:\n"
           "    ck-jit run --weights model.bump --tokens t.bin\n"
           "    ck-jit run --weights model.bump --tokens t.bin --out-logits logits.bin --json\n"
           "    ck-jit run --weights model.bump --tokens t.bin --verify");

template <typename T, typename Parser = cl::parser<T>> struct Flag : cl::opt<T, false, Parser> {
  template <size_t N, typename... Mods>
  explicit Flag(const char (&name)[N], const Mods &...mods)
      : cl::opt<T, false, Parser>(name, cl::sub(runCommand), mods...) {}
};
using PathFlag = Flag<std::string, PathParser>;
PathFlag tokensPath("tokens", cl::value_desc("FILE"), cl::desc("The token ids"));
PathFlag outLogits("out-logits", cl::value_desc("FILE"), cl::desc("Write the logits, fp32 [T][V]"));
Flag<int64_t> top("top", cl::value_desc("N"), cl::init(5), cl::desc("Likeliest ids to print (default 5)"));
Flag<unsigned> cores("cores", cl::value_desc("N"), cl::init(0), cl::desc("The seed's name of --threads"));
Flag<bool> clampIds("clamp-ids", cl::desc("Take an id out of range as 0 instead of refusing it"));
Flag<bool> jsonFlag("json", cl::desc("Print JSON for programs"));
Flag<bool> timing("timing", cl::desc("Print the steps of the compilation too"));
Flag<bool> verifyFlag("verify", cl::desc("Compare what is computed, op by op too, with the reference and name the "
                                         "first that differs (slow)"));
Flag<bool> checkTensors("check-tensors", cl::desc("Fail if a weight is NaN or infinite, naming it"));
Flag<int64_t> layers("layers", cl::value_desc("N"), cl::desc("Expected layers"));
Flag<int64_t> embed("embed", cl::value_desc("N"), cl::desc("Expected hidden size"));
Flag<int64_t> intermediate("intermediate", cl::value_desc("N"), cl::desc("Expected intermediate size"));
Flag<int64_t> heads("heads", cl::value_desc("N"), cl::desc("Expected heads"));
Flag<int64_t> kvHeads("kv-heads", cl::value_desc("N"), cl::desc("Expected kv heads"));
Flag<int64_t> vocab("vocab", cl::value_desc("N"), cl::desc("Expected vocabulary"));
Flag<int64_t> context("ctx", cl::value_desc("N"), cl::desc("Context to run with, at most the file's"));
ModelFlags source(runCommand);
CompileFlags flags(runCommand);

/// Runs `step` and returns its milliseconds.
Expected<double> timed(function_ref<Error()> step) {
  auto start = std::chrono::steady_clock::now();
  if (Error error = step())
    return error;
  std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  return passed.count();
}

/// A number given on the command line must be one that the option can take, whatever the files hold.
Error checkNumbers() {
  for (const Flag<int64_t> *flag : {&layers, &embed, &intermediate, &heads, &kvHeads, &vocab, &context})
    if (flag->getNumOccurrences() && flag->getValue() <= 0)
      return usageError("--" + flag->ArgStr + " is " + Twine(flag->getValue()) + ", expected a positive number");
  if (cores > ThreadTeam::kMaxThreads)
    return usageError("--cores is " + Twine(cores) + ", expected at most " + Twine(ThreadTeam::kMaxThreads));
  if (source.threads && cores && source.threads != cores)
    return usageError("--threads is " + Twine(source.threads) + " and --cores is " + Twine(cores) + ", expected one number");
  if (top < 0)
    return usageError("--top is " + Twine(top) + ", expected 0 or more");
  return Error::success();
}

Error checkUsage() {
  if (Error error = checkNumbers())
    return error;
  if (source.weights.empty() || tokensPath.empty())
    return usageError("give --weights FILE and --tokens FILE");
  if (Error error = source.check())
    return error;
  std::vector<NamedFile> inputs = source.inputs();
  inputs.push_back({"--tokens", tokensPath});
  return checkOutput({"--out-logits", outLogits}, inputs, Dash::Refused);
}

ModelConfig overrides() {
  ModelConfig given{.vocabSize = 0, .contextWindow = 0};
  given.numLayers = layers;
  given.hiddenSize = embed;
  given.intermediateSize = intermediate;
  given.numHeads = heads;
  given.numKVHeads = kvHeads;
  given.vocabSize = vocab;
  given.contextWindow = context;
  return given;
}

Error refuseNonFinite(const BumpFile &file) {
  Progress progress("looking for NaN and Inf in " + source.weights);
  auto found = file.findNonFinite();
  if (!found)
    return found.takeError();
  if (*found)
    return createStringError(source.weights + ": " + **found);
  return Error::success();
}

int64_t parametersOf(const ModelConfig &config) {
  int64_t count = 0;
  for (const TensorSpec &spec : weightTensors(config))
    if (spec.name != "pos_emb" || config.ropeTheta <= 0)
      spec.forEachLogicalRun([&](int64_t, int64_t length) { count += length; });
  return count;
}

unsigned threadsAsked() { return source.threads ? source.threads : cores; }

/// Runs the model over `tokens` and fills in what the report tells of it.
Error runModel(Model &model, ArrayRef<int32_t> tokens, RunReport &report) {
  auto prefill = timed([&] {
    Progress progress("prefill");
    return model.prefill(tokens, 0, nextTokens(tokens));
  });
  if (!prefill)
    return prefill.takeError();
  report.prefillMilliseconds = *prefill;
  report.tokens = tokens.size();
  double sum = 0;
  for (float loss : model.losses())
    sum += loss;
  if (tokens.size() > 1)
    report.loss = sum / static_cast<double>(tokens.size() - 1);
  report.next = topTokens(model.logits(tokens.size() - 1), top);
  return Error::success();
}

/// With --verify there are two programs, and --inject-fault breaks those that have a kernel of that name.
Error placeFault(const CKIRGraph &graph, CompileOptions &options, CompileOptions &materialized) {
  std::string fault = options.pipeline.faultyKernel;
  if (fault.empty() || !verifyFlag)
    return Error::success();
  bool placed = false;
  for (CompileOptions *program : {&options, &materialized}) {
    program->pipeline.faultyKernel.clear();
    auto compiled = compileGraph(graph, source.graphPath(), *program);
    if (!compiled)
      return compiled.takeError();
    if (none_of(compiled->kernels, [&](const std::string &name) { return StringRef(name).starts_with(fault); }))
      continue;
    program->pipeline.faultyKernel = fault;
    placed = true;
  }
  if (!placed)
    options.pipeline.faultyKernel = fault; // compiling it tells that there is none
  return Error::success();
}

/// Compares `output` and, with a program whose ops write their slots and whose activations are fp32, op by op.
Error verifyRun(const CKIRGraph &graph, const BumpFile &file, const CompileOptions &materialized,
                ArrayRef<int32_t> tokens, const ProgramOutput &output, double runTolerance, RunReport &report) {
  auto model = source.compile(graph, materialized, threadsAsked());
  if (!model)
    return model.takeError();
  if (Error error = source.load(**model, file))
    return error;
  Progress progress("comparing with the reference");
  auto verified =
      verify(**model, graph, tokens, verifyTolerance(materialized), &output, runTolerance);
  if (!verified)
    return verified.takeError();
  report.verified = std::move(*verified);
  return Error::success();
}

Error writeLogits(const Model &model, size_t rows) {
  ArrayRef<float> first = model.logits(0);
  StringRef bytes(reinterpret_cast<const char *>(first.data()), rows * first.size() * sizeof(float));
  return writeFileAtomically(outLogits, bytes);
}

Error print(const RunReport &report) {
  outs() << (jsonFlag ? reportJson(report) : reportText(report));
  if (report.verified && !report.verified->agrees())
    return createStringError("verify: " + report.verified->message());
  return Error::success();
}

Expected<std::unique_ptr<Model>> makeModel(const CKIRGraph &graph, const BumpFile &file, const CompileOptions &options,
                                           RunReport &report) {
  auto model = source.compile(graph, options, threadsAsked());
  if (!model)
    return model.takeError();
  auto loaded = timed([&] { return source.load(**model, file); });
  if (!loaded)
    return loaded.takeError();
  report.loadMilliseconds = *loaded;
  report.target = options.target.cpu;
  report.vectorBits = options.target.vectorBits;
  report.threads = (*model)->threads();
  report.kernels = (*model)->compiled().kernels.size();
  report.compile = (*model)->compiled().times;
  report.cached = (*model)->compiled().cached;
  return model;
}

/// Compiles, loads, runs and, if asked to, verifies. The model is gone before another is made for verifying.
Error compileAndRun(const CKIRGraph &graph, const BumpFile &file, CompileOptions options, ArrayRef<int32_t> tokens,
                    RunReport &report) {
  options.weightTypes = file.weightTypes();
  report.types = describeTypes(file.config, options.weightTypes);
  report.int8 = usesInt8Activations(options);
  CompileOptions materialized = options;
  materialized.pipeline.materialize = true;
  // The reference has no int8 activations: op by op, only exact ones can be held against it.
  materialized.pipeline.quantize = false;
  if (Error error = placeFault(graph, options, materialized))
    return error;
  ProgramOutput output;
  {
    auto model = makeModel(graph, file, options, report);
    if (!model)
      return model.takeError();
    if (Error error = runModel(**model, tokens, report))
      return error;
    if (!outLogits.empty())
      if (Error error = writeLogits(**model, tokens.size()))
        return error;
    if (verifyFlag)
      output = outputOf(**model, tokens.size());
  }
  return verifyFlag ? verifyRun(graph, file, materialized, tokens, output, verifyTolerance(options), report) : Error::success();
}

Error run() {
  if (Error error = checkUsage())
    return error;
  auto options = flags.options();
  if (!options)
    return options.takeError();
  auto opened = source.open(overrides());
  if (!opened)
    return opened.takeError();
  const BumpFile &file = *opened->file;
  if (checkTensors)
    if (Error error = refuseNonFinite(file))
      return error;
  const ModelConfig &config = file.config;
  auto tokens = readTokens(tokensPath, config.vocabSize, config.contextWindow, clampIds);
  if (!tokens)
    return tokens.takeError();
  RunReport report;
  report.model = source.weights;
  report.config = config;
  report.parameters = parametersOf(config);
  report.strict = flags.strict;
  report.timing = timing;
  if (Error error = compileAndRun(opened->graph, file, std::move(*options), *tokens, report))
    return error;
  return print(report);
}

} // namespace

Verb runVerb() { return {&runCommand, run}; }

} // namespace ckjit::tool
