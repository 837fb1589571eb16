//===- CompileVerb.cpp - ck-jit compile: a model as library or program ----===//
#include "CompileFlags.h"
#include "GraphOptions.h"
#include "Progress.h"
#include "TypeFlags.h"
#include "Verbs.h"
#include "ckjit/AOT/EmitRuntime.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand compileCommand(
    "compile", "Write a model as a shared library or a program\n\n"
               "  Compiles the model that CONFIG (or --ir FILE) describes ahead of time. The weights stay in\n"
               "  their file, which is given when the model runs and must have the formats that are compiled for:\n"
               "  fp32, those of --type and --embed, or those of the file --weights. What is written needs libc\n"
               "  and libm, and not ck-jit. The modes:\n\n"
               "    library     a shared object with the functions ck_model_init, ck_model_embed_tokens,\n"
               "                ck_model_forward, ck_model_kv_cache_enable, ck_model_decode, ck_model_free, ...\n"
               "    standalone  a program that reads weights and tokens and writes logits; its --help lists the\n"
               "                options\n\n"
               "  FILE.kernels.json beside it tells each kernel's name, op, shape, dtype, target and size in bytes.\n"
               "  The code is for the CPU of this machine, or another one (--target-cpu); on a machine that lacks\n"
               "  what it uses, the model says so instead of running. Links with LLVM's ld.lld.\n\n"
               "  Examples:\n"
               "    ck-jit compile config.json --mode=library -o libmodel.so\n"
               "    ck-jit compile --weights small.bump -o libsmall.so\n"
               "    ck-jit compile config.json --type q4_k --embed q6_k -o libsmall.so --activations=fp32\n"
               "    ck-jit compile config.json --mode=standalone -o model --target-cpu x86-64-v3\n"
               "    ./model --model-weights model.bump --tokens tokens.bin --out-logits logits.bin");

GraphOptions graphOptions(compileCommand);
TypeFlags types(compileCommand);
CompileFlags flags(compileCommand, Slots::Hide);
PathOption outputPath("o", cl::sub(compileCommand), cl::value_desc("FILE"), cl::desc("The file to write"));
cl::opt<AotMode> mode("mode", cl::sub(compileCommand), cl::init(AotMode::Library),
                      cl::desc("What to write (default library)"),
                      cl::values(clEnumValN(AotMode::Library, "library", "a shared object"),
                                 clEnumValN(AotMode::Standalone, "standalone", "a program")));
PathOption linker("linker", cl::sub(compileCommand), cl::value_desc("FILE"),
                  cl::desc("The ld.lld to link with (default: LLVM 22's, else the one on PATH)"));

Error run() {
  if (outputPath.empty())
    return usageError("no file to write: give -o FILE");
  if (flags.materialize)
    return usageError("--materialize is for looking at slots, which what is compiled doesn't show; leave it out");
  std::string manifest = outputPath + ".kernels.json";
  std::vector<NamedFile> inputs = types.inputs(graphOptions);
  inputs.push_back({"--linker", linker});
  if (Error error = checkOutput({"-o", outputPath}, inputs, Dash::Refused))
    return error;
  if (Error error = checkOutput({"the kernel manifest", manifest}, inputs, Dash::Refused))
    return error;
  Expected<TypeFlags::Program> program = types.load(graphOptions);
  if (!program)
    return program.takeError();
  Expected<CompileOptions> options = flags.options();
  if (!options)
    return options.takeError();
  options->weightTypes = program->types;
  {
    Progress progress("compiling");
    if (Error error = emitRuntime(program->graph, program->source, *options, mode, outputPath, linker))
      return error;
  }
  uint64_t bytes = 0;
  if (std::error_code code = sys::fs::file_size(outputPath, bytes))
    return createStringError(code, outputPath + ": its size cannot be read: " + code.message());
  outs() << fmt::format("wrote {} ({} bytes, for {}{}) and {}\n", outputPath.getValue(), bytes, options->target.cpu,
                        program->types.empty() ? "" : ", " + describeTypes(program->graph.config, program->types),
                        manifest);
  return Error::success();
}

} // namespace

Verb compileVerb() { return {&compileCommand, run}; }

} // namespace ckjit::tool
