//===- Sha256.h - SHA-256 of payloads of any length -------------*- C++ -*-===//
#ifndef CKJIT_LIB_WEIGHTS_SHA256_H
#define CKJIT_LIB_WEIGHTS_SHA256_H

#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>

namespace ckjit::weights {

using Digest = std::array<uint8_t, 32>;

/// SHA-256 (FIPS 180-4). llvm::SHA256 counts its bytes in 32 bits and gives a
/// wrong digest from 4 GiB on, which fp32 models of a billion parameters reach.
class Sha256 {
public:
  void update(llvm::ArrayRef<uint8_t> data);
  /// The digest of all bytes so far; call once, at the end.
  Digest finish();

private:
  void compress(const uint8_t *block);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending{};
  uint64_t total = 0; ///< bytes so far
};

} // namespace ckjit::weights
#endif
