//===- IrVerb.cpp - ck-jit ir: show a model's graph -----------------------===//
#include "GraphOptions.h"
#include "Verbs.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand irCommand(
    "ir", "Show a model's graph, node by node\n\n"
          "  Builds the graph (CKIRGraph: ten nodes a layer) of the model that CONFIG describes, or reads\n"
          "  one with --ir, checks that it is a program, and prints one line a node:\n\n"
          "    L0 N3 ADD            outputs=[L0:N3:0] inputs=[IN,L0:N2]\n\n"
          "  is node 3 of layer 0: it adds the layer's input (IN) and the output of node 2. The nodes\n"
          "  are what is compiled: write them with --json, edit the file, and give it to any verb by --ir.\n\n"
          "  Examples:\n"
          "    ck-jit ir config.json --backward\n"
          "    ck-jit ir config.json --json ir.json\n"
          "    ck-jit ir --ir ir.json --backward --skeleton -o graph.txt");

GraphOptions graphOptions(irCommand, ShapeOnly::Offer);
cl::opt<bool> backwardFlag("backward", cl::sub(irCommand),
                           cl::desc("Show the backward graph too: printed, in --skeleton, and in --json, where its nodes "
                                  "follow the forward ones. Such a map is no program: --ir refuses it"));
PathOption jsonPath("json", cl::sub(irCommand), cl::value_desc("FILE"),
                    cl::desc("Write the graph as a JSON IR map to FILE (-: print that instead)"));
cl::opt<bool> skeletonFlag("skeleton", cl::sub(irCommand), cl::desc("Print the C skeleton of the graph after it"));
PathOption outputPath("o", cl::sub(irCommand), cl::value_desc("FILE"), cl::init("-"),
                      cl::desc("Write what would be printed to FILE (default: -, standard output)"));

/// The nodes that are shown: with --backward, those of the backward graph stand behind.
CKIRGraph shown(const CKIRGraph &graph) {
  CKIRGraph all = graph;
  if (backwardFlag)
    append_range(all.nodes, buildBackwardGraph(graph).nodes);
  return all;
}

std::string render(const CKIRGraph &graph) {
  std::string text = dumpGraph(graph);
  CKIRGraph backward;
  if (backwardFlag) {
    backward = buildBackwardGraph(graph);
    text += dumpGraph(backward);
  }
  if (skeletonFlag)
    text += writeSkeleton(graph, backwardFlag ? &backward : nullptr);
  return text;
}

Error checkOutputs() {
  std::vector<NamedFile> others = graphOptions.inputs();
  if (Error error = checkOutput({"--json", jsonPath}, others, Dash::StandardOutput))
    return error;
  if (jsonPath == "-" && outputPath == "-" && outputPath.getNumOccurrences())
    return usageError("both --json and -o are '-', standard output; give one of them a file");
  others.push_back({"--json", jsonPath});
  return checkOutput({"-o", outputPath}, others, Dash::StandardOutput);
}

Error run() {
  if (Error error = checkOutputs())
    return error;
  Expected<CKIRGraph> graph = graphOptions.load();
  if (!graph)
    return graph.takeError();
  if (!jsonPath.empty())
    if (Error e = writeOutput(jsonPath, writeGraphJson(shown(*graph))))
      return e;
  if (jsonPath == "-" && outputPath == "-")
    return Error::success();
  return writeOutput(outputPath, render(*graph));
}

} // namespace

Verb irVerb() { return {&irCommand, run}; }

} // namespace ckjit::tool
