//===- BlockCodec.h - Weights in blocks, as floats --------------*- C++ -*-===//
#ifndef CKJIT_WEIGHTS_BLOCKCODEC_H
#define CKJIT_WEIGHTS_BLOCKCODEC_H

#include "ckjit/Layout/ArenaPlan.h"
#include "llvm/ADT/ArrayRef.h"

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

} // namespace ckjit
#endif
