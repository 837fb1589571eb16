//===- TestFiles.h - Files and bytes that the weight tests work on --------===//
#ifndef CKJIT_TEST_WEIGHTS_TESTFILES_H
#define CKJIT_TEST_WEIGHTS_TESTFILES_H

#include "Support/TempDir.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace ckjit::test {

/// Puts little-endian `value` of `size` bytes at `offset`.
void put(std::string &bytes, size_t offset, uint64_t value, size_t size);
uint64_t get(const std::string &bytes, size_t offset, size_t size);

/// Two layers with padding on every axis: D 24 (32), hd 12 (16), I 40 (48), 2 query heads, 1 KV head.
ModelConfig smallConfig();

/// What the writer gives for smallConfig(), values by smallValue(); ends with a config footer.
std::string smallFile(TempDir &dir);
float smallValue(const TensorSpec &spec, int64_t element);
/// The same without the footer.
std::string withoutFooter(const std::string &bytes);
/// Length of the footer: JSON and the 48 bytes after it.
size_t footerBytes(const std::string &bytes);

/// A BUMPWGT3 file put together by hand from SPEC 2.1 and 2.3, its tensors filled with `fillByte`: the
/// dtype of the tensor at table position i is `dtype(i)`. No footer; right checksum.
std::string handMadeFile(const ModelConfig &config, llvm::function_ref<uint8_t(size_t)> dtype, char fillByte);
/// Writes the SHA-256 of bytes 128.. into the header.
void seal(std::string &bytes);

/// The message of the error with which opening fails; "" when it opens.
std::string openError(const std::string &path, const BumpOpenOptions &options = {});

} // namespace ckjit::test
#endif
