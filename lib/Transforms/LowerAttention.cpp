//===- LowerAttention.cpp - Online softmax over blocks of keys ------------===//
#include "KernelBuilder.h"
#include "LoopDialects.h"
#include "ProgramUses.h"
#include "RowsAttention.h"
#include "ckjit/Transforms/Passes.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERATTENTION
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// Stands for minus infinity: exp gives 0, and no difference is NaN.
constexpr float kMasked = -1e30f;

int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }

/// Lowers one attention op. An item is a panel of queries and `width` query heads of one kv head;
/// its state (running maximum, sum, scores of a block) lives on the thread's stack.
class AttentionLowering {
public:
  AttentionLowering(AttentionOp op, int64_t keyBlock, bool strict)
      : b(op), op(op), keyBlock(keyBlock), strict(strict), lanes(dim(op.getQ(), 2)), headDim(op.getHeadDim()),
        group(op.getHeads() / dim(op.getK(), 0)), width(op.getTile()->getVectors()), rows(op.getTile()->getRows()),
        padded(dim(op.getK(), 2)), context(dim(op.getK(), 1)), vector(VectorType::get({lanes}, b.getF32Type())) {}

  void lower();

private:
  struct Item {
    Value panel, kvHead, firstHead, keys;
  };
  Item itemAt(Value index);
  void start(const Item &item);
  void scores(const Item &item, Value block, Value tile);
  void softmax(const Item &item, Value count);
  void weightedSum(const Item &item, Value block, Value depth);
  void finish(const Item &item);

  Value add(Value a, Value c) { return arith::AddIOp::create(b, b.loc, a, c); }
  Value mul(Value a, int64_t c) { return arith::MulIOp::create(b, b.loc, a, b.index(c)); }
  Value load(Value memref, ValueRange place) { return memref::LoadOp::create(b, b.loc, memref, place); }
  void store(Value value, Value memref, ValueRange place) { memref::StoreOp::create(b, b.loc, value, memref, place); }
  Value stackBuffer(ArrayRef<int64_t> shape) {
    auto type = MemRefType::get(shape, b.getF32Type());
    return memref::AllocaOp::create(b, b.loc, type, b.getI64IntegerAttr(64));
  }
  /// Feature of head `firstHead + j` in q and out.
  Value feature(const Item &item, int64_t j) { return mul(add(item.firstHead, b.index(j)), headDim); }
  scf::ForOp loop(Value lo, Value hi, Value step, ValueRange init,
                  function_ref<SmallVector<Value>(Value, ValueRange)> body);

  KernelBuilder b;
  AttentionOp op;
  int64_t keyBlock;
  bool strict;
  int64_t lanes, headDim, group, width, rows, padded, context;
  VectorType vector;
  Value flatQ, flatK, flatV, flatScores, scoresOf, maxima, sums, shrink;
};

scf::ForOp AttentionLowering::loop(Value lo, Value hi, Value step, ValueRange init,
                                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(b, b.loc, lo, hi, step, init);
  OpBuilder::InsertionGuard restore(b);
  if (init.empty())
    b.setInsertionPoint(made.getBody()->getTerminator());
  else
    b.setInsertionPointToStart(made.getBody());
  SmallVector<Value> next = body(made.getInductionVar(), made.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, b.loc, next);
  return made;
}

void AttentionLowering::lower() {
  flatQ = b.flatten(op.getQ());
  flatK = b.flatten(op.getK());
  flatV = b.flatten(op.getV());
  scoresOf = stackBuffer({width, keyBlock, lanes});
  flatScores = b.flatten(scoresOf);
  maxima = stackBuffer({width, lanes});
  sums = stackBuffer({width, lanes});
  shrink = stackBuffer({width, lanes});
  int64_t units = dim(op.getK(), 0) * (group / width);
  Value items = mul(b.panelCount(lanes), units);
  // Panels further down see more keys: dealing items out in turn levels the threads.
  loop(b.tid(), items, b.threads(), {}, [&](Value index, ValueRange) {
    Item item = itemAt(index);
    start(item);
    loop(b.index(0), item.keys, b.index(keyBlock), {}, [&](Value block, ValueRange) {
      Value left = arith::SubIOp::create(b, b.loc, item.keys, block);
      Value count = arith::MinUIOp::create(b, b.loc, left, b.index(keyBlock));
      Value tiles = arith::DivUIOp::create(b, b.loc, add(count, b.index(rows - 1)), b.index(rows));
      loop(b.index(0), tiles, b.index(1), {}, [&](Value tile, ValueRange) {
        scores(item, block, tile);
        return SmallVector<Value>();
      });
      softmax(item, mul(tiles, rows));
      weightedSum(item, block, count);
      return SmallVector<Value>();
    });
    finish(item);
    return SmallVector<Value>();
  });
}

AttentionLowering::Item AttentionLowering::itemAt(Value index) {
  int64_t chunks = group / width, units = dim(op.getK(), 0) * chunks;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  auto div = [&](Value a, int64_t c) { return arith::DivUIOp::create(b, b.loc, a, b.index(c)).getResult(); };
  auto rem = [&](Value a, int64_t c) { return arith::RemUIOp::create(b, b.loc, a, b.index(c)).getResult(); };
  Item item;
  item.panel = div(index, units);
  Value unit = rem(index, units);
  item.kvHead = div(unit, chunks);
  item.firstHead = b.apply(d0 * group + d1 * width, {item.kvHead, rem(unit, chunks)});
  Value end = arith::MinUIOp::create(b, b.loc, b.apply(d0 * lanes + lanes, item.panel), b.tokens());
  item.keys = add(b.position(), end);
  return item;
}

void AttentionLowering::start(const Item &item) {
  for (int64_t j = 0; j < width; ++j) {
    Value head = b.index(j), base = feature(item, j);
    b.forLanes(lanes, [&](Value l) {
      store(b.f32(kMasked), maxima, {head, l});
      store(b.f32(0.0f), sums, {head, l});
      b.forCount(headDim, [&](Value f) { store(b.f32(0.0f), op.getOut(), {item.panel, add(base, f), l}); });
    });
  }
}

/// One tile of scores: `rows` keys against the panel's queries, scaled and masked where j > t.
void AttentionLowering::scores(const Item &item, Value block, Value tile) {
  Value first = add(block, mul(tile, rows));
  SmallVector<Value> keys, rowOffsets, columns;
  Value cache = mul(item.kvHead, context);
  for (int64_t r = 0; r < rows; ++r) {
    keys.push_back(add(first, b.index(r)));
    if (context % rows == 0) {
      rowOffsets.push_back(add(mul(add(cache, first), padded), b.index(r * padded)));
      continue;
    }
    // The last tile reaches past the context: its masked keys repeat the last one.
    Value held = arith::MinUIOp::create(b, b.loc, keys.back(), b.index(context - 1));
    rowOffsets.push_back(mul(add(cache, held), padded));
  }
  for (int64_t j = 0; j < width; ++j)
    columns.push_back(mul(add(mul(item.panel, dim(op.getQ(), 1)), feature(item, j)), lanes));
  SmallVector<Type> types(rows * width, vector);
  auto dots = RegisterTileOp::create(b, b.loc, types, flatK, rowOffsets, flatQ, columns, b.index(headDim), 1, 0, 1,
                                     op.getTile()->getUnroll(), op.getTile()->getStrict(), IntegerAttr(), IntegerAttr());
  auto steps = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  auto intVector = VectorType::get({lanes}, b.getI32Type());
  auto broadcast = [&](Value index) {
    Value narrow = arith::IndexCastOp::create(b, b.loc, b.getI32Type(), index);
    return vector::BroadcastOp::create(b, b.loc, intVector, narrow).getResult();
  };
  Value lane = arith::ConstantOp::create(b, b.loc, b.getI32VectorAttr(steps));
  Value query = arith::AddIOp::create(b, b.loc, broadcast(add(b.position(), mul(item.panel, lanes))), lane);
  Value scale = b.splat(1.0 / std::sqrt(static_cast<double>(headDim)), vector), masked = b.splat(kMasked, vector);
  for (int64_t r = 0; r < rows; ++r) {
    Value visible = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::sle, broadcast(keys[r]), query);
    for (int64_t j = 0; j < width; ++j) {
      Value score = arith::MulFOp::create(b, b.loc, dots.getResult(r * width + j), scale);
      score = arith::SelectOp::create(b, b.loc, visible, score, masked);
      Value place = add(mul(tile, rows), b.index(r));
      vector::StoreOp::create(b, b.loc, score, scoresOf, ValueRange{b.index(j), place, b.index(0)});
    }
  }
}

/// Scores to weights exp(s - max); keeps the running maximum and sum, and the factor by which
/// what was summed before shrinks.
void AttentionLowering::softmax(const Item &item, Value count) {
  for (int64_t j = 0; j < width; ++j) {
    Value head = b.index(j);
    b.forLanes(lanes, [&](Value l) {
      Value before = load(maxima, {head, l});
      Value top = loop(b.index(0), count, b.index(1), before, [&](Value r, ValueRange carried) {
        Value score = load(scoresOf, {head, r, l});
        return SmallVector<Value>{arith::MaxNumFOp::create(b, b.loc, carried[0], score)};
      }).getResult(0);
      Value factor = b.exp(arith::SubFOp::create(b, b.loc, before, top), strict);
      Value sum = loop(b.index(0), count, b.index(1), b.f32(0.0f), [&](Value r, ValueRange carried) {
        Value shifted = arith::SubFOp::create(b, b.loc, load(scoresOf, {head, r, l}), top);
        Value weight = b.exp(shifted, strict);
        store(weight, scoresOf, {head, r, l});
        return SmallVector<Value>{arith::AddFOp::create(b, b.loc, carried[0], weight)};
      }).getResult(0);
      store(b.fma(load(sums, {head, l}), factor, sum), sums, {head, l});
      store(top, maxima, {head, l});
      store(factor, shrink, {head, l});
    });
  }
}

/// out = out * shrink + weights * V over the `depth` keys of the block.
void AttentionLowering::weightedSum(const Item &item, Value block, Value depth) {
  int64_t tiles = (headDim + rows - 1) / rows;
  SmallVector<Value> columns, factors;
  for (int64_t j = 0; j < width; ++j) {
    columns.push_back(b.index(j * keyBlock * lanes));
    factors.push_back(vector::LoadOp::create(b, b.loc, vector, shrink, ValueRange{b.index(j), b.index(0)}));
  }
  Value base = mul(add(mul(item.kvHead, context), block), padded);
  auto tileAt = [&](Value first, int64_t count) {
    SmallVector<Value> rowOffsets;
    for (int64_t r = 0; r < count; ++r)
      rowOffsets.push_back(add(add(base, first), b.index(r)));
    SmallVector<Type> types(count * width, vector);
    auto part = RegisterTileOp::create(b, b.loc, types, flatV, rowOffsets, flatScores, columns, depth, 1, 0, padded,
                                       op.getTile()->getUnroll(), op.getTile()->getStrict(), IntegerAttr(), IntegerAttr());
    for (int64_t r = 0; r < count; ++r)
      for (int64_t j = 0; j < width; ++j) {
        Value place = add(feature(item, j), add(first, b.index(r)));
        SmallVector<Value> at{item.panel, place, b.index(0)};
        Value before = vector::LoadOp::create(b, b.loc, vector, op.getOut(), at);
        vector::StoreOp::create(b, b.loc, b.fma(before, factors[j], part.getResult(r * width + j)), op.getOut(), at);
      }
  };
  int64_t whole = headDim / rows;
  loop(b.index(0), b.index(whole), b.index(1), {}, [&](Value tile, ValueRange) {
    tileAt(mul(tile, rows), rows);
    return SmallVector<Value>();
  });
  if (tiles != whole)
    tileAt(b.index(whole * rows), headDim - whole * rows);
}

void AttentionLowering::finish(const Item &item) {
  for (int64_t j = 0; j < width; ++j) {
    Value head = b.index(j), base = feature(item, j);
    b.forLanes(lanes, [&](Value l) {
      Value inverse = arith::DivFOp::create(b, b.loc, b.f32(1.0f), load(sums, {head, l}));
      b.forCount(headDim, [&](Value f) {
        Value place = add(base, f);
        Value value = load(op.getOut(), {item.panel, place, l});
        store(arith::MulFOp::create(b, b.loc, value, inverse), op.getOut(), {item.panel, place, l});
      });
    });
  }
}

struct LowerAttentionPass : impl::LowerAttentionBase<LowerAttentionPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> halves;
    getOperation().walk([&](Operation *op) {
      if (isa<AttentionPartOp, AttentionMergeOp>(op))
        halves.push_back(op);
    });
    for (Operation *op : halves) {
      if (failed(checkKernel(op, op->getOperand(isa<AttentionPartOp>(op) ? 0 : 1))))
        return signalPassFailure();
      auto part = dyn_cast<AttentionPartOp>(op);
      if (part && failed(checkWidth(part)))
        return signalPassFailure();
      if (part)
        lowerRows(part, strict);
      else
        lowerRows(cast<AttentionMergeOp>(op), strict);
      op->erase();
      ++lowered;
    }
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      if (failed(check(op)))
        return signalPassFailure();
      AttentionLowering(op, keyBlock, strict).lower();
      op.erase();
      ++lowered;
    }
  }

  /// Weighted sums run over the whole width of the cache, vector by vector.
  LogicalResult checkWidth(AttentionPartOp op) {
    int64_t width = dim(op.getK(), 2), lanes = targetOf(op).getLanes();
    if (width == 0 || width % lanes != 0)
      return op.emitOpError("the cache's head width is ") << width << ", expected whole vectors of " << lanes << " lanes";
    return success();
  }

  LogicalResult check(AttentionOp op) {
    if (failed(checkKernel(op, {op.getQ(), op.getOut()})))
      return failure();
    if (!isPanels(op.getQ().getType()))
      return op.emitOpError("is in rows; run ck-split-attention, or ck-pack-activations, first");
    if (!op.getTile())
      return op.emitOpError("has no tile; run ck-select-strategy first");
    int64_t group = op.getHeads() / dim(op.getK(), 0);
    if (group % op.getTile()->getVectors() != 0)
      return op.emitOpError("tile has ") << op.getTile()->getVectors() << " vectors, expected a divisor of the "
                                         << group << " query heads of a kv head";
    if (keyBlock <= 0 || keyBlock % op.getTile()->getRows() != 0)
      return op.emitOpError("key-block is ") << keyBlock.getValue() << ", expected a multiple of the tile's "
                                             << op.getTile()->getRows() << " rows";
    return success();
  }
};
} // namespace
} // namespace ckjit::ck
