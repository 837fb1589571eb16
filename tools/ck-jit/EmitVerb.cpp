//===- EmitVerb.cpp - ck-jit emit: print any stage of a compilation -------===//
#include "CompileFlags.h"
#include "Progress.h"
#include "TypeFlags.h"
#include "Verbs.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand emitCommand(
    "emit", "Print a stage of the compilation\n\n"
            "  Compiles the model that CONFIG (or --ir FILE) describes as far as the stage and prints it: graph,\n"
            "  ck, loops, vector, llvm-dialect, llvm, asm or obj. Needs no weights, and any x86-64 CPU may be the\n"
            "  target. The object is byte for byte what a run links into memory.\n\n"
            "  Examples:\n"
            "    ck-jit emit config.json --stage=ck\n"
            "    ck-jit emit config.json --stage=asm --target-cpu haswell -o haswell.s\n"
            "    ck-jit emit config.json --type q4_k --stage=vector\n"
            "    ck-jit emit config.json --stage=obj -o model.o && objdump -d model.o");

GraphOptions graphOptions(emitCommand, ShapeOnly::Offer);
TypeFlags types(emitCommand);
CompileFlags flags(emitCommand);
cl::opt<std::string> stageName("stage", cl::sub(emitCommand), cl::value_desc("STAGE"), cl::init("ck"),
                               cl::desc("graph, ck, loops, vector, llvm-dialect, llvm, asm or obj (default ck)"));
cl::opt<bool> decode("decode", cl::sub(emitCommand), cl::desc("The program for few tokens (decode) besides, as generate has it"));
PathOption outputPath("o", cl::sub(emitCommand), cl::value_desc("FILE"), cl::init("-"),
                      cl::desc("The file to write (default: -, standard output)"));

Error run() {
  std::optional<EmitStage> stage = parseEmitStage(stageName);
  if (!stage)
    return usageError("--stage is '" + stageName +
                      "', expected graph, ck, loops, vector, llvm-dialect, llvm, asm or obj");
  if (*stage == EmitStage::Obj && outputPath == "-" && sys::Process::StandardOutIsDisplayed())
    return usageError("an object file isn't for a terminal: give -o FILE");
  if (Error error = checkOutput({"-o", outputPath}, types.inputs(graphOptions), Dash::StandardOutput))
    return error;
  Expected<TypeFlags::Program> program = types.load(graphOptions);
  if (!program)
    return program.takeError();
  Expected<CompileOptions> options = flags.options();
  if (!options)
    return options.takeError();
  options->weightTypes = program->types;
  options->decode = decode;
  Expected<std::string> text = [&] {
    Progress progress("compiling");
    return emitGraph(program->graph, program->source, *options, *stage);
  }();
  if (!text)
    return text.takeError();
  return writeOutput(outputPath, *text);
}

} // namespace

Verb emitVerb() { return {&emitCommand, run}; }

} // namespace ckjit::tool
