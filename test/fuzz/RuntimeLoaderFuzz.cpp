//===- RuntimeLoaderFuzz.cpp - Any bytes, for the runtime's loader --------===//
//
// The first byte's bit 0 says that CK_WEIGHT_DTYPE is q4_k; the rest is the file.
//
#include "MemoryFile.h"
#include "Parts.h"
#include "ckjit/Layout/ArenaPlan.h"
#include <vector>
extern "C" {
#include "Buffers.h"
#include "WeightFile.h"
}

using namespace ckjit;
using namespace ckjit::test;

namespace {
/// The description of a model of one layer, and the size of its arena.
struct TinyModel {
  llvm::SmallVector<char, 0> bytes;
  const ckrt_description &get() const { return *reinterpret_cast<const ckrt_description *>(bytes.data()); }
};

const TinyModel &tinyModel() {
  static const TinyModel model = [] {
    ModelConfig config{.numLayers = 1, .hiddenSize = 2, .intermediateSize = 1, .numHeads = 1,
                       .numKVHeads = 1, .vocabSize = 1, .contextWindow = 1, .ropeTheta = 10000.0f};
    CompiledObject compiled;
    compiled.arenaBytes = llvm::cantFail(planArena(config)).totalBytes;
    return TinyModel{llvm::cantFail(aot::describeModel(config, compiled, CompileOptions()))};
  }();
  return model;
}

/// Every tensor is what the file has behind the one before, and nothing else was written.
void checkArena(const std::vector<uint8_t> &arena, llvm::ArrayRef<uint8_t> file, const ckrt_weight_file &opened) {
  std::vector<uint8_t> expected(arena.size(), 0xaa);
  uint64_t at = opened.tensors_at;
  for (uint32_t i = 0; i < tinyModel().get().tensors; ++i) {
    const ckrt_buffer &tensor = *ckrt_tensor(&tinyModel().get(), i);
    require(at + tensor.bytes <= file.size());
    std::copy_n(file.begin() + at, tensor.bytes, expected.begin() + static_cast<std::ptrdiff_t>(tensor.offset));
    at += tensor.bytes;
  }
  require(arena == expected);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const MemoryFile input;
  static ckrt_team *team = ckrt_team_start(1, 1);
  if (size == 0)
    return 0;
  llvm::ArrayRef<uint8_t> file(data + 1, size - 1);
  input.fill(file.data(), file.size());
  const ckrt_description &model = tinyModel().get();
  const std::string path = input.path();
  ckrt_weight_file opened;
  ckrt_error error{};
  bool refused = ckrt_weights_open(&opened, path.c_str(), &model, data[0] & 1 ? 7 : 0, &error) != 0 ||
                 ckrt_weights_check_types(&opened, &model, &error) != 0;
  if (!refused) {
    require(!opened.quantized);
    refused = ckrt_weights_check(&opened, &model, &error) != 0;
    std::vector<uint8_t> arena(model.arena_bytes, 0xaa);
    if (!refused) {
      require(ckrt_weights_read(&opened, &model, arena.data(), team, &error) == 0);
      checkArena(arena, file, opened);
    }
  }
  require(refused == (error.text[0] != '\0'));
  ckrt_weights_close(&opened);
  return 0;
}
