//===- BumpFuzz.cpp - Any bytes as a weight file --------------------------===//
//
// The first byte chooses the options (bit 0: --raw, bit 1: a --config file is
// given, bit 2: the checksum is not checked); the rest is the file.
//
#include "MemoryFile.h"
#include "ckjit/Weights/Bump.h"

using namespace ckjit;
using namespace ckjit::test;

namespace {
const MemoryFile &configFile() {
  static const MemoryFile file = [] {
    MemoryFile made;
    std::string json = writeModelConfig({.numLayers = 1, .hiddenSize = 2, .intermediateSize = 1, .numHeads = 1,
                                         .numKVHeads = 1, .vocabSize = 1, .contextWindow = 1, .ropeTheta = 10000.0f});
    made.fill(json.data(), json.size());
    return made;
  }();
  return file;
}

/// An opened file's tensors stand inside it, one after the other, and can all be read.
void checkOpened(const BumpFile &file) {
  uint64_t offset = file.tensors.front().fileOffset;
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    const BumpTensor &tensor = file.tensors[i];
    require(tensor.fileOffset == offset);
    offset += tensor.bytes;
    require(offset <= file.fileBytes);
    std::vector<uint8_t> bytes(tensor.bytes);
    require(!file.readTensor(i, bytes.data(), bytes.size()));
  }
  require(static_cast<bool>(file.findNonFinite()));
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const MemoryFile input;
  if (size == 0)
    return 0;
  input.fill(data + 1, size - 1);
  BumpOpenOptions options;
  options.allowRaw = data[0] & 1;
  if (data[0] & 2)
    options.configPath = configFile().path();
  if (data[0] & 4)
    options.verifyChecksum = false;
  llvm::Expected<std::unique_ptr<BumpFile>> file = BumpFile::open(input.path(), options);
  if (file)
    checkOpened(**file);
  else
    require(!llvm::toString(file.takeError()).empty());
  return 0;
}
