//===- GraphJsonFuzz.cpp - Any bytes as a JSON IR map ---------------------===//
#include "ckjit/Graph/CKIRGraph.h"
#include "llvm/Support/Error.h"

using namespace ckjit;

/// What reads must come back the same through our own text, and every view of it must print.
static void checkRead(const CKIRGraph &graph) {
  llvm::Expected<CKIRGraph> again = parseGraphJson(writeGraphJson(graph), "again");
  if (!again || !(again->config == graph.config) || again->nodes != graph.nodes)
    __builtin_trap();
  CKIRGraph backward = buildBackwardGraph(graph);
  if (dumpGraph(graph).empty() || dumpGraph(backward).empty() || writeSkeleton(graph, &backward).empty())
    __builtin_trap();
  llvm::Expected<std::vector<ValueKind>> kinds = validateGraph(graph, "fuzz");
  if (kinds && kinds->size() != graph.nodes.size())
    __builtin_trap();
  if (!kinds)
    llvm::consumeError(kinds.takeError());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::Expected<CKIRGraph> graph = parseGraphJson(llvm::StringRef(reinterpret_cast<const char *>(data), size), "fuzz");
  if (graph)
    checkRead(*graph);
  else if (llvm::toString(graph.takeError()).compare(0, 4, "fuzz") != 0)
    __builtin_trap();
  return 0;
}
