//===- TokenFileFuzz.cpp - Any bytes as a file of token ids ---------------===//
//
// Seven bytes choose the options (one: bit 0 is --clamp-ids; four: the last id of the vocabulary; two: the context;
// little-endian); the rest is the file.
//
#include "MemoryFile.h"
#include "ckjit/Weights/Bump.h"

using namespace ckjit;
using namespace ckjit::test;

namespace {
constexpr size_t kOptionBytes = 7;

/// `count` bytes, the lowest first.
uint32_t numberAt(const uint8_t *bytes, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= static_cast<uint32_t>(bytes[i]) << 8 * i;
  return value;
}

/// The ids as SPEC 0.6 has them, put together byte by byte; none when the file must be refused.
std::optional<std::vector<int32_t>> expectedIds(const uint8_t *file, size_t size, int64_t vocab, int64_t context,
                                                bool clampIds) {
  if (size == 0 || size % 4 != 0 || static_cast<int64_t>(size / 4) > context)
    return std::nullopt;
  std::vector<int32_t> ids;
  for (size_t at = 0; at < size; at += 4) {
    const auto id = static_cast<int32_t>(numberAt(file + at, 4));
    const bool known = id >= 0 && id < vocab;
    if (!known && !clampIds)
      return std::nullopt;
    ids.push_back(known ? id : 0);
  }
  return ids;
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const MemoryFile input;
  if (size < kOptionBytes)
    return 0;
  const bool clampIds = data[0] & 1;
  const int64_t vocab = static_cast<int64_t>(numberAt(data + 1, 4)) + 1, context = numberAt(data + 5, 2);
  const uint8_t *file = data + kOptionBytes;
  size -= kOptionBytes;
  input.fill(file, size);
  const std::optional<std::vector<int32_t>> expected = expectedIds(file, size, vocab, context, clampIds);
  llvm::Expected<std::vector<int32_t>> found = readTokens(input.path(), vocab, context, clampIds);
  require(static_cast<bool>(found) == expected.has_value());
  if (found)
    require(*found == *expected);
  else
    require(llvm::toString(found.takeError()).starts_with(input.path() + ": "));
  return 0;
}
