//===- LowerUnpack.cpp - Rows out of blocks, rows into blocks -------------===//
#include "BlockCodec.h"
#include "LoopDialects.h"
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERUNPACK
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// Lowers one ck.unpack_row: a loop over steps of 256 weights, then what is left of the row.
class UnpackLowering {
public:
  UnpackLowering(UnpackRowOp op, TargetAttr target)
      : op(op), b(op, target), codec(b, op.getFormat(), op.getWeight()), traits(codec.traits), depth(op.getDepth()) {}

  void lower() {
    int64_t whole = depth / kStepWeights * kStepWeights;
    if (whole > 0)
      b.loop(0, whole, kStepWeights, {}, [&](Value k, ValueRange) {
        step(k, kStepWeights);
        return VectorBuilder::Values();
      });
    if (whole != depth)
      step(b.index(whole), depth - whole);
    op.erase();
  }

private:
  /// The `weights` from weight k on.
  void step(Value k, int64_t weights) {
    Value block = arith::DivUIOp::create(b, b.loc, k, b.index(traits.elements));
    Value at = b.addIndex(op.getFrom(), b.mulIndex(block, traits.bytes));
    BlockCodec::Scales scales = codec.scales(at, weights);
    Value to = b.addIndex(b.mulIndex(op.getRow(), depth), k);
    if (op.getOuts().size() == 1)
      return storeFloats(at, to, weights, scales);
    Value group = arith::DivUIOp::create(b, b.loc, k, b.index(traits.group));
    group = b.addIndex(b.mulIndex(op.getRow(), depth / traits.group), group);
    b.store(scales.scales, op.getOuts()[1], group);
    if (scales.offsets)
      b.store(scales.offsets, op.getOuts()[2], group);
    forChunks(at, weights, [&](Value codes, int64_t first, int64_t) {
      if (op.getFormat() == Format::Q8_0 && !op.getWide())
        codes = arith::XOrIOp::create(b, b.loc, codes, b.splatInt(width(codes), 8, 128));
      b.store(codes, op.getOuts()[0], to, first);
    });
  }

  void forChunks(Value at, int64_t weights, function_ref<void(Value codes, int64_t first, int64_t count)> body) {
    for (int64_t first = 0; first < weights;) {
      int64_t count = weights - first >= b.bytes ? b.bytes : 32;
      body(codec.codes(at, first, count), first, count);
      first += count;
    }
  }

  void storeFloats(Value at, Value to, int64_t weights, BlockCodec::Scales scales) {
    int64_t lanes = std::min(b.lanes(), traits.group);
    bool isSigned = op.getFormat() == Format::Q8_0;
    // scale*code + offset in one rounding: the products are exact, and so is the offset.
    Value offsets = scales.offsets;
    if (!offsets && !isSigned) {
      auto count = cast<VectorType>(scales.scales.getType()).getDimSize(0);
      offsets = b.mul(scales.scales, b.splat(count, static_cast<float>(-traits.zeroPoint)));
    }
    forChunks(at, weights, [&](Value codes, int64_t first, int64_t count) {
      for (int64_t i = 0; i < count; i += lanes) {
        int64_t group = (first + i) / traits.group;
        Value code = b.toFloat(b.slice(codes, i, lanes), isSigned);
        Value scale = b.broadcast(b.lane(scales.scales, group), lanes);
        Value weight = offsets ? b.fma(code, scale, b.broadcast(b.lane(offsets, group), lanes)) : b.mul(code, scale);
        b.store(weight, op.getOuts()[0], to, first + i);
      }
    });
  }

  static int64_t width(Value vector) { return cast<VectorType>(vector.getType()).getDimSize(0); }

  UnpackRowOp op;
  VectorBuilder b;
  BlockCodec codec;
  FormatTraits traits;
  int64_t depth;
};

/// Lowers one ck.quantize_row: loops over blocks, one for each length of stripes.
class QuantizeLowering {
public:
  QuantizeLowering(QuantizeRowOp op, TargetAttr target)
      : op(op), b(op, target), lanes(b.lanes()), depth(op.getDepth()), group(traitsOf(op.getFormat()).group),
        block(activationBlock(op.getContext(), op.getFormat())) {}

  void lower() {
    for (int64_t begin = 0; begin < depth;) {
      Stripe stripe = stripeOf(op.getFormat(), b.bytes, depth - begin);
      // In order, stripes of other lengths are no others.
      int64_t end = stripe.vectors == 1 ? depth : begin + (depth - begin) / stripe.weights() * stripe.weights();
      b.loop(begin / block, end / block, 1, {}, [&](Value i, ValueRange) {
        quantizeBlock(i, begin, stripe);
        return VectorBuilder::Values();
      });
      begin = end;
    }
    op.erase();
  }

private:
  /// Where feature k goes, behind the row's first code, in stripes like this one from feature `begin` on.
  Value placeOf(Value k, int64_t begin, Stripe stripe) {
    if (stripe.vectors == 1 || stripe.pieces == 1)
      return k;
    auto divide = [&](Value a, int64_t by) { return arith::DivUIOp::create(b, b.loc, a, b.index(by)).getResult(); };
    auto rest = [&](Value a, int64_t by) { return arith::RemUIOp::create(b, b.loc, a, b.index(by)).getResult(); };
    Value own = b.addIndex(k, -begin), within = rest(own, stripe.weights()), number = divide(within, stripe.piece);
    Value place = b.mulIndex(rest(number, stripe.vectors), stripe.pieces);
    place = b.mulIndex(b.addIndex(place, divide(number, stripe.vectors)), stripe.piece);
    place = b.addIndex(place, rest(within, stripe.piece));
    return b.addIndex(place, arith::SubIOp::create(b, b.loc, k, within));
  }

  void quantizeBlock(Value i, int64_t begin, Stripe stripe) {
    Value first = b.mulIndex(i, block), from = b.addIndex(op.getFrom(), first);
    Value row = b.mulIndex(op.getToken(), depth);
    Value magnitude = magnitudeOf(from);
    QuantizedScale scale = scaleOf(b, magnitude);
    Value place = b.addIndex(b.mulIndex(op.getToken(), depth / block), i);
    memref::StoreOp::create(b, b.loc, scale.scale, op.getScales(), place);
    Value factor = b.broadcast(scale.inverse, lanes);
    Value groups = b.mulIndex(i, block / group);
    groups = b.addIndex(groups, b.mulIndex(op.getToken(), depth / group));
    b.loop(0, block / group, 1, {}, [&](Value g, ValueRange) {
      Value at = b.mulIndex(g, group);
      Value sum;
      for (int64_t f = 0; f < group; f += lanes) {
        Value x = b.loadFloats(op.getX(), b.addIndex(from, at), f, lanes);
        Value code = codesOf(b, x, factor);
        Value bytes = arith::TruncIOp::create(b, b.loc, VectorType::get({lanes}, b.getI8Type()), code);
        Value place = placeOf(b.addIndex(b.addIndex(first, at), f), begin, stripe);
        b.store(bytes, op.getCodes(), b.addIndex(row, place));
        sum = sum ? b.add(sum, code) : code;
      }
      Value total = vector::ReductionOp::create(b, b.loc, vector::CombiningKind::ADD, sum);
      Value single = arith::SIToFPOp::create(b, b.loc, b.getF32Type(), total);
      memref::StoreOp::create(b, b.loc, b.mul(single, scale.scale), op.getSums(), b.addIndex(groups, g));
      return VectorBuilder::Values();
    });
  }

  /// The largest |x| of the block, as bits.
  Value magnitudeOf(Value from) {
    Value zero = b.splatInt(lanes, 32, 0);
    Value largest = b.loop(0, block, lanes, {zero}, [&](Value f, ValueRange carried) {
      Value x = b.loadFloats(op.getX(), b.addIndex(from, f), 0, lanes);
      return VectorBuilder::Values{
          arith::MaxSIOp::create(b, b.loc, b.bitAnd(b.castInts(x, 32), 0x7fffffff), carried[0])};
    })[0];
    Value bits = vector::ReductionOp::create(b, b.loc, vector::CombiningKind::MAXSI, largest);
    return arith::BitcastOp::create(b, b.loc, b.getF32Type(), bits);
  }

  QuantizeRowOp op;
  VectorBuilder b;
  int64_t lanes, depth, group, block;
};

struct LowerUnpackPass : impl::LowerUnpackBase<LowerUnpackPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<UnpackRowOp, QuantizeRowOp>(op))
        ops.push_back(op);
    });
    TargetAttr target = ops.empty() ? TargetAttr() : targetOf(ops.front());
    if (!ops.empty() && !target)
      return signalPassFailure();
    for (Operation *op : ops) {
      if (auto unpack = dyn_cast<UnpackRowOp>(op))
        UnpackLowering(unpack, target).lower();
      else
        QuantizeLowering(cast<QuantizeRowOp>(op), target).lower();
      ++lowered;
    }
  }
};
} // namespace
} // namespace ckjit::ck
