//===- BumpFormat.h - The bytes of the weight file --------------*- C++ -*-===//
#ifndef CKJIT_LIB_WEIGHTS_BUMPFORMAT_H
#define CKJIT_LIB_WEIGHTS_BUMPFORMAT_H

#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/ArrayRef.h"

namespace ckjit::weights {

inline constexpr size_t kMagicBytes = 8;
inline constexpr llvm::StringLiteral kMagicV3 = "BUMPWGT3";
inline constexpr llvm::StringLiteral kMagicV2 = "BUMPWGT2";
inline constexpr llvm::StringLiteral kMagicFamily = "BUMPWGT";
inline constexpr llvm::StringLiteral kFooterMagic = "BUMPV5MD";
inline constexpr uint64_t kHeaderBytes = 128;
inline constexpr uint64_t kReservedOffset = 96; ///< zeros from here to the header's end
inline constexpr uint64_t kTableLengthBytes = 4;
inline constexpr uint64_t kFooterBytes = 48; ///< magic, u64 length of the JSON, SHA-256 of the JSON
inline constexpr uint64_t kTensorsPerLayer = 14;
inline constexpr uint64_t kTensorsOutsideLayers = 4;

using HeaderBytes = std::array<uint8_t, kHeaderBytes>;

/// Fields of the header from byte 8 on; the magic is the caller's affair.
BumpHeader decodeHeader(const HeaderBytes &bytes);
/// The 128 bytes of a header; its magic follows from its version.
HeaderBytes encodeHeader(const BumpHeader &header);
/// The header that belongs to `config`, checksum still zero.
BumpHeader headerFor(const ModelConfig &config);

/// The footer that follows `json` at a file's end.
std::array<uint8_t, kFooterBytes> encodeFooter(llvm::StringRef json);

/// Entries of the dtype table of a model of `layers` layers.
constexpr uint64_t tableEntries(uint64_t layers) { return kTensorsPerLayer * layers + kTensorsOutsideLayers; }

/// Lower-case hexadecimal.
std::string hex(llvm::ArrayRef<uint8_t> bytes);

} // namespace ckjit::weights
#endif
