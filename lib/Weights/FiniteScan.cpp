//===- FiniteScan.cpp - Looks for NaN and Inf in the weights --------------===//
#include "BumpFormat.h"
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
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
StringRef badBf16(const uint8_t *at) { return nonFiniteName(endian::read16le(at), 0x8000u, 0x7F80u, 0x007Fu); }
StringRef badHalf(const uint8_t *at) { return nonFiniteName(endian::read16le(at), 0x8000u, 0x7C00u, 0x03FFu); }

/// A number in each block of a format that makes weights NaN or infinite if it is.
struct BlockNumber {
  DType type;
  uint64_t offset; ///< bytes
  StringRef (*bad)(const uint8_t *);
  StringLiteral what; ///< "scale" (d), "offset" (m, dmin) or, of floats by themselves, nothing
};
constexpr BlockNumber kNumbers[] = {
    {DType::FP32, 0, badFloat, ""},      {DType::BF16, 0, badBf16, ""},       {DType::FP16, 0, badHalf, ""},
    {DType::Q4_0, 0, badHalf, "scale"},  {DType::Q4_1, 0, badHalf, "scale"},  {DType::Q4_1, 2, badHalf, "offset"},
    {DType::Q5_0, 0, badHalf, "scale"},  {DType::Q5_1, 0, badHalf, "scale"},  {DType::Q5_1, 2, badHalf, "offset"},
    {DType::Q8_0, 0, badHalf, "scale"},  {DType::Q4_K, 0, badHalf, "scale"},  {DType::Q4_K, 2, badHalf, "offset"},
    {DType::Q6_K, 208, badHalf, "scale"}};

std::string describe(const BumpTensor &tensor, uint64_t block, const BlockNumber &number, StringRef value) {
  if (number.what.empty())
    return formatv("{0}, element {1} of {2} is {3}", tensorLabel(tensor.spec), block, tensor.spec.elements(), value);
  return formatv("{0}, {1} of block {2} of {3} is {4}", tensorLabel(tensor.spec), number.what, block,
                 tensor.bytes / formatOf(tensor.dtype).bytes, value);
}

/// The numbers of one format.
SmallVector<BlockNumber, 2> numbersOf(DType type) {
  SmallVector<BlockNumber, 2> numbers;
  copy_if(kNumbers, std::back_inserter(numbers), [&](const BlockNumber &number) { return number.type == type; });
  return numbers;
}

Expected<std::optional<std::string>> scan(const RegularFile &file, const BumpTensor &tensor,
                                          std::vector<uint8_t> &buffer) {
  const uint64_t blockBytes = formatOf(tensor.dtype).bytes, blocks = tensor.bytes / blockBytes;
  const SmallVector<BlockNumber, 2> numbers = numbersOf(tensor.dtype);
  for (uint64_t first = 0; first < blocks; first += kBlocksPerRead) {
    uint64_t count = std::min<uint64_t>(kBlocksPerRead, blocks - first);
    buffer.resize(count * blockBytes);
    if (Error error = file.read(tensor.fileOffset + first * blockBytes, buffer.data(), buffer.size()))
      return error;
    for (uint64_t i = 0; i < count; ++i)
      for (const BlockNumber &number : numbers)
        if (StringRef value = number.bad(&buffer[i * blockBytes + number.offset]); !value.empty())
          return describe(tensor, first + i, number, value);
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
