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

/// Weights whose codes come out of the same bytes, as one vector or as two: then pieces go to the one and the other by
/// turns, and activations in that order meet the codes without a shuffle.
struct Stripe {
  int64_t vectors, pieces, piece; ///< pieces of a vector, weights of a piece
  int64_t vectorWeights() const { return pieces * piece; }
  int64_t weights() const { return vectors * vectorWeights(); }
  /// The weight, of this stripe's, at byte i of its vectors one behind the other.
  int64_t weightAt(int64_t i) const {
    int64_t number = i % vectorWeights() / piece * vectors + i / vectorWeights();
    return number * piece + i % piece;
  }
};

/// The next stripe where `left` weights are left in a row, vectors having up to `bytes` bytes: a function of these alone,
/// so that ck.quantize_row and ck.int8_dot_tile agree.
Stripe stripeOf(Format format, int64_t bytes, int64_t left);

/// Unpacks blocks of one format (SPEC 5) from memref<N x i8>.
class BlockCodec {
public:
  using Value = mlir::Value;
  BlockCodec(VectorBuilder &b, Format format, Value bytes) : b(b), format(format), traits(traitsOf(format)), bytes(bytes) {}

  /// The codes of weights [first, first + count) behind byte `at`, where a block begins: count x i8, in order.
  /// count is 16, 32 or 64, first a multiple of it. Unsigned; those of q8_0 signed, with zero point 0.
  Value codes(Value at, int64_t first, int64_t count);
  /// The codes of the stripe that begins at weight `first` behind byte `at`: its vectors.
  llvm::SmallVector<Value, 2> stripeCodes(Value at, int64_t first, Stripe stripe);
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
  Value fifthBits(Value bits);
  Value block32Codes(Value at, int64_t first, int64_t count);
  Value q6kCodes(Value at, int64_t first, int64_t count);
  Value words(Value at, int64_t shift, int64_t count);
  Value halves(Value at, int64_t shift, int64_t count);
  Value toSingle(Value half);
  Scales q4kScales(Value at);
  /// The lower half of the vector shifted right by `a` bits, the upper by `c`; left where they are negative.
  Value shiftHalves(Value vector, int64_t a, int64_t c);

  Value bytes;
};

} // namespace ckjit::ck
#endif
