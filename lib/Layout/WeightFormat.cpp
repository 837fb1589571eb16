//===- WeightFormat.cpp - The formats of weights --------------------------===//
#include "ckjit/Layout/WeightFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ErrorHandling.h"
#include <iterator>

using namespace llvm;
using namespace ckjit;

namespace {
constexpr WeightFormat kFormats[] = {
    {DType::FP32, "fp32", 1, 4},    {DType::BF16, "bf16", 1, 2},    {DType::FP16, "fp16", 1, 2},
    {DType::Q4_0, "q4_0", 32, 18},  {DType::Q4_1, "q4_1", 32, 20},  {DType::Q5_0, "q5_0", 32, 22},
    {DType::Q5_1, "q5_1", 32, 24},  {DType::Q8_0, "q8_0", 32, 34},  {DType::Q4_K, "q4_k", 256, 144},
    {DType::Q6_K, "q6_k", 256, 210}};

constexpr StringLiteral kDTypeNames[] = {"fp32", "bf16", "fp16", "int8", "int4", "q4_0", "q4_1",
                                         "q4_k", "q6_k", "q8_0", "q8_k", "q5_0", "q5_1"};
} // namespace

ArrayRef<WeightFormat> ckjit::weightFormats() { return kFormats; }

const WeightFormat *ckjit::findWeightFormat(uint8_t code) {
  const WeightFormat *found = find_if(kFormats, [&](const WeightFormat &f) { return f.type == static_cast<DType>(code); });
  return found == std::end(kFormats) ? nullptr : found;
}

const WeightFormat *ckjit::findWeightFormat(StringRef name) {
  const WeightFormat *found = find_if(kFormats, [&](const WeightFormat &f) { return f.name == name; });
  return found == std::end(kFormats) ? nullptr : found;
}

const WeightFormat &ckjit::formatOf(DType type) {
  const WeightFormat *format = findWeightFormat(static_cast<uint8_t>(type));
  assert(format && "no weight has this type");
  return *format;
}

StringRef ckjit::dtypeName(uint8_t code) {
  return code < std::size(kDTypeNames) ? StringRef(kDTypeNames[code]) : StringRef("unknown");
}

bool ckjit::mayBeQuantized(StringRef tensorName) {
  return StringSwitch<bool>(tensorName)
      .Cases({"token_emb", "wq", "wk", "wv", "wo", "w1", "w2"}, true)
      .Default(false);
}

std::optional<int64_t> ckjit::storedBytes(ArrayRef<int64_t> shape, DType type) {
  const WeightFormat &format = formatOf(type);
  std::optional<int64_t> bytes = format.bytes;
  for (auto [index, extent] : enumerate(shape))
    bytes = bytes ? checkedMul(*bytes, index + 1 == shape.size() ? extent / format.elements : extent) : std::nullopt;
  return bytes;
}
