//===- BumpFormat.cpp - The bytes of the weight file ----------------------===//
#include "BumpFormat.h"
#include "Sha256.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <iterator>

using namespace llvm;
using namespace llvm::support;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
struct Field32 {
  uint32_t BumpHeader::*member;
  size_t offset;
};
struct Field64 {
  uint64_t BumpHeader::*member;
  size_t offset;
};
constexpr Field32 kFields32[] = {{&BumpHeader::version, 8},    {&BumpHeader::modelType, 12}, {&BumpHeader::numLayers, 16},
                                 {&BumpHeader::vocabSize, 20}, {&BumpHeader::embedDim, 24},  {&BumpHeader::context, 28},
                                 {&BumpHeader::numHeads, 32},  {&BumpHeader::headDim, 36}};
constexpr Field64 kFields64[] = {
    {&BumpHeader::alignedEmbed, 40}, {&BumpHeader::alignedHead, 48}, {&BumpHeader::alignedContext, 56}};
constexpr size_t kChecksumOffset = 64;

} // namespace

BumpHeader ckjit::weights::decodeHeader(const HeaderBytes &bytes) {
  BumpHeader header;
  for (const Field32 &field : kFields32)
    header.*field.member = endian::read32le(bytes.data() + field.offset);
  for (const Field64 &field : kFields64)
    header.*field.member = endian::read64le(bytes.data() + field.offset);
  std::copy_n(bytes.begin() + kChecksumOffset, header.sha256.size(), header.sha256.begin());
  return header;
}

HeaderBytes ckjit::weights::encodeHeader(const BumpHeader &header) {
  HeaderBytes bytes{};
  StringRef magic = header.version == 2 ? kMagicV2 : kMagicV3;
  std::copy(magic.begin(), magic.end(), bytes.begin());
  for (const Field32 &field : kFields32)
    endian::write32le(bytes.data() + field.offset, header.*field.member);
  for (const Field64 &field : kFields64)
    endian::write64le(bytes.data() + field.offset, header.*field.member);
  std::copy(header.sha256.begin(), header.sha256.end(), bytes.begin() + kChecksumOffset);
  return bytes;
}

BumpHeader ckjit::weights::headerFor(const ModelConfig &config) {
  BumpHeader header;
  header.numLayers = static_cast<uint32_t>(config.numLayers);
  header.vocabSize = static_cast<uint32_t>(config.vocabSize);
  header.embedDim = static_cast<uint32_t>(config.hiddenSize);
  header.context = static_cast<uint32_t>(config.contextWindow);
  header.numHeads = static_cast<uint32_t>(config.numHeads);
  header.headDim = static_cast<uint32_t>(config.headDim());
  header.alignedEmbed = static_cast<uint64_t>(config.alignedHidden());
  header.alignedHead = static_cast<uint64_t>(config.alignedHead());
  header.alignedContext = static_cast<uint64_t>(config.alignedContext());
  return header;
}

std::array<uint8_t, kFooterBytes> ckjit::weights::encodeFooter(StringRef json) {
  std::array<uint8_t, kFooterBytes> bytes{};
  std::copy(kFooterMagic.begin(), kFooterMagic.end(), bytes.begin());
  endian::write64le(bytes.data() + 8, json.size());
  Sha256 hash;
  hash.update(arrayRefFromStringRef(json));
  Digest digest = hash.finish();
  std::copy(digest.begin(), digest.end(), bytes.begin() + 16);
  return bytes;
}

std::string ckjit::weights::hex(ArrayRef<uint8_t> bytes) { return toHex(bytes, /*LowerCase=*/true); }

StringRef ckjit::bumpKindName(BumpKind kind) {
  switch (kind) {
  case BumpKind::V3: return kMagicV3;
  case BumpKind::V2: return kMagicV2;
  case BumpKind::Raw: return "headerless";
  }
  return "unknown";
}
