//===- ConfigFuzz.cpp - Any bytes as a config.json ------------------------===//
#include "ckjit/Graph/CKIRGraph.h"
#include "llvm/Support/Error.h"

using namespace ckjit;

/// What is accepted must be valid, come back the same through our own text, and build a program.
static void checkAccepted(const ModelConfig &config) {
  if (llvm::Error error = validateConfig(config, "accepted"))
    __builtin_trap();
  llvm::Expected<ModelConfig> again = parseModelConfig(writeModelConfig(config), "again");
  if (!again || !(*again == config))
    __builtin_trap();
  constexpr int64_t kLayersThatBuildFast = 100;
  if (config.numLayers <= kLayersThatBuildFast && !validateGraph(buildForwardGraph(config), "built"))
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  for (bool shapeOnly : {false, true}) {
    llvm::Expected<ModelConfig> config = parseModelConfig(text, "fuzz", {.shapeOnly = shapeOnly});
    if (config)
      checkAccepted(*config);
    else if (llvm::toString(config.takeError()).compare(0, 4, "fuzz") != 0)
      __builtin_trap();
  }
  return 0;
}
