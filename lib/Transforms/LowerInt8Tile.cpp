//===- LowerInt8Tile.cpp - The micro-kernels of quantized weights ---------===//
#include "BlockCodec.h"
#include "LoopDialects.h"
#include "ProgramUses.h"
#include "TileSums.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERINT8TILE
#include "ckjit/Transforms/Passes.h.inc"

namespace {
using Values = VectorBuilder::Values;

/// Lowers one ck.int8_tile. A lane is a token: four codes of a weight row, broadcast, meet four of each token. Integer
/// sums of a group become fp32 by its scale; where a block of activations is two groups (q6_k), their sums stand by
/// themselves until they get the block's scale.
class TileLowering {
public:
  TileLowering(Int8TileOp op, TargetAttr target)
      : op(op), b(op, target), traits(traitsOf(op.getFormat())), depth(op.getDepth()), rows(op.getRowOffsets().size()),
        vectors(op.getColumnOffsets().size()),
        lanes(cast<VectorType>(op.getResultTypes().front()).getDimSize(0)),
        block(PanelBlockType::get(op.getContext(), activationBlock(op.getContext(), op.getFormat()), lanes)) {}

  void lower() {
    Values sums = b.loop(0, depth / block.getFeatures(), 1, Values(rows * vectors, b.splat(lanes, 0.0f)),
                         [&](Value i, ValueRange carried) { return blockSums(i, Values(carried)); });
    for (auto [result, value] : llvm::zip(op.getResults(), sums))
      result.replaceAllUsesWith(value);
    op.erase();
  }

private:
  Values blockSums(Value i, Values sums) {
    Values columns, scales;
    for (Value offset : op.getColumnOffsets()) {
      columns.push_back(b.addIndex(offset, b.mulIndex(i, block.getBytes())));
      scales.push_back(b.loadFloats(op.getX(), columns.back(), block.getScalesAt(), lanes));
    }
    int64_t groups = block.getFeatures() / traits.group;
    Value firstGroup = b.mulIndex(i, groups), firstWeight = b.mulIndex(i, block.getFeatures());
    if (groups == 1)
      return group(columns, firstGroup, b.index(0), firstWeight, sums, scales);
    Values own = b.loop(0, groups, 1, Values(sums.size(), b.splat(lanes, 0.0f)), [&](Value g, ValueRange carried) {
      Value weight = b.addIndex(firstWeight, b.mulIndex(g, traits.group));
      return group(columns, b.addIndex(firstGroup, g), g, weight, Values(carried), {});
    });
    for (auto [index, sum] : llvm::enumerate(sums))
      sum = b.fma(own[index], scales[index % vectors], sum);
    return sums;
  }

  /// Adds group number `group` of the row, `g` of the block, whose codes begin at `weight`. `scales` of the block's
  /// activations, or none: then the sums are without them.
  Values group(ArrayRef<Value> columns, Value group, Value g, Value weight, Values sums, Values scales) {
    Values groupSums = sumsOfCodes(columns, g);
    Values init;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < vectors; ++v)
        init.push_back(zeroPoint() ? centre(groupSums[v]) : b.splatInt(lanes, 32, 0));
    Value step = b.mulIndex(g, traits.group * lanes);
    auto pairsOf = [&](Value first, int64_t steps) { // sums of 16 bits
      Values zeros(init.size(), b.splatInt(2 * lanes, 16, 0));
      return b.loop(0, steps, 1, zeros, [&](Value k, ValueRange carried) {
        k = b.addIndex(first, k);
        return dots(columns, b.addIndex(step, b.mulIndex(k, 4 * lanes)), b.addIndex(weight, b.mulIndex(k, 4)), carried);
      });
    };
    Values acc;
    if (int64_t steps = pairSteps(); steps > 1)
      acc = b.loop(0, traits.group / 4, steps, init, [&](Value k, ValueRange carried) {
        Values pairs = pairsOf(k, steps), next;
        for (auto [pair, sum] : llvm::zip(pairs, carried))
          next.push_back(b.add(sum, b.sumPairs(pair)));
        return next;
      });
    else
      acc = b.loop(0, traits.group / 4, 1, init, [&](Value k, ValueRange carried) {
        return dots(columns, b.addIndex(step, b.mulIndex(k, 4 * lanes)), b.addIndex(weight, b.mulIndex(k, 4)), carried);
      });
    for (int64_t row = 0; row < rows; ++row) {
      Value place = b.addIndex(op.getRowOffsets()[row], weight);
      Value at = arith::DivUIOp::create(b, b.loc, place, b.index(traits.group));
      Value scale = b.broadcast(b.load(op.getScales(), at), lanes);
      Value offset = traits.minima ? b.broadcast(b.load(op.getOffsets(), at), lanes) : Value();
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = sums[row * vectors + v];
        Value factor = scales.empty() ? scale : b.mul(scale, scales[v]);
        sum = b.fma(b.toFloat(acc[row * vectors + v], true), factor, sum);
        if (!offset)
          continue;
        Value codes = b.toFloat(groupSums[v], true);
        sum = b.fma(scales.empty() ? codes : b.mul(codes, scales[v]), offset, sum);
      }
    }
    return sums;
  }

  int64_t zeroPoint() { return op.getWide() ? 0 : traits.zeroPoint; }

  /// Steps whose products of two bytes fit 16 bits together, where products come so: fewer instructions than a sum of 32
  /// bits each time.
  int64_t pairSteps() {
    if (op.getWide() || b.hasByteDot() || !b.hasBytePairs(4 * lanes))
      return 0;
    constexpr int64_t kMost = 32767, kMostActivation = 127;
    return std::min(traits.group / 4, int64_t(llvm::bit_floor(uint64_t(kMost / (2 * kMostActivation * mostCode())))));
  }
  int64_t mostCode() {
    switch (op.getFormat()) {
    case Format::Q5_0:
    case Format::Q5_1: return 31;
    case Format::Q6_K: return 63;
    case Format::Q8_0: return 255;
    default: return 15;
    }
  }

  /// -zeroPoint * sum of codes: what unsigned codes of weights give too much.
  Value centre(Value sum) {
    Value shifted = b.shiftLeft(sum, llvm::Log2_64(zeroPoint()));
    return b.sub(b.splatInt(lanes, 32, 0), shifted);
  }

  /// Of each token, for group g of the block.
  Values sumsOfCodes(ArrayRef<Value> columns, Value g) {
    Values sums;
    if (!zeroPoint() && !traits.minima)
      return Values(vectors, Value());
    int64_t own = block.getGroup();
    for (Value column : columns) {
      Value at = b.addIndex(column, b.mulIndex(g, traits.group / own * 4 * lanes));
      Value sum = b.loadInts(op.getX(), at, block.getSumsAt(), lanes, 32);
      for (int64_t i = 1; i < traits.group / own; ++i)
        sum = b.add(sum, b.loadInts(op.getX(), at, block.getSumsAt() + i * 4 * lanes, lanes, 32));
      sums.push_back(sum);
    }
    return sums;
  }

  Values dots(ArrayRef<Value> columns, Value at, Value weight, ValueRange carried) {
    Values x, next;
    for (Value column : columns)
      x.push_back(b.loadBytes(op.getX(), b.addIndex(column, at), 0, 4 * lanes));
    for (int64_t row = 0; row < rows; ++row) {
      Value four = b.lane(b.loadInts(op.getCodes(), b.addIndex(weight, op.getRowOffsets()[row]), 0, 1, 32), 0);
      Value codes = b.castInts(b.broadcast(four, lanes), 8);
      for (int64_t v = 0; v < vectors; ++v) {
        Value acc = carried[row * vectors + v];
        bool pairs = cast<VectorType>(acc.getType()).getElementType().isInteger(16);
        next.push_back(pairs           ? b.add(acc, b.bytePairs(codes, x[v]))
                       : op.getWide() ? b.dotSigned(acc, codes, x[v])
                                      : b.dot(acc, codes, x[v]));
      }
    }
    return next;
  }

  Int8TileOp op;
  VectorBuilder b;
  FormatTraits traits;
  int64_t depth, rows, vectors, lanes;
  PanelBlockType block;
};

/// Lowers one ck.int8_dot_tile: row after row, in steps of 256 weights. A vector of codes meets the same stretch of each
/// token's codes; lanes of its 32-bit sums belong to one group, whose scales are spread over them.
class DotLowering {
public:
  DotLowering(Int8DotTileOp op, TargetAttr target)
      : op(op), b(op, target), codec(b, op.getFormat(), op.getWeight()), traits(codec.traits), depth(op.getDepth()),
        tokens(op.getTokens().size()) {}

  /// The rows in a loop, by way of the stack: written out, they would be most of what is compiled.
  void lower() {
    int64_t rows = static_cast<int64_t>(op.getRowOffsets().size()), lanes = b.lanes();
    Value offsets = stackBuffer(rows, b.getIndexType()), sums = stackBuffer(rows * tokens * lanes, b.getF32Type());
    for (auto [r, offset] : llvm::enumerate(op.getRowOffsets()))
      memref::StoreOp::create(b, b.loc, offset, offsets, b.index(r));
    b.loop(0, rows, 1, {}, [&](Value r, ValueRange) {
      Values ofRow = row(memref::LoadOp::create(b, b.loc, offsets, r));
      Value place = b.mulIndex(r, tokens * lanes);
      for (int64_t t = 0; t < tokens; ++t)
        b.store(ofRow[t], sums, place, t * lanes);
      return Values();
    });
    for (int64_t t = 0; t < tokens; ++t) {
      SmallVector<Value> vectors;
      for (int64_t r = 0; r < rows; ++r)
        vectors.push_back(b.loadFloats(sums, b.index((r * tokens + t) * lanes), 0, lanes));
      op.getResult(t).replaceAllUsesWith(sumOfVectors(b, b.loc, vectors));
    }
    op.erase();
  }

private:
  Value stackBuffer(int64_t count, Type element) {
    constexpr int64_t kLineBytes = 64;
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
    return memref::AllocaOp::create(b, b.loc, MemRefType::get({count}, element), b.getI64IntegerAttr(kLineBytes));
  }

  /// One vector a token, whose lanes together are the row's sum.
  Values row(Value offset) {
    // Products, in several sums that don't wait for each other; then what the scales alone give: of minima, or of the
    // zero point.
    Values sums(chains() * tokens, b.splat(b.lanes(), 0.0f));
    bool corrected = traits.minima || zeroPoint();
    if (corrected)
      sums.append(tokens, b.splat(kStepWeights / traits.group, 0.0f));
    int64_t whole = depth / kStepWeights * kStepWeights;
    if (whole > 0)
      sums = b.loop(0, whole, kStepWeights, sums, [&](Value k, ValueRange carried) {
        return step(offset, k, kStepWeights, Values(carried));
      });
    if (whole != depth)
      sums = step(offset, b.index(whole), depth - whole, sums);
    Values result;
    for (int64_t t = 0; t < tokens; ++t) {
      Value sum = sums[chains() * t];
      for (int64_t i = 1; i < chains(); ++i)
        sum = b.add(sum, sums[chains() * t + i]);
      if (corrected)
        sum = b.add(sum, widened(sums[chains() * tokens + t], b.lanes()));
      result.push_back(sum);
    }
    return result;
  }

  /// A vector of `lanes` lanes with the same sum.
  Value widened(Value vector, int64_t lanes) {
    int64_t count = width(vector);
    for (; count > lanes; count /= 2)
      vector = b.add(b.slice(vector, 0, count / 2), b.slice(vector, count / 2, count / 2));
    if (count < lanes)
      vector = padded(vector, lanes);
    return vector;
  }
  Value padded(Value vector, int64_t lanes) {
    int64_t count = width(vector);
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < lanes; ++i)
      order.push_back(i < count ? i : count); // zeros behind
    return b.shuffle(vector, b.splat(count, 0.0f), order);
  }

  int64_t chains() { return b.bytes == 64 ? 2 : 4; }
  bool wide() { return op.getFormat() == Format::Q8_0 && !b.hasByteDot(); }
  int64_t zeroPoint() { return wide() ? 0 : traits.zeroPoint; }

  Values step(Value offset, Value k, int64_t weights, Values sums) {
    Value block = arith::DivUIOp::create(b, b.loc, k, b.index(traits.elements));
    Value at = b.addIndex(offset, b.mulIndex(block, traits.bytes));
    prefetch(at, weights);
    BlockCodec::Scales scales = codec.scales(at, weights);
    int64_t groups = weights / traits.group;
    Value group = arith::DivUIOp::create(b, b.loc, k, b.index(traits.group));
    Values factors;
    for (int64_t t = 0; t < tokens; ++t) {
      Value token = op.getTokens()[t];
      int64_t shared = activationBlock(op.getContext(), op.getFormat());
      Value number = arith::DivUIOp::create(b, b.loc, k, b.index(shared));
      Value x = b.loadFloats(op.getScales(), b.addIndex(b.mulIndex(token, depth / shared), number), 0, weights / shared);
      if (traits.group < shared) { // several groups of weights to a scale of activations
        SmallVector<int64_t> spread;
        for (int64_t i = 0; i < groups; ++i)
          spread.push_back(i * traits.group / shared);
        x = b.shuffle(x, x, spread);
      }
      factors.push_back(b.mul(scales.scales, x));
      if (!traits.minima && !zeroPoint())
        continue;
      Value ownSums = b.loadFloats(op.getSums(), b.addIndex(b.mulIndex(token, depth / traits.group), group), 0, groups);
      Value offsets = traits.minima ? scales.offsets
                                    : b.mul(scales.scales, b.splat(groups, static_cast<float>(-zeroPoint())));
      Value &corrected = sums[chains() * tokens + t];
      if (groups < width(corrected)) {
        offsets = padded(offsets, width(corrected));
        ownSums = padded(ownSums, width(corrected));
      }
      corrected = b.fma(offsets, ownSums, corrected);
    }
    int64_t chain = 0;
    for (int64_t first = 0; first < weights; chain = (chain + 1) % chains()) {
      Stripe stripe = stripeOf(op.getFormat(), b.bytes, weights - first);
      dotStripe(at, k, first, stripe, factors, sums, chain);
      first += stripe.weights();
    }
    return sums;
  }

  void dotStripe(Value at, Value k, int64_t first, Stripe stripe, ArrayRef<Value> factors, Values &sums, int64_t &chain) {
    SmallVector<Value, 2> codes = codec.stripeCodes(at, first, stripe);
    int64_t count = stripe.vectorWeights();
    if (op.getFormat() == Format::Q8_0 && !wide())
      codes[0] = arith::XOrIOp::create(b, b.loc, codes[0], b.splatInt(count, 8, 128));
    // The group of each 32-bit sum. Vectors whose groups are the same are summed as integers.
    SmallVector<SmallVector<int64_t>, 2> spread(stripe.vectors);
    for (int64_t i = 0; i < stripe.weights(); i += 4)
      spread[i / count].push_back((first + stripe.weightAt(i)) / traits.group);
    bool same = llvm::all_equal(spread);
    for (int64_t t = 0; t < tokens; ++t) {
      Value place = b.addIndex(b.mulIndex(op.getTokens()[t], depth), k);
      SmallVector<Value, 2> xs;
      for (int64_t v = 0; v < stripe.vectors; ++v)
        xs.push_back(b.loadBytes(op.getCodes(), place, first + v * count, count));
      if (same) {
        addProducts(dots(codes, xs), spread[0], factors[t], sums[chains() * t + chain]);
        continue;
      }
      for (int64_t v = 0; v < stripe.vectors; ++v)
        addProducts(dots(codes[v], xs[v]), spread[v], factors[t], sums[chains() * t + (chain + v) % chains()]);
    }
    if (!same)
      chain += stripe.vectors - 1;
  }

  /// Sums of 4 neighbouring products, as integers, over all vectors.
  Value dots(ArrayRef<Value> codes, ArrayRef<Value> xs) {
    int64_t count = width(codes[0]);
    Value sum = b.splatInt(count / 4, 32, 0);
    if (wide())
      return b.dotSigned(sum, codes[0], xs[0]);
    if (codes.size() == 2 && !b.hasByteDot() && b.hasBytePairs(count)) // two pairs of 5 bits fit 16
      return b.sumPairs(b.add(b.bytePairs(codes[0], xs[0]), b.bytePairs(codes[1], xs[1])));
    for (auto [code, x] : llvm::zip(codes, xs))
      sum = b.dot(sum, code, x);
    return sum;
  }

  void addProducts(Value dots, ArrayRef<int64_t> groups, Value factors, Value &sum) {
    Value products = b.toFloat(dots, true), factor = b.shuffle(factors, factors, groups);
    if (width(products) < b.lanes()) {
      products = padded(products, b.lanes());
      factor = padded(factor, b.lanes());
    }
    sum = b.fma(products, factor, sum);
  }

  /// A line of the weights to come for each of this step's.
  void prefetch(Value at, int64_t weights) {
    if (!op.getPrefetch())
      return;
    constexpr int64_t kLineBytes = 64;
    constexpr unsigned kFirstLevelCache = 3;
    for (int64_t line = 0; line < weights / traits.elements * traits.bytes; line += kLineBytes)
      memref::PrefetchOp::create(b, b.loc, op.getWeight(), b.addIndex(at, *op.getPrefetch() + line), /*isWrite=*/false,
                                 kFirstLevelCache, /*isDataCache=*/true);
  }

  static int64_t width(Value vector) { return cast<VectorType>(vector.getType()).getDimSize(0); }

  Int8DotTileOp op;
  VectorBuilder b;
  BlockCodec codec;
  FormatTraits traits;
  int64_t depth, tokens;
};

struct LowerInt8TilePass : impl::LowerInt8TileBase<LowerInt8TilePass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<Int8TileOp, Int8DotTileOp>(op))
        ops.push_back(op);
    });
    TargetAttr target = ops.empty() ? TargetAttr() : targetOf(ops.front());
    if (!ops.empty() && !target)
      return signalPassFailure();
    for (Operation *op : ops) {
      if (auto tile = dyn_cast<Int8TileOp>(op))
        TileLowering(tile, target).lower();
      else
        DotLowering(cast<Int8DotTileOp>(op), target).lower();
      ++lowered;
    }
  }
};
} // namespace
} // namespace ckjit::ck
