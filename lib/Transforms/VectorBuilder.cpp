//===- VectorBuilder.cpp - Byte vectors on the target's instructions ------===//
#include "VectorBuilder.h"
#include "LoopDialects.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ckjit::ck;

bool ckjit::ck::hasFeature(TargetAttr target, StringRef name) {
  SmallVector<StringRef> features;
  target.getFeatures().getValue().split(features, ',');
  return llvm::any_of(features, [&](StringRef feature) { return feature.consume_front("+") && feature == name; });
}

namespace {
VectorType typeOf(Value value) { return cast<VectorType>(value.getType()); }
int64_t sizeOf(Value value) { return typeOf(value).getDimSize(0); }
unsigned bitsOf(Value value) { return typeOf(value).getElementTypeBitWidth(); }
bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }
} // namespace

Value VectorBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, loc, value); }

Value VectorBuilder::splat(int64_t count, float value) {
  auto type = VectorType::get({count}, getF32Type());
  return arith::ConstantOp::create(*this, loc, DenseElementsAttr::get(type, value));
}

Value VectorBuilder::splatInt(int64_t count, unsigned bits, int64_t value) {
  auto type = VectorType::get({count}, getIntegerType(bits));
  return arith::ConstantOp::create(*this, loc, DenseElementsAttr::get(type, getIntegerAttr(type.getElementType(), value)));
}

Value VectorBuilder::addIndex(Value a, Value b) { return arith::AddIOp::create(*this, loc, a, b); }

Value VectorBuilder::mulIndex(Value a, int64_t b) {
  return b == 1 ? a : arith::MulIOp::create(*this, loc, a, index(b)).getResult();
}

Value VectorBuilder::loadBytes(Value memref, Value at, int64_t shift, int64_t count) {
  return vector::LoadOp::create(*this, loc, VectorType::get({count}, getI8Type()), memref, addIndex(at, shift));
}

Value VectorBuilder::loadInts(Value memref, Value at, int64_t shift, int64_t count, unsigned bits) {
  return castInts(loadBytes(memref, at, shift, count * bits / 8), bits);
}

Value VectorBuilder::loadFloats(Value memref, Value at, int64_t shift, int64_t count) {
  if (::cast<MemRefType>(memref.getType()).getElementType().isF32())
    return vector::LoadOp::create(*this, loc, VectorType::get({count}, getF32Type()), memref, addIndex(at, shift));
  return cast(loadBytes(memref, at, shift, 4 * count), getF32Type());
}

void VectorBuilder::store(Value vector, Value memref, Value at, int64_t shift) {
  if (typeOf(vector).getElementType() != ::cast<MemRefType>(memref.getType()).getElementType())
    vector = castInts(vector, 8);
  vector::StoreOp::create(*this, loc, vector, memref, addIndex(at, shift));
}

Value VectorBuilder::loadHalf(Value memref, Value at, int64_t shift) {
  return lane(cast(loadBytes(memref, at, shift, 2), getF16Type()), 0);
}

Value VectorBuilder::load(Value memref, Value at, int64_t shift) {
  return memref::LoadOp::create(*this, loc, memref, addIndex(at, shift));
}

Value VectorBuilder::cast(Value vector, Type element) {
  VectorType type = typeOf(vector);
  if (type.getElementType() == element)
    return vector;
  int64_t count = type.getDimSize(0) * type.getElementTypeBitWidth() / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(*this, loc, VectorType::get({count}, element), vector);
}

Value VectorBuilder::broadcast(Value scalar, int64_t count) {
  return vector::BroadcastOp::create(*this, loc, VectorType::get({count}, scalar.getType()), scalar);
}

Value VectorBuilder::shuffle(Value a, Value b, ArrayRef<int64_t> order) {
  return vector::ShuffleOp::create(*this, loc, a, b, order);
}

Value VectorBuilder::slice(Value vector, int64_t first, int64_t count) {
  if (count == sizeOf(vector))
    return vector;
  return shuffle(vector, vector, llvm::to_vector(llvm::seq<int64_t>(first, first + count)));
}

Value VectorBuilder::concat(Value a, Value b) {
  return shuffle(a, b, llvm::to_vector(llvm::seq<int64_t>(0, sizeOf(a) + sizeOf(b))));
}

Value VectorBuilder::lane(Value vector, int64_t index) { return vector::ExtractOp::create(*this, loc, vector, index); }

Value VectorBuilder::add(Value a, Value b) {
  return isFloat(a) ? arith::AddFOp::create(*this, loc, a, b).getResult() : arith::AddIOp::create(*this, loc, a, b);
}
Value VectorBuilder::sub(Value a, Value b) {
  return isFloat(a) ? arith::SubFOp::create(*this, loc, a, b).getResult() : arith::SubIOp::create(*this, loc, a, b);
}
Value VectorBuilder::mul(Value a, Value b) {
  return isFloat(a) ? arith::MulFOp::create(*this, loc, a, b).getResult() : arith::MulIOp::create(*this, loc, a, b);
}

/// An integer of the same type as `like`.
static Value constantLike(VectorBuilder &b, Value like, int64_t value) {
  if (isa<VectorType>(like.getType()))
    return b.splatInt(sizeOf(like), bitsOf(like), value);
  return arith::ConstantOp::create(b, b.loc, b.getIntegerAttr(like.getType(), value));
}

Value VectorBuilder::bitAnd(Value a, int64_t mask) { return bitAnd(a, constantLike(*this, a, mask)); }
Value VectorBuilder::bitAnd(Value a, Value b) { return arith::AndIOp::create(*this, loc, a, b); }
Value VectorBuilder::bitOr(Value a, Value b) { return arith::OrIOp::create(*this, loc, a, b); }
Value VectorBuilder::shiftRight(Value a, int64_t by) {
  return by == 0 ? a : arith::ShRUIOp::create(*this, loc, a, constantLike(*this, a, by)).getResult();
}
Value VectorBuilder::shiftLeft(Value a, int64_t by) {
  return by == 0 ? a : arith::ShLIOp::create(*this, loc, a, constantLike(*this, a, by)).getResult();
}
Value VectorBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(*this, loc, a, b, c); }

Value VectorBuilder::toFloat(Value integers, bool isSigned) {
  auto wide = VectorType::get({sizeOf(integers)}, getI32Type());
  if (bitsOf(integers) < 32)
    integers = isSigned ? arith::ExtSIOp::create(*this, loc, wide, integers).getResult()
                        : arith::ExtUIOp::create(*this, loc, wide, integers).getResult();
  // Values of fewer bits than 32 are the same signed.
  return arith::SIToFPOp::create(*this, loc, wide.clone(getF32Type()), integers);
}

Value VectorBuilder::call(StringRef intrinsic, Type type, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(*this, loc, type, getStringAttr(intrinsic), operands).getResults();
}

bool VectorBuilder::hasByteDot() const { return hasFeature(target, "avx512vnni") || hasFeature(target, "avxvnni"); }

Value VectorBuilder::multiplyPairs(Value a, Value b) {
  int64_t width = sizeOf(a) * 2;
  Type type = VectorType::get({width / 4}, getI32Type());
  if (width == 64 && hasFeature(target, "avx512bw"))
    return call("llvm.x86.avx512.pmaddw.d.512", type, {a, b});
  if (width == 32 && hasFeature(target, "avx2"))
    return call("llvm.x86.avx2.pmadd.wd", type, {a, b});
  if (width == 16 && hasFeature(target, "sse2"))
    return call("llvm.x86.sse2.pmadd.wd", type, {a, b});
  // Neighbours as the halves of 32 bits.
  auto half = [&](Value pairs, int64_t by) {
    Value wide = castInts(pairs, 32);
    Value sixteen = splatInt(width / 4, 32, 16);
    if (by == 0)
      wide = arith::ShLIOp::create(*this, loc, wide, sixteen);
    return arith::ShRSIOp::create(*this, loc, wide, sixteen).getResult();
  };
  return add(mul(half(a, 0), half(b, 0)), mul(half(a, 1), half(b, 1)));
}

bool VectorBuilder::hasBytePairs(int64_t count) const {
  return hasFeature(target, count == 64 ? "avx512bw" : count == 32 ? "avx2" : "ssse3");
}

Value VectorBuilder::bytePairs(Value u, Value s) {
  int64_t width = sizeOf(u);
  StringRef name = width == 64   ? "llvm.x86.avx512.pmaddubs.w.512"
                   : width == 32 ? "llvm.x86.avx2.pmadd.ub.sw"
                                 : "llvm.x86.ssse3.pmadd.ub.sw.128";
  return call(name, VectorType::get({width / 2}, getI16Type()), {u, s});
}

Value VectorBuilder::sumPairs(Value pairs) { return multiplyPairs(pairs, splatInt(sizeOf(pairs), 16, 1)); }

Value VectorBuilder::dot(Value acc, Value u, Value s) {
  int64_t width = sizeOf(u);
  if (hasByteDot()) {
    std::string name = "llvm.x86.avx512.vpdpbusd." + std::to_string(width * 8);
    return call(name, acc.getType(), {acc, u, s});
  }
  if (hasBytePairs(width))
    return add(acc, sumPairs(bytePairs(u, s)));
  // Byte i of 32 bits, unsigned and signed.
  Value wideU = castInts(u, 32), wideS = castInts(s, 32);
  for (int64_t i = 0; i < 4; ++i) {
    Value signedByte = arith::ShRSIOp::create(*this, loc, shiftLeft(wideS, 24 - 8 * i), splatInt(width / 4, 32, 24));
    acc = add(acc, mul(bitAnd(shiftRight(wideU, 8 * i), 255), signedByte));
  }
  return acc;
}

Value VectorBuilder::dotSigned(Value acc, Value a, Value b) {
  int64_t width = sizeOf(a);
  // The even and the odd bytes, as 16 bits.
  auto bytesOf = [&](Value bytes, bool odd) {
    Value pairs = castInts(bytes, 16), eight = splatInt(width / 2, 16, 8);
    return arith::ShRSIOp::create(*this, loc, odd ? pairs : shiftLeft(pairs, 8), eight).getResult();
  };
  acc = add(acc, multiplyPairs(bytesOf(a, false), bytesOf(b, false)));
  return add(acc, multiplyPairs(bytesOf(a, true), bytesOf(b, true)));
}

VectorBuilder::Values VectorBuilder::loop(Value lo, Value hi, int64_t step, Values init,
                                          function_ref<Values(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(*this, loc, lo, hi, index(step), init);
  OpBuilder::InsertionGuard restore(*this);
  if (init.empty()) {
    setInsertionPoint(made.getBody()->getTerminator());
    body(made.getInductionVar(), {});
    return {};
  }
  setInsertionPointToStart(made.getBody());
  scf::YieldOp::create(*this, loc, body(made.getInductionVar(), made.getRegionIterArgs()));
  return Values(made.getResults());
}

QuantizedScale ckjit::ck::scaleOf(VectorBuilder &b, Value largest) {
  auto constant = [&](float value) -> Value {
    if (auto vector = dyn_cast<VectorType>(largest.getType()))
      return b.splat(vector.getDimSize(0), value);
    return arith::ConstantOp::create(b, b.loc, b.getF32FloatAttr(value));
  };
  Value most = constant(127.0f), zero = constant(0.0f);
  Value scale = arith::DivFOp::create(b, b.loc, largest, most);
  Value inverse = arith::DivFOp::create(b, b.loc, most, largest);
  // The scale of tiny values is no normal number, and 127 / largest infinite: then they count as zeros.
  Value least = constant(1.1754944e-36f);
  Value tiny = arith::CmpFOp::create(b, b.loc, arith::CmpFPredicate::OLT, largest, least);
  return {arith::SelectOp::create(b, b.loc, tiny, zero, scale), arith::SelectOp::create(b, b.loc, tiny, zero, inverse)};
}

Value ckjit::ck::codesOf(VectorBuilder &b, Value x, Value inverse) {
  // Adding 1.5 * 2^23 leaves the rounded number in the low bits, whatever x is; a conversion would be undefined for NaN.
  int64_t count = sizeOf(x);
  constexpr float kRound = 12582912.0f;
  constexpr int64_t kRoundBits = 0x4B400000;
  Value rounded = b.fma(x, inverse, b.splat(count, kRound));
  return b.sub(b.castInts(rounded, 32), b.splatInt(count, 32, kRoundBits));
}
