//===- RowsAttention.cpp - Attention of few tokens ------------------------===//
#include "RowsAttention.h"
#include "LoopDialects.h"
#include "ProgramUses.h"

using namespace mlir;

namespace ckjit::ck {
namespace {
/// Stands for minus infinity: exp gives 0, and no difference is NaN.
constexpr float kMasked = -1e30f;
/// Keys of a tile of scores.
constexpr int64_t kTileKeys = 4;

int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }

int64_t largestDivisor(int64_t of, int64_t limit) {
  int64_t divisor = std::max<int64_t>(1, std::min(of, limit));
  while (of % divisor != 0)
    --divisor;
  return divisor;
}

/// What both halves share.
class AttentionBuilder : public KernelBuilder {
public:
  using Values = SmallVector<Value>;
  AttentionBuilder(Operation *op, bool strict)
      : KernelBuilder(op), strict(strict), lanes(targetOf(op).getLanes()),
        vector(VectorType::get({lanes}, getF32Type())) {}

  scf::ForOp loop(Value lo, Value hi, Value step, ValueRange init, function_ref<Values(Value, ValueRange)> body) {
    auto made = scf::ForOp::create(*this, loc, lo, hi, step, init);
    OpBuilder::InsertionGuard restore(*this);
    if (init.empty())
      setInsertionPoint(made.getBody()->getTerminator());
    else
      setInsertionPointToStart(made.getBody());
    Values next = body(made.getInductionVar(), made.getRegionIterArgs());
    if (!init.empty())
      scf::YieldOp::create(*this, loc, next);
    return made;
  }
  void when(Value condition, function_ref<void()> body) {
    auto branch = scf::IfOp::create(*this, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(*this);
    setInsertionPointToStart(branch.thenBlock());
    body();
  }
  Value add(Value a, Value c) { return arith::AddIOp::create(*this, loc, a, c); }
  Value add(Value a, int64_t c) { return add(a, index(c)); }
  Value sub(Value a, Value c) { return arith::SubIOp::create(*this, loc, a, c); }
  Value mul(Value a, int64_t c) { return arith::MulIOp::create(*this, loc, a, index(c)); }
  Value div(Value a, int64_t c) { return arith::DivUIOp::create(*this, loc, a, index(c)); }
  Value rem(Value a, int64_t c) { return arith::RemUIOp::create(*this, loc, a, index(c)); }
  Value min(Value a, Value c) { return arith::MinUIOp::create(*this, loc, a, c); }
  Value larger(Value a, Value c) { return arith::MaxNumFOp::create(*this, loc, a, c); }
  Value addf(Value a, Value c) { return arith::AddFOp::create(*this, loc, a, c); }
  Value subf(Value a, Value c) { return arith::SubFOp::create(*this, loc, a, c); }
  Value mulf(Value a, Value c) { return arith::MulFOp::create(*this, loc, a, c); }
  Value load(Value flat, Value place) { return memref::LoadOp::create(*this, loc, flat, place); }
  void store(Value value, Value flat, Value place) { memref::StoreOp::create(*this, loc, value, flat, place); }
  Value loadVector(Value flat, Value place) { return vector::LoadOp::create(*this, loc, vector, flat, place); }
  void storeVector(Value value, Value flat, Value place) { vector::StoreOp::create(*this, loc, value, flat, place); }
  Value spread(Value scalar) { return vector::BroadcastOp::create(*this, loc, vector, scalar); }

  /// The lanes of `v`, halved with `combine` until one is left.
  Value fold(Value v, function_ref<Value(Value, Value)> combine) {
    for (int64_t half = lanes / 2; half >= 1; half /= 2) {
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, half)), high = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
      v = combine(vector::ShuffleOp::create(*this, loc, v, v, low), vector::ShuffleOp::create(*this, loc, v, v, high));
    }
    return vector::ExtractOp::create(*this, loc, v, 0);
  }
  /// In the type that sums are kept in.
  Value widen(Value v) {
    if (!strict)
      return v;
    auto wide = dyn_cast<VectorType>(v.getType());
    return arith::ExtFOp::create(*this, loc, wide ? Type(wide.clone(getF64Type())) : Type(getF64Type()), v);
  }
  Value narrow(Value v) {
    if (!strict)
      return v;
    auto wide = dyn_cast<VectorType>(v.getType());
    return arith::TruncFOp::create(*this, loc, wide ? Type(wide.clone(getF32Type())) : Type(getF32Type()), v);
  }
  /// Last block of the keys that the last token sees, plus one.
  Value blocksOf(Value keysSeen, int64_t keys) { return div(add(keysSeen, keys - 1), keys); }

  bool strict;
  int64_t lanes;
  VectorType vector;
};

/// Lowers ck.attention_part. An item is a token, a kv head and a block of keys.
class PartLowering {
public:
  PartLowering(AttentionPartOp op, bool strict)
      : b(op, strict), op(op), headDim(op.getHeadDim()), kvHeads(dim(op.getK(), 0)), context(dim(op.getK(), 1)),
        padded(dim(op.getK(), 2)), group(op.getHeads() / kvHeads), keys(op.getKeys()), blocks(dim(op.getParts(), 2)),
        partWidth(dim(op.getParts(), 3)), flatQ(b.flatten(op.getQ())), flatK(b.flatten(op.getK())),
        flatV(b.flatten(op.getV())), flatParts(b.flatten(op.getParts())) {
    int64_t vectors = padded / b.lanes;
    int64_t registers = (targetOf(op).getRegisters() >= 32 ? 24 : 10) / (strict ? 2 : 1);
    columns = largestDivisor(vectors, registers);
    width = columns < vectors ? 1 : largestDivisor(group, registers / vectors);
    // Whole vectors of scores, and whole tiles.
    scoreRow = (keys + std::max(b.lanes, kTileKeys) - 1) / std::max(b.lanes, kTileKeys) * std::max(b.lanes, kTileKeys);
    scores = b.stackBuffer(width * scoreRow);
  }

  void lower();

private:
  struct Item {
    Value token, kvHead, block, first, count; ///< count: keys of the block that the token sees
  };
  void heads(const Item &item, Value firstHead);
  void scoreTiles(const Item &item, Value firstHead);
  Value softmax(const Item &item, int64_t head, Value top);
  Value largest(const Item &item, int64_t head);
  void weightedSums(const Item &item, Value firstHead);
  /// First element of the part of head `firstHead + j`.
  Value part(const Item &item, Value firstHead, int64_t j) {
    Value row = b.add(b.mul(item.token, op.getHeads()), b.add(firstHead, j));
    return b.mul(b.add(b.mul(row, blocks), item.block), partWidth);
  }
  Value vectorsOf(const Item &item) { return b.div(b.add(item.count, b.lanes - 1), b.lanes); }

  AttentionBuilder b;
  AttentionPartOp op;
  int64_t headDim, kvHeads, context, padded, group, keys, blocks, partWidth;
  int64_t columns, width, scoreRow; ///< vectors of a head at once, query heads at once, scores a head
  Value flatQ, flatK, flatV, flatParts, scores;
};

void PartLowering::lower() {
  Value used = b.blocksOf(b.add(b.position(), b.tokens()), keys);
  Value units = arith::MulIOp::create(b, b.loc, b.mul(b.tokens(), kvHeads), used);
  // Neighbouring blocks go to one thread: what is fetched ahead of one is the start of the next.
  auto [lo, hi] = b.share(units);
  b.loop(lo, hi, b.index(1), {}, [&](Value index, ValueRange) {
    Item item;
    item.block = arith::RemUIOp::create(b, b.loc, index, used);
    Value row = arith::DivUIOp::create(b, b.loc, index, used);
    item.kvHead = b.rem(row, kvHeads);
    item.token = b.div(row, kvHeads);
    item.first = b.mul(item.block, keys);
    Value end = b.add(b.add(b.position(), item.token), 1);
    Value seen = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ult, item.first, end);
    b.when(seen, [&] {
      item.count = b.min(b.sub(end, item.first), b.index(keys));
      Value firstHead = b.mul(item.kvHead, group);
      b.loop(b.index(0), b.index(group), b.index(width), {}, [&](Value j, ValueRange) {
        heads(item, b.add(firstHead, j));
        return AttentionBuilder::Values();
      });
    });
    return AttentionBuilder::Values();
  });
}

void PartLowering::heads(const Item &item, Value firstHead) {
  scoreTiles(item, firstHead);
  for (int64_t j = 0; j < width; ++j) {
    Value top = largest(item, j);
    Value sum = softmax(item, j, top);
    Value state = b.add(part(item, firstHead, j), padded);
    b.store(top, flatParts, state);
    b.store(sum, flatParts, b.add(state, 1));
  }
  weightedSums(item, firstHead);
}

/// Scores of `width` heads, scaled; what a last vector holds beyond the keys is masked.
void PartLowering::scoreTiles(const Item &item, Value firstHead) {
  Value lastVector = b.mul(b.div(b.sub(item.count, b.index(1)), b.lanes), b.lanes);
  Value masked = b.splat(kMasked, b.vector);
  for (int64_t j = 0; j < width; ++j)
    b.storeVector(masked, scores, b.add(lastVector, j * scoreRow));
  AttentionBuilder::Values queries;
  for (int64_t j = 0; j < width; ++j)
    queries.push_back(b.add(b.mul(item.token, dim(op.getQ(), 1)), b.mul(b.add(firstHead, j), headDim)));
  auto tile = VectorType::get({kTileKeys}, b.getF32Type());
  auto narrow = VectorType::get({kTileKeys}, b.getI32Type());
  Value scale = b.splat(1.0 / std::sqrt(static_cast<double>(headDim)), tile), low = b.splat(kMasked, tile);
  Value steps = arith::ConstantOp::create(b, b.loc, b.getI32VectorAttr(llvm::to_vector(llvm::seq<int32_t>(0, kTileKeys))));
  Value cache = b.add(b.mul(item.kvHead, context), item.first);
  b.loop(b.index(0), item.count, b.index(kTileKeys), {}, [&](Value key, ValueRange) {
    AttentionBuilder::Values rows;
    for (int64_t i = 0; i < kTileKeys; ++i) {
      Value held = i == 0 ? key : b.min(b.add(key, i), b.sub(item.count, b.index(1)));
      rows.push_back(b.mul(b.add(cache, held), padded));
    }
    SmallVector<Type> types(width, tile);
    auto dots = DotTileOp::create(b, b.loc, types, flatK, rows, flatQ, queries, headDim, 1, 0, b.lanes, 1, b.strict,
                                  IntegerAttr());
    auto broadcast = [&](Value index) {
      Value small = arith::IndexCastOp::create(b, b.loc, b.getI32Type(), index);
      return vector::BroadcastOp::create(b, b.loc, narrow, small).getResult();
    };
    Value seen = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::slt, steps, broadcast(b.sub(item.count, key)));
    for (int64_t j = 0; j < width; ++j) {
      Value score = arith::SelectOp::create(b, b.loc, seen, b.mulf(dots.getResult(j), scale), low);
      b.storeVector(score, scores, b.add(key, j * scoreRow));
    }
    return AttentionBuilder::Values();
  });
}

Value PartLowering::largest(const Item &item, int64_t head) {
  Value top = b.loop(b.index(0), vectorsOf(item), b.index(1), b.splat(kMasked, b.vector), [&](Value i, ValueRange carried) {
    Value at = b.add(b.mul(i, b.lanes), head * scoreRow);
    return AttentionBuilder::Values{b.larger(carried[0], b.loadVector(scores, at))};
  }).getResult(0);
  return b.fold(top, [&](Value a, Value c) { return b.larger(a, c); });
}

/// Scores to exp(s - top); returns their sum.
Value PartLowering::softmax(const Item &item, int64_t head, Value top) {
  Value tops = b.spread(top);
  Value sum = b.loop(b.index(0), vectorsOf(item), b.index(1), b.splat(0.0, b.vector), [&](Value i, ValueRange carried) {
    Value at = b.add(b.mul(i, b.lanes), head * scoreRow);
    Value weight = b.exp(b.subf(b.loadVector(scores, at), tops), b.strict);
    b.storeVector(weight, scores, at);
    return AttentionBuilder::Values{b.addf(carried[0], weight)};
  }).getResult(0);
  return b.fold(sum, [&](Value a, Value c) { return b.addf(a, c); });
}

/// Sums of weight * v over the block's keys, `columns` vectors of `width` heads at once.
void PartLowering::weightedSums(const Item &item, Value firstHead) {
  Value cache = b.mul(b.add(b.mul(item.kvHead, context), item.first), padded);
  Value zero = b.splat(0.0, b.strict ? Type(b.vector.clone(b.getF64Type())) : Type(b.vector));
  b.loop(b.index(0), b.index(padded), b.index(columns * b.lanes), {}, [&](Value column, ValueRange) {
    AttentionBuilder::Values sums(width * columns, zero);
    auto over = b.loop(b.index(0), item.count, b.index(1), sums, [&](Value key, ValueRange carried) {
      AttentionBuilder::Values values, next;
      Value row = b.add(b.add(cache, b.mul(key, padded)), column);
      for (int64_t c = 0; c < columns; ++c)
        values.push_back(b.widen(b.loadVector(flatV, b.add(row, c * b.lanes))));
      for (int64_t j = 0; j < width; ++j) {
        Value weight = b.widen(b.spread(b.load(scores, b.add(key, j * scoreRow))));
        for (int64_t c = 0; c < columns; ++c)
          next.push_back(b.fma(weight, values[c], carried[j * columns + c]));
      }
      return next;
    });
    for (int64_t j = 0; j < width; ++j)
      for (int64_t c = 0; c < columns; ++c)
        b.storeVector(b.narrow(over.getResult(j * columns + c)), flatParts,
                      b.add(b.add(part(item, firstHead, j), column), c * b.lanes));
    return AttentionBuilder::Values();
  });
}
} // namespace

void lowerRows(AttentionPartOp op, bool strict) { PartLowering(op, strict).lower(); }

void lowerRows(AttentionMergeOp op, bool strict) {
  AttentionBuilder b(op, strict);
  int64_t heads = op.getHeads(), headDim = op.getHeadDim(), blocks = dim(op.getParts(), 2);
  int64_t partWidth = dim(op.getParts(), 3), state = partWidth - kPartState;
  Value flat = b.flatten(op.getParts()), out = b.flatten(op.getOut()), weights = b.stackBuffer(blocks);
  auto [lo, hi] = b.share(b.mul(b.tokens(), heads));
  b.loop(lo, hi, b.index(1), {}, [&](Value index, ValueRange) {
    Value head = b.rem(index, heads), token = b.div(index, heads);
    Value count = b.blocksOf(b.add(b.add(b.position(), token), 1), op.getKeys());
    Value first = b.mul(index, blocks * partWidth);
    auto place = [&](Value block, int64_t behind) { return b.add(b.add(first, b.mul(block, partWidth)), behind); };
    Value top = b.loop(b.index(0), count, b.index(1), b.f32(kMasked), [&](Value block, ValueRange carried) {
      return AttentionBuilder::Values{b.larger(carried[0], b.load(flat, place(block, state)))};
    }).getResult(0);
    Value sum = b.loop(b.index(0), count, b.index(1), b.f32(0.0f), [&](Value block, ValueRange carried) {
      Value weight = b.exp(b.subf(b.load(flat, place(block, state)), top), strict);
      b.store(weight, weights, block);
      return AttentionBuilder::Values{b.fma(weight, b.load(flat, place(block, state + 1)), carried[0])};
    }).getResult(0);
    Value inverse = arith::DivFOp::create(b, b.loc, b.f32(1.0f), sum);
    Value row = b.add(b.mul(token, dim(op.getOut(), 1)), b.mul(head, headDim));
    // Whole vectors, the last moved back over the one before; single lanes where a head is shorter than a vector.
    bool whole = headDim >= b.lanes;
    int64_t step = whole ? b.lanes : 1;
    b.loop(b.index(0), b.index(headDim), b.index(step), {}, [&](Value lane, ValueRange) {
      if (headDim % step != 0)
        lane = b.min(lane, b.index(headDim - step));
      Value zero = whole ? b.splat(0.0, b.vector) : b.f32(0.0f);
      Value mixed = b.loop(b.index(0), count, b.index(1), zero, [&](Value block, ValueRange carried) {
        Value weight = b.load(weights, block), at = b.add(place(block, 0), lane);
        Value value = whole ? b.loadVector(flat, at) : b.load(flat, at);
        return AttentionBuilder::Values{b.fma(whole ? b.spread(weight) : weight, value, carried[0])};
      }).getResult(0);
      Value result = b.mulf(mixed, whole ? b.spread(inverse) : inverse);
      if (whole)
        b.storeVector(result, out, b.add(row, lane));
      else
        b.store(result, out, b.add(row, lane));
      return AttentionBuilder::Values();
    });
    return AttentionBuilder::Values();
  });
}
} // namespace ckjit::ck
