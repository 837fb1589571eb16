//===- WeightFormat.h - The formats of weights ------------------*- C++ -*-===//
#ifndef CKJIT_LAYOUT_WEIGHTFORMAT_H
#define CKJIT_LAYOUT_WEIGHTFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace ckjit {

/// dtype codes of the weight file (SPEC 2.1).
enum class DType : uint8_t {
  FP32 = 0, BF16 = 1, FP16 = 2, INT8 = 3, INT4 = 4, Q4_0 = 5, Q4_1 = 6,
  Q4_K = 7, Q6_K = 8, Q8_0 = 9, Q8_K = 10, Q5_0 = 11, Q5_1 = 12,
};

/// How a weight format stores a row: in blocks of `elements` neighbouring weights, `bytes` each (SPEC 5). Formats
/// without blocks have blocks of one.
struct WeightFormat {
  DType type;
  llvm::StringLiteral name; ///< "fp32", "q4_k", ...
  int64_t elements;
  int64_t bytes;
  /// The weights of a block share scales; fp32, bf16 and fp16 are floats by themselves.
  bool isQuantized() const { return elements > 1; }
};

/// All formats that a weight may have, fp32 first.
llvm::ArrayRef<WeightFormat> weightFormats();
/// The format of a dtype code of the file, or null: no weight has it.
const WeightFormat *findWeightFormat(uint8_t code);
/// The same by name.
const WeightFormat *findWeightFormat(llvm::StringRef name);
/// The format of a type that weights have.
const WeightFormat &formatOf(DType type);

/// "fp32", "q4_k", ... for a dtype code of the file (SPEC 2.1), also of those that no weight has; "unknown" for a code
/// without meaning.
llvm::StringRef dtypeName(uint8_t code);
inline llvm::StringRef dtypeName(DType dtype) { return dtypeName(static_cast<uint8_t>(dtype)); }

/// May the tensor of that name have another format than fp32 (SPEC 2.1)?
bool mayBeQuantized(llvm::StringRef tensorName);

/// Bytes of a tensor of that shape, whose last extent is whole blocks; none when they pass 2^63.
std::optional<int64_t> storedBytes(llvm::ArrayRef<int64_t> shape, DType type);

} // namespace ckjit
#endif
