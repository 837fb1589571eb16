//===- MathPolynomials.cpp - exp and log without a library ----------------===//
#include "MathPolynomials.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace {
/// Arithmetic on values of one float type, scalar or vector.
struct Arithmetic {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(double value) {
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    return splat(b.getFloatAttr(element, value), type);
  }
  Value integer(int64_t value) { return splat(b.getIntegerAttr(getElementTypeOrSelf(integers()), value), integers()); }
  Value splat(TypedAttr attr, Type of) {
    if (auto vector = dyn_cast<VectorType>(of))
      attr = DenseElementsAttr::get(vector, cast<Attribute>(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Type integers() {
    Type element = b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value bits(Value x) { return arith::BitcastOp::create(b, loc, integers(), x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, loc, type, x); }
  /// x < y ? x : y, and y's place goes to a NaN in x's: matches minps and maxps.
  Value clamp(Value x, Value bound, bool above) {
    auto predicate = above ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value beyond = arith::CmpFOp::create(b, loc, predicate, x, bound);
    return arith::SelectOp::create(b, loc, beyond, bound, x);
  }
};

/// What differs between the two precisions.
struct Format {
  double highest, lowest; ///< exp over- and underflows beyond these
  double magic;           ///< 1.5 * 2^mantissa bits: adding it rounds to an integer
  double ln2High, ln2Low; ///< ln 2 with zeros at the end, and the rest
  int mantissaBits, bias, degree;
};
constexpr Format kSingle = {89.0, -104.0, 12582912.0, 0.693359375, -2.12194440054690583e-4, 23, 127, 7};
constexpr Format kDouble = {710.0, -746.0, 6755399441055744.0, 6.93147180369123816490e-01, 1.90821492927058770002e-10,
                            52, 1023, 13};
constexpr double kLog2E = 1.4426950408889634074;

double inverseFactorial(int n) {
  double product = 1;
  for (int i = 2; i <= n; ++i)
    product *= i;
  return 1 / product;
}

/// 2^n from the integer n in the exponent bits.
Value powerOfTwo(Arithmetic &a, Value n, const Format &format) {
  Value biased = arith::AddIOp::create(a.b, a.loc, n, a.integer(format.bias));
  return a.fromBits(arith::ShLIOp::create(a.b, a.loc, biased, a.integer(format.mantissaBits)));
}
} // namespace

Value ckjit::ck::expandExp(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a{builder, loc, x.getType()};
  const Format &format = getElementTypeOrSelf(x.getType()).isF64() ? kDouble : kSingle;
  x = a.clamp(x, a.constant(format.highest), true);
  x = a.clamp(x, a.constant(format.lowest), false);
  Value magic = a.constant(format.magic);
  Value shifted = a.fma(x, a.constant(kLog2E), magic);
  Value n = arith::SubIOp::create(builder, loc, a.bits(shifted), a.bits(magic));
  Value rounded = a.sub(shifted, magic);
  Value r = a.fma(rounded, a.constant(-format.ln2High), x);
  r = a.fma(rounded, a.constant(-format.ln2Low), r);
  Value p = a.constant(inverseFactorial(format.degree));
  for (int power = format.degree - 1; power >= 0; --power)
    p = a.fma(p, r, a.constant(inverseFactorial(power)));
  // Two factors, so that n = 128 reaches inf and n = -149 a denormal.
  Value half = arith::ShRSIOp::create(builder, loc, n, a.integer(1));
  Value rest = arith::SubIOp::create(builder, loc, n, half);
  return a.mul(a.mul(p, powerOfTwo(a, half, format)), powerOfTwo(a, rest, format));
}

Value ckjit::ck::expandLog(OpBuilder &builder, Location loc, Value x) {
  Type narrow = x.getType(), wide = builder.getF64Type();
  if (auto vector = dyn_cast<VectorType>(narrow))
    wide = vector.clone(wide);
  Arithmetic a{builder, loc, wide};
  Value bits = a.bits(arith::ExtFOp::create(builder, loc, wide, x));
  // Moving the split to sqrt(1/2) keeps m in [sqrt(1/2), sqrt(2)).
  constexpr int64_t kSqrtHalfBits = 0x3FE6A09E667F3BCD;
  Value moved = arith::SubIOp::create(builder, loc, bits, a.integer(kSqrtHalfBits));
  Value e = arith::ShRSIOp::create(builder, loc, moved, a.integer(52));
  Value m = a.fromBits(arith::SubIOp::create(builder, loc, bits,
                                             arith::ShLIOp::create(builder, loc, e, a.integer(52))));
  Value one = a.constant(1);
  Value s = arith::DivFOp::create(builder, loc, a.sub(m, one), a.add(m, one)), square = a.mul(s, s);
  constexpr int kLastTerm = 21;
  Value p = a.constant(1.0 / kLastTerm);
  for (int power = kLastTerm - 2; power >= 1; power -= 2)
    p = a.fma(p, square, a.constant(1.0 / power));
  Value scaled = arith::SIToFPOp::create(builder, loc, wide, e);
  Value result = a.fma(scaled, a.constant(0.69314718055994530942), a.mul(a.mul(s, a.constant(2)), p));
  // The bits of other numbers mean something else: log(0) = -inf, log(inf) = inf, NaN for NaN and what is negative.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Arithmetic in{builder, loc, narrow};
  auto is = [&](arith::CmpFPredicate predicate, double bound) {
    return arith::CmpFOp::create(builder, loc, predicate, x, in.constant(bound)).getResult();
  };
  auto choose = [&](Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no).getResult();
  };
  Value special = choose(is(arith::CmpFPredicate::OLT, 0), in.constant(std::nan("")), x);
  special = choose(is(arith::CmpFPredicate::OEQ, 0), in.constant(-kInfinity), special);
  Value inside = arith::AndIOp::create(builder, loc, is(arith::CmpFPredicate::OGT, 0), is(arith::CmpFPredicate::OLT, kInfinity));
  return choose(inside, arith::TruncFOp::create(builder, loc, narrow, result), special);
}
