//===- BlockCodecFuzz.cpp - Any bytes as blocks, and any floats as weights ===//
//
// The first byte chooses the format (low four bits, modulo their number) and bit 4 whether zeros are kept. The rest are
// blocks to decode, and floats to encode, filled up with zeros to a whole block.
//
#include "MemoryFile.h"
#include "ckjit/Weights/BlockCodec.h"
#include <cmath>
#include <cstring>

using namespace ckjit;
using namespace ckjit::test;

namespace {
/// Encoded weights are finite, no further off than the largest of their block, and equal when encoded again.
void checkEncoded(const WeightFormat &format, const std::vector<float> &values, Zeros zeros) {
  std::vector<uint8_t> bytes(values.size() / format.elements * format.bytes), again(bytes.size());
  std::optional<size_t> bad = quantize(format.type, values, bytes, zeros);
  if (bad) {
    // Nothing below fp16's largest is refused.
    require(*bad < values.size() && !(std::fabs(values[*bad]) <= 65504.0f / 16));
    return;
  }
  std::vector<float> kept(values.size());
  dequantize(format.type, bytes, kept);
  for (size_t at = 0; at < values.size(); at += format.elements) {
    float largest = 0;
    for (int64_t i = 0; i < format.elements; ++i)
      largest = std::max(largest, std::fabs(values[at + i]));
    for (size_t i = at; i < at + format.elements; ++i) {
      require(std::isfinite(values[i]) && std::isfinite(kept[i]));
      require(std::fabs(kept[i] - values[i]) <= largest * 1.001f);
      require(zeros == Zeros::Free || values[i] != 0 || kept[i] == 0);
    }
  }
  require(!quantize(format.type, values, again, zeros) && again == bytes);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const WeightFormat &format = weightFormats()[(data[0] & 15) % weightFormats().size()];
  llvm::ArrayRef<uint8_t> rest(data + 1, size - 1);
  size_t blocks = rest.size() / format.bytes;
  std::vector<float> decoded(blocks * format.elements);
  dequantize(format.type, rest.take_front(blocks * format.bytes), decoded);

  size_t count = (rest.size() / sizeof(float) + format.elements - 1) / format.elements * format.elements;
  std::vector<float> values(count);
  if (count != 0)
    std::memcpy(values.data(), rest.data(), rest.size() / sizeof(float) * sizeof(float));
  checkEncoded(format, values, data[0] & 16 ? Zeros::Kept : Zeros::Free);
  checkEncoded(format, decoded, data[0] & 16 ? Zeros::Kept : Zeros::Free);
  return 0;
}
