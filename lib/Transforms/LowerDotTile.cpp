//===- LowerDotTile.cpp - The micro-kernel of few tokens ------------------===//
#include "KernelBuilder.h"
#include "LoopDialects.h"
#include "TileSums.h"
#include "ckjit/Transforms/Passes.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERDOTTILE
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// Lowers one tile. Row after row, so that a thread reads its weights as one stream; a step loads `unroll` vectors of
/// the row and of each token.
class DotLowering {
public:
  explicit DotLowering(DotTileOp op)
      : op(op), b(op), loc(op.getLoc()), lanes(op.getLanes()), unroll(op.getUnroll()), depth(op.getDepth()),
        // Only what a step adds to is carried by the loops.
        vectors(depth < lanes ? 0 : depth < lanes * unroll ? 1 : unroll),
        rows(op.getRowOffsets().size()), tokens(op.getTokenOffsets().size()),
        loaded(VectorType::get({lanes}, b.getF32Type())),
        sum(op.getStrict() ? Type(b.getF64Type()) : Type(b.getF32Type())) {}

  void lower();

private:
  using Values = SmallVector<Value>;
  /// Sums of one row, for each token: first a vector of lanes, then the single sum of what is left of the depth.
  struct RowSums {
    Values vectors, singles;
  };
  RowSums row(Value offset);
  /// Adds a segment to unroll x tokens vectors and, where the depth isn't whole vectors, tokens single sums.
  Values segment(Value offset, Value index, Values carried);
  Values steps(ArrayRef<Value> places, int64_t from, int64_t to, int64_t width, Values sums);
  Values loop(Value lo, Value hi, int64_t by, Values init, function_ref<Values(Value, ValueRange)> body);
  /// `type` fp32 or a vector of it; what memory holds may be narrower.
  Value load(Value memref, Value place, Type type);
  int64_t vectorDepth() const { return depth / lanes * lanes; }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value zero(Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }

  DotTileOp op;
  OpBuilder b;
  Location loc;
  int64_t lanes, unroll, depth;
  int64_t vectors; ///< of a row and token, summed side by side
  size_t rows, tokens;
  VectorType loaded;
  Type sum;
};

DotLowering::Values DotLowering::loop(Value lo, Value hi, int64_t by, Values init,
                                      function_ref<Values(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(b, loc, lo, hi, index(by), init);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(made.getBody());
  scf::YieldOp::create(b, loc, body(made.getInductionVar(), made.getRegionIterArgs()));
  return Values(made.getResults());
}

void DotLowering::lower() {
  SmallVector<RowSums> sums;
  for (Value offset : op.getRowOffsets())
    sums.push_back(row(offset));
  auto wide = VectorType::get({static_cast<int64_t>(rows)}, sum);
  for (size_t token = 0; token < tokens; ++token) {
    Values ofToken, singles;
    for (const RowSums &ofRow : sums) {
      if (vectors > 0)
        ofToken.push_back(ofRow.vectors[token]);
      if (!ofRow.singles.empty())
        singles.push_back(ofRow.singles[token]);
    }
    Value result = vectors > 0 ? sumOfVectors(b, loc, ofToken) : Value();
    if (!singles.empty()) {
      Value rest = vector::FromElementsOp::create(b, loc, wide, singles);
      result = result ? arith::AddFOp::create(b, loc, result, rest).getResult() : rest;
    }
    if (op.getStrict())
      result = arith::TruncFOp::create(b, loc, wide.clone(b.getF32Type()), result);
    op.getResult(token).replaceAllUsesWith(result);
  }
  op.erase();
}

DotLowering::RowSums DotLowering::row(Value offset) {
  size_t count = static_cast<size_t>(vectors) * tokens;
  Values sums(count, zero(loaded.clone(sum)));
  if (vectorDepth() != depth)
    sums.append(tokens, zero(sum));
  if (op.getSegments() == 1)
    sums = segment(offset, index(0), sums);
  else
    sums = loop(index(0), index(op.getSegments()), 1, sums,
                [&](Value s, ValueRange carried) { return segment(offset, s, Values(carried)); });
  // The vectors of a step, as a tree.
  for (int64_t step = 1; step < vectors; step *= 2)
    for (int64_t i = 0; i + step < vectors; i += 2 * step)
      for (size_t token = 0; token < tokens; ++token) {
        Value &to = sums[i * tokens + token];
        to = arith::AddFOp::create(b, loc, to, sums[(i + step) * tokens + token]);
      }
  return {Values(sums.begin(), sums.begin() + std::min(count, tokens)), Values(sums.begin() + count, sums.end())};
}

DotLowering::Values DotLowering::segment(Value offset, Value s, Values carried) {
  Values places{add(offset, arith::MulIOp::create(b, loc, s, index(op.getWeightSegment())))};
  Value columnShift = arith::MulIOp::create(b, loc, s, index(depth));
  for (Value column : op.getTokenOffsets())
    places.push_back(add(column, columnShift));
  size_t count = static_cast<size_t>(vectors) * tokens;
  Values sums(carried.begin(), carried.begin() + count), singles(carried.begin() + count, carried.end());
  if (vectors > 0) {
    int64_t whole = depth / (lanes * vectors) * (lanes * vectors);
    sums = steps(places, 0, whole, vectors, sums);
    Values first = steps(places, whole, vectorDepth(), 1, Values(sums.begin(), sums.begin() + tokens));
    std::copy(first.begin(), first.end(), sums.begin());
  }
  sums.append(steps(places, vectorDepth(), depth, 0, singles));
  return sums;
}

/// The elements [from, to) in steps of `width` vectors, or one by one (0).
DotLowering::Values DotLowering::steps(ArrayRef<Value> places, int64_t from, int64_t to, int64_t width, Values sums) {
  if (from == to)
    return sums;
  Type type = width ? Type(loaded) : Type(b.getF32Type());
  return loop(index(from), index(to), width ? width * lanes : 1, sums, [&](Value k, ValueRange carried) {
    Values next;
    for (int64_t i = 0; i < std::max<int64_t>(width, 1); ++i) {
      auto at = [&](Value place) { return add(add(place, k), index(i * lanes)); };
      if (op.getPrefetch() && width) {
        constexpr unsigned kFirstLevelCache = 3;
        memref::PrefetchOp::create(b, loc, op.getWeight(), add(at(places[0]), index(*op.getPrefetch())),
                                   /*isWrite=*/false, kFirstLevelCache, /*isDataCache=*/true);
      }
      Value weight = load(op.getWeight(), at(places[0]), type);
      for (auto [token, place] : llvm::enumerate(places.drop_front())) {
        Value x = load(op.getX(), at(place), type);
        next.push_back(math::FmaOp::create(b, loc, weight, x, carried[i * tokens + token]));
      }
    }
    return next;
  });
}

Value DotLowering::load(Value memref, Value place, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  Value value = vector ? vector::LoadOp::create(b, loc, vector.clone(stored), memref, place).getResult()
                       : memref::LoadOp::create(b, loc, memref, place).getResult();
  if (!stored.isF32())
    value = arith::ExtFOp::create(b, loc, type, value);
  if (!op.getStrict())
    return value;
  return arith::ExtFOp::create(b, loc, vector ? Type(vector.clone(sum)) : sum, value);
}

struct LowerDotTilePass : impl::LowerDotTileBase<LowerDotTilePass> {
  void runOnOperation() override {
    SmallVector<DotTileOp> tiles;
    getOperation().walk([&](DotTileOp tile) { tiles.push_back(tile); });
    for (DotTileOp tile : tiles) {
      DotLowering(tile).lower();
      ++lowered;
    }
  }
};
} // namespace
} // namespace ckjit::ck
