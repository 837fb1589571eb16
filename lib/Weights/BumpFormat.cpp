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

constexpr StringLiteral kDTypeNames[] = {"fp32", "bf16", "fp16", "int8", "int4", "q4_0", "q4_1",
                                         "q4_k", "q6_k", "q8_0", "q8_k", "q5_0", "q5_1"};
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

bool ckjit::weights::mayBeQuantized(StringRef tensorName) {
  return StringSwitch<bool>(tensorName)
      .Cases({"token_emb", "wq", "wk", "wv", "wo", "w1", "w2"}, true)
      .Default(false);
}

BlockShape ckjit::weights::blockShape(DType dtype) {
  switch (dtype) {
  case DType::Q4_K: return {256, 144};
  case DType::Q6_K: return {256, 210};
  default: return {1, 4};
  }
}

std::optional<uint64_t> ckjit::weights::storedBytes(int64_t elements, DType dtype) {
  BlockShape block = blockShape(dtype);
  int64_t blocks = elements / block.elements + (elements % block.elements != 0);
  std::optional<int64_t> bytes = checkedMul(blocks, block.bytes);
  return bytes ? std::optional<uint64_t>(*bytes) : std::nullopt;
}

std::string ckjit::weights::tensorLabel(const TensorSpec &spec) {
  return spec.layer < 0 ? spec.name : formatv("layer {0} {1}", spec.layer, spec.name).str();
}

std::string ckjit::weights::hex(ArrayRef<uint8_t> bytes) { return toHex(bytes, /*LowerCase=*/true); }

StringRef ckjit::dtypeName(uint8_t code) {
  return code < std::size(kDTypeNames) ? StringRef(kDTypeNames[code]) : StringRef("unknown");
}

StringRef ckjit::bumpKindName(BumpKind kind) {
  switch (kind) {
  case BumpKind::V3: return kMagicV3;
  case BumpKind::V2: return kMagicV2;
  case BumpKind::Raw: return "headerless";
  }
  return "unknown";
}
