//===- BlockCodec.h - Blocks of weights as vectors --------------*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_BLOCKCODEC_H
#define CKJIT_LIB_TRANSFORMS_BLOCKCODEC_H

#include "VectorBuilder.h"

namespace ckjit::ck {

/// Weights that a codec unpacks in one go: a block of the k-quants, up to eight blocks of 32.
inline constexpr int64_t kStepWeights = 256;

/// Features that share a scale in activations for weights of `format`.
inline int64_t activationBlock(mlir::MLIRContext *context, Format format) {
  return BlockType::get(context, format).getActivationBlock();
}

/// Unpacks blocks of one format (SPEC 5) from memref<N x i8>.
class BlockCodec {
public:
  using Value = mlir::Value;
  BlockCodec(VectorBuilder &b, Format format, Value bytes) : b(b), format(format), traits(traitsOf(format)), bytes(bytes) {}

  /// The codes of weights [first, first + count) behind byte `at`, where a block begins: count x i8, in order.
  /// count is 16, 32 or 64, first a multiple of it. Unsigned; those of q8_0 signed, with zero point 0.
  Value codes(Value at, int64_t first, int64_t count);
  struct Scales {
    Value scales, offsets; ///< one a group, fp32; offsets only with minima
  };
  /// Scales of the `weights` (at most kStepWeights) behind byte `at`.
  Scales scales(Value at, int64_t weights);

  VectorBuilder &b;
  Format format;
  FormatTraits traits;

private:
  Value nibbles(Value at, int64_t shift, int64_t first, int64_t count);
  Value fifthBits(Value at, int64_t shift, int64_t first, int64_t count);
  Value block32Codes(Value at, int64_t first, int64_t count);
  Value q6kCodes(Value at, int64_t first, int64_t count);
  Value halves(Value at, int64_t shift, int64_t count);
  Value toSingle(Value half);
  Scales q4kScales(Value at);
  /// `low` in the lower half of the vector shifted right by `a` bits, in the upper by `c`.
  Value shiftHalves(Value vector, int64_t a, int64_t c);

  Value bytes;
};

} // namespace ckjit::ck
#endif
