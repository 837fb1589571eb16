//===- TokenFile.cpp - Reads token ids ------------------------------------===//
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>

using namespace llvm;
using namespace ckjit;

static constexpr uint64_t kTokenBytes = 4;

static Error checkSize(const RegularFile &file, int64_t context) {
  if (file.size() == 0)
    return fieldError(file.path(), "tokens", "an empty file", "at least one int32 token id");
  if (file.size() % kTokenBytes != 0)
    return fieldError(file.path(), "file size", Twine(file.size()) + " bytes",
                      "a multiple of " + Twine(kTokenBytes) + " (int32 token ids)");
  if (context < 0 || file.size() / kTokenBytes > static_cast<uint64_t>(context))
    return fieldError(file.path(), "number of tokens", Twine(file.size() / kTokenBytes),
                      "at most " + Twine(context) + ", the context");
  return Error::success();
}

Expected<std::vector<int32_t>> ckjit::readTokens(StringRef path, int64_t vocab, int64_t context, bool clampIds) {
  Expected<std::unique_ptr<RegularFile>> file = RegularFile::open(path);
  if (!file)
    return file.takeError();
  if (Error error = checkSize(**file, context))
    return error;
  // Asked of malloc first: a vector that cannot grow ends the program, and a sparse file may claim any size. Volatile,
  // or the compiler would take malloc's success for granted.
  void *volatile probe = std::malloc((*file)->size());
  if (!probe)
    return createStringError(path + ": no memory for its " + Twine((*file)->size()) + " bytes");
  std::free(probe);
  std::vector<int32_t> tokens((*file)->size() / kTokenBytes);
  if (Error error = (*file)->read(0, tokens.data(), (*file)->size()))
    return error;
  for (size_t i = 0; i < tokens.size(); ++i) {
    int32_t id = support::endian::byte_swap(tokens[i], endianness::little);
    bool inRange = id >= 0 && id < vocab;
    if (!inRange && !clampIds)
      return fieldError(path, "token at position " + Twine(i), "id " + Twine(id),
                        formatv("0 to {0}, the vocabulary; --clamp-ids reads it as 0", vocab - 1).str());
    tokens[i] = inRange ? id : 0;
  }
  return tokens;
}
