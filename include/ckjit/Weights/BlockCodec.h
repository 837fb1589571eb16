//===- BlockCodec.h - Weights in blocks, as floats --------------*- C++ -*-===//
#ifndef CKJIT_WEIGHTS_BLOCKCODEC_H
#define CKJIT_WEIGHTS_BLOCKCODEC_H

#include "ckjit/Layout/ArenaPlan.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace ckjit {

/// The value of an IEEE half; exact, and NaN and Inf stay what they are.
float halfToFloat(uint16_t half);
/// The nearest half, ties to even; Inf from 65520 on.
uint16_t floatToHalf(float value);
/// The value of a bfloat16: the upper half of an fp32.
float bf16ToFloat(uint16_t bf16);
/// The nearest bfloat16, ties to even.
uint16_t floatToBf16(float value);

/// The weights of whole blocks of `type`, each the formula of SPEC 5, rounded once. NaN and Inf in a scale make weights
/// of the block NaN or Inf. `values` holds as many weights as `bytes` does.
void dequantize(DType type, llvm::ArrayRef<uint8_t> bytes, llvm::MutableArrayRef<float> values);

/// The elements of a tensor in fp32 file order: of a quantized wo, [aD][H*ad] (spec.heads), as [H][aD][ad]. `spec` as
/// weightTensors gives it for `type`. Error unless `bytes` and `values` have the tensor's sizes.
llvm::Error dequantizeTensor(const TensorSpec &spec, DType type, llvm::ArrayRef<uint8_t> bytes,
                             llvm::MutableArrayRef<float> values);

/// Whether weights that are exactly 0 stay so. Where padding shares a block with weights they must, and the formats
/// with an offset (q4_1, q5_1, q4_k) then choose from fewer scales.
enum class Zeros : bool { Free, Kept };

/// Encodes whole blocks so that the sum of squared errors is small (a search over scales); the same bytes on every
/// machine. Returns the place of the first value that cannot be encoded, if there is one: it isn't finite, or it is
/// the largest of a block whose scale would pass fp16's range (of fp16 and bf16: it would become infinite).
std::optional<size_t> quantize(DType type, llvm::ArrayRef<float> values, llvm::MutableArrayRef<uint8_t> bytes,
                               Zeros zeros = Zeros::Free);

} // namespace ckjit
#endif
