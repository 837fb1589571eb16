//===- QuantizedRun.h - Weights in blocks and what they multiply -*- C++ -*-===//
#ifndef CKJIT_TEST_JIT_QUANTIZEDRUN_H
#define CKJIT_TEST_JIT_QUANTIZEDRUN_H

#include "KernelRun.h"
#include "ckjit/Layout/WeightFormat.h"
#include <vector>

namespace ckjit::test {

/// A CPU by its name in LLVM, as far as this machine can run its code: without byte dot products from 128 to 512 bits,
/// and with them.
std::vector<TargetDescription> quantizedTargets();

/// How a matrix op is compiled and run.
struct Mode {
  const TargetDescription &target;
  DType type;
  bool panels; ///< activations in panels, else in rows
  bool int8;   ///< activations in codes, for weights in blocks
  bool strict;
  int64_t lanes() const { return panels ? target.vectorBits / 32 : 1; }
  std::string text() const;
};

/// Calls `check` for every target, every format but fp32, panels and rows, and codes, floats and strict floats.
void forModes(llvm::function_ref<void(const Mode &)> check);

/// What a memref of such weights is made of: "bf16", "!ck.block<q4_k>".
std::string elementOf(DType type);

/// What the blocks of a weight hold.
enum class Blocks {
  Mixed, ///< any codes under usual scales; among them blocks of zeros, of codes all at an end, of tiny and large scales
  Least, ///< bytes of codes at their least: of q8_0 -128
  Most,  ///< at their most
};
/// Fills whole blocks of `type`.
void fillBlocks(DType type, llvm::MutableArrayRef<uint8_t> bytes, Blocks blocks, uint64_t seed);
/// Makes the (first) scale of the block at `bytes` this half; of bf16 and fp16 the weight.
void setScale(DType type, uint8_t *bytes, uint16_t half);

/// A token's features as an op with weights in blocks sees them.
struct TokenCodes {
  std::vector<double> values; ///< scale * code
  std::vector<double> slack;  ///< the scale where x / scale lies between two codes within rounding, else 0
};
/// By ck.quantize's definition: of each block of `block` features scale = max |x| / 127 and codes = x / scale, rounded
/// half to even.
TokenCodes quantizedToken(llvm::ArrayRef<float> x, int64_t block);
/// Features that share a scale, of weights of this type.
int64_t activationBlock(DType type);

/// A matrix as the oracle knows it: dequantized, with what its own arithmetic may lose.
class Oracle {
public:
  /// `weight` is [rows][width] of whole blocks.
  Oracle(const Mode &mode, llvm::ArrayRef<uint8_t> weight, int64_t width);

  /// The sum over `x` (as long as a row, zeros where it is padded) times row `row`.
  Exact dot(llvm::ArrayRef<float> x, int64_t row) const;
  /// What a result may be off, where `after` roundings follow the sum.
  double allowed(const Exact &exact, int64_t after = 3) const;
  float weight(int64_t row, int64_t k) const { return weights[static_cast<size_t>(row * width + k)]; }

private:
  int64_t roundings() const; ///< of the sum alone

  Mode mode;
  int64_t width;
  std::vector<float> weights;
};

} // namespace ckjit::test
#endif
