//===- FiniteScan.cpp - Looks for NaN and Inf in the weights --------------===//
#include "BumpFormat.h"
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace llvm::support;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
constexpr size_t kBlocksPerRead = size_t(1) << 16;

/// "nan", "inf", "-inf", or empty for a finite number; `exponent` and `fraction` are the format's masks.
StringRef nonFiniteName(uint32_t bits, uint32_t sign, uint32_t exponent, uint32_t fraction) {
  if ((bits & exponent) != exponent)
    return "";
  return bits & fraction ? "nan" : bits & sign ? "-inf" : "inf";
}
StringRef badFloat(const uint8_t *at) {
  return nonFiniteName(endian::read32le(at), 0x80000000u, 0x7F800000u, 0x007FFFFFu);
}
StringRef badHalf(const uint8_t *at) { return nonFiniteName(endian::read16le(at), 0x8000u, 0x7C00u, 0x03FFu); }

/// What is not finite in one block: the value of fp32, the scales of q4_k (d, dmin) and q6_k (d).
StringRef badBlock(const uint8_t *block, DType dtype) {
  switch (dtype) {
  case DType::Q4_K: return badHalf(block).empty() ? badHalf(block + 2) : badHalf(block);
  case DType::Q6_K: return badHalf(block + 208);
  default: return badFloat(block);
  }
}

std::string describe(const BumpTensor &tensor, uint64_t block, StringRef value) {
  if (tensor.dtype == DType::FP32)
    return formatv("{0}, element {1} of {2} is {3}", tensorLabel(tensor.spec), block, tensor.spec.elements(), value);
  return formatv("{0}, scale of block {1} of {2} is {3}", tensorLabel(tensor.spec), block,
                 tensor.bytes / formatOf(tensor.dtype).bytes, value);
}

Expected<std::optional<std::string>> scan(const RegularFile &file, const BumpTensor &tensor,
                                          std::vector<uint8_t> &buffer) {
  const uint64_t blockBytes = formatOf(tensor.dtype).bytes, blocks = tensor.bytes / blockBytes;
  for (uint64_t first = 0; first < blocks; first += kBlocksPerRead) {
    uint64_t count = std::min<uint64_t>(kBlocksPerRead, blocks - first);
    buffer.resize(count * blockBytes);
    if (Error error = file.read(tensor.fileOffset + first * blockBytes, buffer.data(), buffer.size()))
      return error;
    for (uint64_t i = 0; i < count; ++i)
      if (StringRef value = badBlock(&buffer[i * blockBytes], tensor.dtype); !value.empty())
        return describe(tensor, first + i, value);
  }
  return std::nullopt;
}
} // namespace

Expected<std::optional<std::string>> BumpFile::findNonFinite() const {
  std::vector<uint8_t> buffer;
  for (const BumpTensor &tensor : tensors) {
    Expected<std::optional<std::string>> found = scan(*file, tensor, buffer);
    if (!found || *found)
      return found;
  }
  return std::nullopt;
}
