//===- VocabularyFuzz.cpp - Any bytes as a vocabulary, any text to encode --===//
//
// Two bytes, little-endian: how long the text is that stands in front; the rest is the file, of a model of 300 ids.
//
#include "MemoryFile.h"
#include "ckjit/Text/Vocabulary.h"

using namespace ckjit;
using namespace ckjit::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr int64_t kIds = 300;
  constexpr size_t kLengthBytes = 2;
  if (size < kLengthBytes)
    return 0;
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  const size_t length = std::min<size_t>(data[0] | data[1] << 8, size - kLengthBytes);
  const llvm::StringRef text = bytes.substr(kLengthBytes, length);
  llvm::Expected<Vocabulary> vocabulary = Vocabulary::parse(bytes.drop_front(kLengthBytes + length), "fuzz", kIds);
  if (!vocabulary) {
    require(llvm::StringRef(llvm::toString(vocabulary.takeError())).starts_with("fuzz: "));
    return 0;
  }
  const std::vector<int32_t> ids = vocabulary->encode(text);
  require(ids.front() == Vocabulary::kBeginOfText && ids.size() <= text.size() + 2);
  for (size_t i = 1; i < ids.size(); ++i) {
    require(ids[i] >= 0 && ids[i] < kIds);
    vocabulary->decode(ids[i - 1], ids[i]);
  }
  return 0;
}
