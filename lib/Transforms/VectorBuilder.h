//===- VectorBuilder.h - Byte vectors on the target's instructions -*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_VECTORBUILDER_H
#define CKJIT_LIB_TRANSFORMS_VECTORBUILDER_H

#include "ckjit/Dialect/CK/CKDialect.h"
#include "mlir/IR/Builders.h"

namespace ckjit::ck {

/// True if the target has LLVM's feature of that name, e.g. "avx512vnni".
bool hasFeature(TargetAttr target, llvm::StringRef name);

/// Builds ops on vectors of integers and floats at one place. Loads and stores are on flat memrefs of bytes or fp32.
class VectorBuilder : public mlir::OpBuilder {
public:
  VectorBuilder(mlir::Operation *op, TargetAttr target)
      : OpBuilder(op), loc(op->getLoc()), target(target), bytes(target.getVectorBits() / 8) {}

  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  Value index(int64_t value);
  /// A vector of `count` times `value`.
  Value splat(int64_t count, float value);
  Value splatInt(int64_t count, unsigned bits, int64_t value);
  Value addIndex(Value a, Value b);
  Value addIndex(Value a, int64_t b) { return b == 0 ? a : addIndex(a, index(b)); }
  Value mulIndex(Value a, int64_t b);

  /// `count` bytes from byte `at + shift` of memref<N x i8>.
  Value loadBytes(Value memref, Value at, int64_t shift, int64_t count);
  /// The same as elements of `bits` bits: an integer vector.
  Value loadInts(Value memref, Value at, int64_t shift, int64_t count, unsigned bits);
  /// `count` floats from byte `at + shift` of memref<N x i8>, or from element `at + shift` of memref<N x f32>.
  Value loadFloats(Value memref, Value at, int64_t shift, int64_t count);
  void store(Value vector, Value memref, Value at, int64_t shift = 0);
  Value loadHalf(Value memref, Value at, int64_t shift); ///< two bytes as f16
  Value load(Value memref, Value at, int64_t shift = 0); ///< one element

  /// The same bits as elements of another type.
  Value cast(Value vector, mlir::Type element);
  Value castInts(Value vector, unsigned bits) { return cast(vector, getIntegerType(bits)); }
  Value broadcast(Value scalar, int64_t count);
  Value shuffle(Value a, Value b, llvm::ArrayRef<int64_t> order);
  Value slice(Value vector, int64_t first, int64_t count);
  Value concat(Value a, Value b);
  Value lane(Value vector, int64_t index);

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value bitAnd(Value a, int64_t mask);
  Value bitAnd(Value a, Value b);
  Value bitOr(Value a, Value b);
  Value shiftRight(Value a, int64_t by); ///< logical
  Value shiftLeft(Value a, int64_t by);
  Value fma(Value a, Value b, Value c);
  /// Integers to fp32, bytes through 32 bits.
  Value toFloat(Value integers, bool isSigned);

  /// acc + the sum of 4 neighbouring products; `u` unsigned bytes, below 130 unless hasByteDot(), `s` signed ones.
  Value dot(Value acc, Value u, Value s);
  /// The same for signed bytes.
  Value dotSigned(Value acc, Value a, Value b);
  /// Products of neighbours summed to 16 bits, of `u` unsigned and `s` signed bytes, where hasBytePairs(their number).
  Value bytePairs(Value u, Value s);
  bool hasBytePairs(int64_t count) const;
  /// Neighbours of 16 bits summed to 32.
  Value sumPairs(Value pairs);
  /// dot() takes any unsigned bytes: there is one instruction for it.
  bool hasByteDot() const;

  /// for i in [lo, hi) by `step`, carrying values.
  Values loop(Value lo, Value hi, int64_t step, Values init,
              llvm::function_ref<Values(Value iv, mlir::ValueRange carried)> body);
  Values loop(int64_t lo, int64_t hi, int64_t step, Values init,
              llvm::function_ref<Values(Value iv, mlir::ValueRange carried)> body) {
    return loop(index(lo), index(hi), step, init, body);
  }

  int64_t lanes() const { return bytes / 4; }

  mlir::Location loc;
  TargetAttr target;
  int64_t bytes; ///< of a vector register

private:
  Value call(llvm::StringRef intrinsic, mlir::Type type, mlir::ValueRange operands);
  Value multiplyPairs(Value a, Value b); ///< i16 x i16, neighbours summed to i32
};

/// Scale and 127 / largest of a block of activations whose largest magnitude is `largest` (a scalar or one a lane); both
/// are 0 for zeros.
struct QuantizedScale {
  mlir::Value scale, inverse;
};
QuantizedScale scaleOf(VectorBuilder &b, mlir::Value largest);
/// x * inverse, rounded half to even: 32-bit integers in [-127, 127] for finite x.
mlir::Value codesOf(VectorBuilder &b, mlir::Value x, mlir::Value inverse);

} // namespace ckjit::ck
#endif
