//===- BumpFuzz.cpp - Any bytes as a weight file --------------------------===//
//
// The first byte chooses the options (bit 0: --raw, bit 1: a --config file is
// given, bit 2: the checksum is not checked); the rest is the file.
//
#include "MemoryFile.h"
#include "ckjit/Weights/BlockCodec.h"
#include "ckjit/Weights/Conversion.h"

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

/// An opened file's tensors stand inside it, one after the other, and can all be read and decoded. They can be written
/// in another format, if they hold no NaN or Inf and no number too large for it.
void checkOpened(const BumpFile &file) {
  uint64_t offset = file.tensors.front().fileOffset;
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    const BumpTensor &tensor = file.tensors[i];
    require(tensor.fileOffset == offset);
    offset += tensor.bytes;
    require(offset <= file.fileBytes);
    std::vector<uint8_t> bytes(tensor.bytes);
    require(!file.readTensor(i, bytes.data(), bytes.size()));
    std::vector<float> values(tensor.spec.elements());
    require(!dequantizeTensor(tensor.spec, tensor.dtype, bytes, values));
  }
  llvm::Expected<std::optional<std::string>> bad = file.findNonFinite();
  require(static_cast<bool>(bad));
  for (DType type : {DType::FP32, DType::Q8_0, DType::Q4_1, DType::Q4_K}) {
    llvm::Expected<FormatChoice> choice = chooseFormats(file.config, {.matrices = type});
    require(static_cast<bool>(choice));
    auto losses = writeConverted("", file.config, choice->types, *fileSource(file));
    // A sound file's weights may still be too large for another format.
    if (!losses)
      require(!llvm::toString(losses.takeError()).empty());
    else
      require(!*bad);
  }
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
