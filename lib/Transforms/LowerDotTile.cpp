//===- LowerDotTile.cpp - The micro-kernel of few tokens ------------------===//
#include "KernelBuilder.h"
#include "LoopDialects.h"
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
  Value load(Value memref, Value place, Type type);
  Value sumOfRows(ArrayRef<Value> rowsOfToken);
  Value shuffle(Value a, Value c, ArrayRef<int64_t> order) { return vector::ShuffleOp::create(b, loc, a, c, order); }
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
    Value result = vectors > 0 ? sumOfRows(ofToken) : Value();
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
  Value value = vector ? vector::LoadOp::create(b, loc, vector, memref, place).getResult()
                       : memref::LoadOp::create(b, loc, memref, place).getResult();
  if (!op.getStrict())
    return value;
  return arith::ExtFOp::create(b, loc, vector ? Type(vector.clone(sum)) : sum, value);
}

/// One vector of rows from a vector of lanes each. A vector holds blocks, one a row. Halving all blocks of two
/// vectors at once gives one vector with the blocks of both.
Value DotLowering::sumOfRows(ArrayRef<Value> rowsOfToken) {
  std::vector<Value> vectors(rowsOfToken.begin(), rowsOfToken.end());
  int64_t block = lanes;
  auto halves = [&](Value a, Value c, int64_t blocks, int64_t half) {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < blocks; ++i)
      for (int64_t j = 0; j < block / 2; ++j)
        order.push_back(i * block + half * block / 2 + j);
    return shuffle(a, c, order);
  };
  auto blocksOf = [&](Value v) { return cast<VectorType>(v.getType()).getDimSize(0) / block; };
  while (vectors.size() > 1) {
    std::vector<Value> next;
    for (size_t i = 0; i < vectors.size(); i += 2) {
      Value a = vectors[i], c = vectors[i + 1];
      int64_t blocks = 2 * blocksOf(a);
      if (block == 1) {
        next.push_back(shuffle(a, c, llvm::to_vector(llvm::seq<int64_t>(0, blocks))));
        continue;
      }
      next.push_back(arith::AddFOp::create(b, loc, halves(a, c, blocks, 0), halves(a, c, blocks, 1)));
    }
    vectors = std::move(next);
    block = std::max<int64_t>(block / 2, 1);
  }
  Value all = vectors[0];
  for (; block > 1; block /= 2) {
    int64_t blocks = blocksOf(all);
    all = arith::AddFOp::create(b, loc, halves(all, all, blocks, 0), halves(all, all, blocks, 1));
  }
  return all;
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
