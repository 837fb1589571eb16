//===- EmitVerb.cpp - ck-jit emit: print any stage of a compilation -------===//
#include "CompileFlags.h"
#include "GraphOptions.h"
#include "Verbs.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

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
            "    ck-jit emit config.json --stage=obj -o model.o && objdump -d model.o");

GraphOptions graphOptions(emitCommand, ShapeOnly::Offer);
CompileFlags flags(emitCommand);
cl::opt<std::string> stageName("stage", cl::sub(emitCommand), cl::value_desc("STAGE"), cl::init("ck"),
                               cl::desc("graph, ck, loops, vector, llvm-dialect, llvm, asm or obj (default ck)"));
cl::opt<bool> decode("decode", cl::sub(emitCommand), cl::desc("With the program for few tokens, as generate compiles it"));
cl::opt<std::string> outputPath("o", cl::sub(emitCommand), cl::value_desc("FILE"),
                                cl::desc("The file to write (default: standard output)"));

Error run() {
  std::optional<EmitStage> stage = parseEmitStage(stageName);
  if (!stage)
    return usageError("--stage is '" + stageName +
                      "', expected graph, ck, loops, vector, llvm-dialect, llvm, asm or obj");
  if (*stage == EmitStage::Obj && outputPath.empty() && sys::Process::StandardOutIsDisplayed())
    return usageError("an object file isn't for a terminal: give -o FILE");
  Expected<CKIRGraph> graph = graphOptions.load();
  if (!graph)
    return graph.takeError();
  Expected<CompileOptions> options = flags.options();
  if (!options)
    return options.takeError();
  options->decode = decode;
  Expected<std::string> text = emitGraph(*graph, graphOptions.path(), *options, *stage);
  if (!text)
    return text.takeError();
  if (!outputPath.empty())
    return writeFileAtomically(outputPath, *text);
  outs() << *text;
  return Error::success();
}

} // namespace

Verb emitVerb() { return {&emitCommand, run}; }

} // namespace ckjit::tool
