//===- CacheEntryFuzz.cpp - Any bytes as an entry of the object cache -----===//
//
// The first byte chooses what the rest is: the file (even), or what stands behind a right header (odd), so that the
// checksum doesn't keep the search from the fields.
//
#include "MemoryFile.h"
#include "ckjit/JIT/CacheEntry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace ckjit;
using namespace ckjit::test;

/// Magic, version, a key, size and checksum for `body`.
static std::string withHeader(llvm::StringRef body) {
  std::string header("CKJITOBJ\1\0\0\0", 12);
  header.append(sizeof(CacheKey), 'k');
  for (size_t i = 0; i < sizeof(uint64_t); ++i)
    header += static_cast<char>(static_cast<uint64_t>(body.size()) >> 8 * i);
  const auto sum = llvm::SHA256::hash(llvm::arrayRefFromStringRef(header + body.str()));
  return header + std::string(sum.begin(), sum.end()) + body.str();
}

/// What an entry promises to whoever links and runs it.
static void checkParsed(const CacheEntry &entry) {
  const CompiledObject &compiled = entry.object;
  require(!compiled.object.empty());
  for (const ProgramBuffer &buffer : compiled.buffers)
    require(buffer.layer >= -1 && buffer.offset <= compiled.arenaBytes &&
            buffer.bytes <= compiled.arenaBytes - buffer.offset);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] & 1)
    bytes = withHeader(bytes);
  llvm::Expected<CacheEntry> entry = parseCacheEntry(bytes, "fuzz");
  if (!entry) {
    require(llvm::StringRef(llvm::toString(entry.takeError())).starts_with("fuzz: "));
    return 0;
  }
  checkParsed(*entry);
  // There is one file for an entry: what was accepted is it.
  require(writeCacheEntry(*entry) == bytes);
  return 0;
}
