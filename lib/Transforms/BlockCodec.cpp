//===- BlockCodec.cpp - Blocks of weights as vectors ----------------------===//
#include "BlockCodec.h"
#include "LoopDialects.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ckjit::ck;

namespace {
// Where the parts of a block begin, in bytes (SPEC 5).
constexpr int64_t kQ4KScales = 4, kQ4KCodes = 16;
constexpr int64_t kQ6KHigh = 128, kQ6KScales = 192, kQ6KScale = 208;

int64_t codesAt(Format format) {
  switch (format) {
  case Format::Q4_0:
  case Format::Q8_0: return 2;
  case Format::Q4_1: return 4;
  case Format::Q5_0: return 6;
  case Format::Q5_1: return 8;
  case Format::Q4_K: return kQ4KCodes;
  case Format::Q6_K: return 0;
  }
  llvm_unreachable("every format has codes");
}
} // namespace

/// Shifts in 32 bits, as no machine shifts bytes: bits of a neighbour come in, the caller masks them.
Value BlockCodec::shiftHalves(Value vector, int64_t a, int64_t c) {
  assert(a * c >= 0 && "both halves go the same way");
  if (a == 0 && c == 0)
    return vector;
  Value wide = b.castInts(vector, 32);
  int64_t count = cast<VectorType>(wide.getType()).getDimSize(0);
  SmallVector<int32_t> by(count, static_cast<int32_t>(std::abs(a)));
  std::fill(by.begin() + count / 2, by.end(), static_cast<int32_t>(std::abs(c)));
  Value shifts = arith::ConstantOp::create(b, b.loc, b.getI32VectorAttr(by));
  bool left = a < 0 || c < 0;
  return b.castInts(left ? arith::ShLIOp::create(b, b.loc, wide, shifts).getResult()
                         : arith::ShRUIOp::create(b, b.loc, wide, shifts).getResult(), 8);
}

/// Nibbles of a run of 2*half codes whose low nibbles come first: codes [first, first + count).
Value BlockCodec::nibbles(Value at, int64_t shift, int64_t first, int64_t count) {
  // q4_k: runs of 64 in 32 bytes; the others: of 32 in 16.
  int64_t half = format == Format::Q4_K ? 32 : 16, run = 2 * half;
  int64_t place = shift + first / run * half, within = first % run;
  if (count == run) {
    Value loaded = b.loadBytes(bytes, at, place, half);
    return b.bitAnd(shiftHalves(b.concat(loaded, loaded), 0, 4), 15);
  }
  assert(count <= half && "a vector of codes is a run or lies in half of one");
  Value loaded = b.loadBytes(bytes, at, place + within % half, count);
  int64_t by = within < half ? 0 : 4;
  return b.bitAnd(shiftHalves(loaded, by, by), 15);
}

/// 16 where the code's bit of the 32 at `at` is set.
Value BlockCodec::fifthBits(Value at, int64_t shift, int64_t first, int64_t count) {
  Value word = b.loadInts(bytes, at, shift, 1, 32);
  return fifthBits(b.slice(b.cast(word, b.getI1Type()), first, count));
}
Value BlockCodec::fifthBits(Value bits) {
  int64_t count = cast<VectorType>(bits.getType()).getDimSize(0);
  return arith::SelectOp::create(b, b.loc, bits, b.splatInt(count, 8, 16), b.splatInt(count, 8, 0));
}

/// `first` and `count` inside one block of 32.
Value BlockCodec::block32Codes(Value at, int64_t first, int64_t count) {
  int64_t shift = codesAt(format);
  if (format == Format::Q8_0)
    return b.loadBytes(bytes, at, shift + first, count);
  Value codes = nibbles(at, shift, first, count);
  if (format == Format::Q5_0 || format == Format::Q5_1)
    codes = b.bitOr(codes, fifthBits(at, shift - 4, first, count));
  return codes;
}

Value BlockCodec::q6kCodes(Value at, int64_t first, int64_t count) {
  // 128 codes: 64 low nibbles, the 64 high ones; two more bits of each in 32 bytes.
  int64_t half = first / 128, within = first % 128;
  Value low = b.loadBytes(bytes, at, half * 64 + within % 64, count);
  int64_t by = within < 64 ? 0 : 4;
  low = b.bitAnd(shiftHalves(low, by, by), 15);
  // The two bits of quarter q begin at bit 2q, and go to bit 4.
  int64_t quarter = within / 32, left = 4 - 2 * quarter;
  Value high = b.loadBytes(bytes, at, kQ6KHigh + half * 32 + within % 32, std::min<int64_t>(count, 32));
  if (count == 64)
    high = shiftHalves(b.concat(high, high), -left, 2 - left);
  else
    high = shiftHalves(high, -left, -left);
  return b.bitOr(low, b.bitAnd(high, 0x30));
}

Value BlockCodec::codes(Value at, int64_t first, int64_t count) {
  if (format == Format::Q6_K)
    return q6kCodes(at, first, count);
  if (format == Format::Q4_K)
    return nibbles(at, kQ4KCodes, first, count);
  Value block = b.addIndex(at, first / 32 * traits.bytes);
  if (count <= 32)
    return block32Codes(block, first % 32, count);
  if (format == Format::Q8_0)
    return b.concat(block32Codes(block, 0, 32), block32Codes(b.addIndex(block, traits.bytes), 0, 32));
  // Nibbles of both blocks at once.
  Value next = b.addIndex(block, traits.bytes);
  Value first16 = b.loadBytes(bytes, block, codesAt(format), 16), next16 = b.loadBytes(bytes, next, codesAt(format), 16);
  SmallVector<int64_t> order;
  for (int64_t from : {0, 0, 16, 16})
    llvm::append_range(order, llvm::seq<int64_t>(from, from + 16));
  Value wide = b.castInts(b.shuffle(first16, next16, order), 32);
  SmallVector<int32_t> by;
  for (int32_t shift : {0, 4, 0, 4})
    by.append(4, shift);
  Value shifts = arith::ConstantOp::create(b, b.loc, b.getI32VectorAttr(by));
  Value codes = b.bitAnd(b.castInts(arith::ShRUIOp::create(b, b.loc, wide, shifts), 8), 15);
  if (format == Format::Q5_0 || format == Format::Q5_1)
    codes = b.bitOr(codes, b.concat(fifthBits(block, codesAt(format) - 4, 0, 32), fifthBits(next, codesAt(format) - 4, 0, 32)));
  return codes;
}

Stripe ckjit::ck::stripeOf(Format format, int64_t bytes, int64_t left) {
  int64_t most = llvm::bit_floor(static_cast<uint64_t>(left));
  switch (format) {
  case Format::Q4_0:
  case Format::Q4_1:
  case Format::Q5_0:
  case Format::Q5_1: return {2, std::min(bytes, most / 2) / 16, 16};
  case Format::Q4_K:
    if (bytes >= 32)
      return {2, bytes / 32, 32};
    break;
  case Format::Q8_0:
  case Format::Q6_K: break;
  }
  return {1, 1, std::min(bytes, most)};
}

SmallVector<Value, 2> BlockCodec::stripeCodes(Value at, int64_t first, Stripe stripe) {
  if (stripe.vectors == 1)
    return {codes(at, first, stripe.piece)};
  // Low nibbles are the one vector's pieces, high nibbles the other's.
  int64_t pieces = stripe.pieces;
  Value block = b.addIndex(at, first / traits.elements * traits.bytes);
  bool kQuant = format == Format::Q4_K;
  auto bytesOf = [&](int64_t i) {
    return b.loadBytes(bytes, block, codesAt(format) + i * traits.bytes, stripe.piece);
  };
  Value loaded = kQuant ? b.loadBytes(bytes, block, kQ4KCodes + first % traits.elements / 2, stripe.vectorWeights())
                        : bytesOf(0);
  if (!kQuant && pieces == 4)
    loaded = b.concat(b.concat(loaded, bytesOf(1)), b.concat(bytesOf(2), bytesOf(3)));
  else if (!kQuant && pieces == 2)
    loaded = b.concat(loaded, bytesOf(1));
  SmallVector<Value, 2> codes{b.bitAnd(loaded, 15), b.bitAnd(shiftHalves(loaded, 4, 4), 15)};
  if (format != Format::Q5_0 && format != Format::Q5_1)
    return codes;
  for (auto [half, code] : llvm::enumerate(codes)) {
    Value bits = words(block, codesAt(format) - 4 + 2 * static_cast<int64_t>(half), pieces);
    code = b.bitOr(code, fifthBits(b.cast(bits, b.getI1Type())));
  }
  return codes;
}

Value BlockCodec::toSingle(Value half) {
  Type type = b.getF32Type();
  if (auto vector = dyn_cast<VectorType>(half.getType()))
    type = vector.clone(type);
  return arith::ExtFOp::create(b, b.loc, type, half);
}

/// The 16 bits at byte `shift` of `count` blocks in a row.
Value BlockCodec::words(Value at, int64_t shift, int64_t count) {
  auto word = [&](int64_t i) { return b.lane(b.loadInts(bytes, at, i * traits.bytes + shift, 1, 16), 0); };
  SmallVector<Value> elements;
  if (count % 4 != 0) {
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(word(i));
    return vector::FromElementsOp::create(b, b.loc, VectorType::get({count}, b.getI16Type()), elements);
  }
  // Four by four in general registers, whose units idle meanwhile, rather than one by one into the vector.
  for (int64_t first = 0; first < count; first += 4) {
    Value four;
    for (int64_t i = 0; i < 4; ++i) {
      Value wide = b.shiftLeft(arith::ExtUIOp::create(b, b.loc, b.getI64Type(), word(first + i)), 16 * i);
      four = four ? b.bitOr(four, wide) : wide;
    }
    elements.push_back(four);
  }
  return b.castInts(vector::FromElementsOp::create(b, b.loc, VectorType::get({count / 4}, b.getI64Type()), elements), 16);
}

/// The half floats at byte `shift` of `count` blocks in a row.
Value BlockCodec::halves(Value at, int64_t shift, int64_t count) {
  return toSingle(b.cast(words(at, shift, count), b.getF16Type()));
}

/// Six bits of each of eight scales and minima in twelve bytes (SPEC 5).
BlockCodec::Scales BlockCodec::q4kScales(Value at) {
  Value word[3];
  for (int64_t i = 0; i < 3; ++i)
    word[i] = b.lane(b.loadInts(bytes, at, kQ4KScales + 4 * i, 1, 32), 0);
  auto six = [&](Value w) { return b.bitAnd(w, 0x3f3f3f3f); };
  auto top = [&](Value w) { return b.shiftLeft(b.bitAnd(b.shiftRight(w, 6), 0x03030303), 4); };
  auto eight = [&](Value low, Value high, int64_t shift) {
    Value words = vector::FromElementsOp::create(b, b.loc, VectorType::get({2}, b.getI32Type()), ValueRange{low, high});
    Value factor = b.broadcast(toSingle(b.loadHalf(bytes, at, shift)), 8);
    return b.mul(b.toFloat(b.castInts(words, 8), /*isSigned=*/false), factor);
  };
  Value low4 = b.bitAnd(word[2], 0x0f0f0f0f), high4 = b.bitAnd(b.shiftRight(word[2], 4), 0x0f0f0f0f);
  Value scales = eight(six(word[0]), b.bitOr(low4, top(word[0])), 0);
  Value minima = eight(six(word[1]), b.bitOr(high4, top(word[1])), 2);
  return {scales, arith::NegFOp::create(b, b.loc, minima)};
}

BlockCodec::Scales BlockCodec::scales(Value at, int64_t weights) {
  switch (format) {
  case Format::Q4_K: return q4kScales(at);
  case Format::Q6_K: {
    Value factor = b.broadcast(toSingle(b.loadHalf(bytes, at, kQ6KScale)), 16);
    return {b.mul(b.toFloat(b.loadBytes(bytes, at, kQ6KScales, 16), /*isSigned=*/true), factor), Value()};
  }
  default:
    return {halves(at, 0, weights / 32), traits.minima ? halves(at, 2, weights / 32) : Value()};
  }
}
