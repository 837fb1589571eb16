//===- LowerRegisterTile.cpp - The micro-kernel in vector.fma -------------===//
#include "KernelBuilder.h"
#include "LoopDialects.h"
#include "ckjit/Transforms/Passes.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERREGISTERTILE
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// Lowers one tile. All accumulators are iter_args of the k loop; a weight is loaded once and broadcast,
/// a vector of x is loaded once, so a step costs rows + vectors loads for rows * vectors FMAs.
class TileLowering {
public:
  explicit TileLowering(RegisterTileOp op)
      : op(op), b(op), loc(op.getLoc()), vector(cast<VectorType>(op.getResultTypes().front())),
        sum(op.getStrict() ? vector.clone(b.getF64Type()) : vector) {}

  void lower();

private:
  using Values = SmallVector<Value>;
  /// Where a row begins: elements behind a base. Rows that lie a constant apart share the base, so that the
  /// constant becomes the displacement of an address and not one more register.
  struct Row {
    Value base;
    int64_t behind;
  };
  SmallVector<Row> rowsAt(Value weightShift);
  Values segment(Value index, Values carried);
  Values steps(ArrayRef<Row> rows, ArrayRef<Value> columnBases, Values carried);
  Values step(ArrayRef<Row> rows, ArrayRef<Value> columnBases, Value k, int64_t ahead, ValueRange carried);
  Value loadWeight(Row row, Value k, int64_t ahead);
  void prefetch(ArrayRef<Row> rows, Value k);
  Value loadVector(Value base, Value k, int64_t ahead);

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) { return y == 1 ? x : arith::MulIOp::create(b, loc, x, index(y)).getResult(); }
  Values loop(Value lo, Value hi, int64_t by, Values init, function_ref<Values(Value, ValueRange)> body);

  RegisterTileOp op;
  OpBuilder b;
  Location loc;
  VectorType vector, sum;
};

TileLowering::Values TileLowering::loop(Value lo, Value hi, int64_t by, Values init,
                                        function_ref<Values(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(b, loc, lo, hi, index(by), init);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(made.getBody());
  scf::YieldOp::create(b, loc, body(made.getInductionVar(), made.getRegionIterArgs()));
  return Values(made.getResults());
}

void TileLowering::lower() {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sum));
  Values sums(op.getNumResults(), zero);
  if (op.getSegments() == 1)
    sums = segment(index(0), sums);
  else
    sums = loop(index(0), index(op.getSegments()), 1, sums,
                [&](Value s, ValueRange carried) { return segment(s, Values(carried)); });
  for (auto [result, value] : llvm::zip(op.getResults(), sums)) {
    if (op.getStrict())
      value = arith::TruncFOp::create(b, loc, vector, value);
    result.replaceAllUsesWith(value);
  }
  op.erase();
}

TileLowering::Values TileLowering::segment(Value s, Values carried) {
  Values columnBases;
  Value weightShift = mul(s, op.getWeightSegment());
  Value panelShift = mul(arith::MulIOp::create(b, loc, s, op.getDepth()), vector.getDimSize(0));
  for (Value offset : op.getColumnOffsets())
    columnBases.push_back(add(offset, panelShift));
  return steps(rowsAt(weightShift), columnBases, carried);
}

SmallVector<TileLowering::Row> TileLowering::rowsAt(Value weightShift) {
  llvm::SmallDenseMap<Value, Value> bases;
  SmallVector<Row> rows;
  for (Value offset : op.getRowOffsets()) {
    int64_t behind = 0;
    auto sum = offset.getDefiningOp<arith::AddIOp>();
    if (std::optional<int64_t> constant = sum ? getConstantIntValue(sum.getRhs()) : std::nullopt) {
      offset = sum.getLhs();
      behind = *constant;
    }
    Value &base = bases[offset];
    if (!base)
      base = add(offset, weightShift);
    rows.push_back({base, behind});
  }
  return rows;
}

TileLowering::Values TileLowering::steps(ArrayRef<Row> rows, ArrayRef<Value> columnBases, Values carried) {
  int64_t unroll = op.getUnroll();
  Value whole = op.getDepth();
  std::optional<int64_t> constant = getConstantIntValue(op.getDepth());
  if (unroll > 1) {
    Value rest = arith::RemUIOp::create(b, loc, op.getDepth(), index(unroll));
    whole = arith::SubIOp::create(b, loc, op.getDepth(), rest);
    carried = loop(index(0), whole, unroll, carried, [&](Value k, ValueRange sums) {
      prefetch(rows, k);
      Values next(sums);
      for (int64_t ahead = 0; ahead < unroll; ++ahead)
        next = step(rows, columnBases, k, ahead, next);
      return next;
    });
    if (constant && *constant % unroll == 0)
      return carried;
  }
  Value from = unroll > 1 ? whole : index(0);
  return loop(from, op.getDepth(), 1, carried, [&](Value k, ValueRange sums) {
    if (unroll == 1)
      prefetch(rows, k);
    return step(rows, columnBases, k, 0, sums);
  });
}

TileLowering::Values TileLowering::step(ArrayRef<Row> rows, ArrayRef<Value> columnBases, Value k, int64_t ahead,
                                        ValueRange carried) {
  Values columns, next;
  for (Value base : columnBases)
    columns.push_back(loadVector(base, k, ahead));
  for (auto [index, row] : llvm::enumerate(rows)) {
    Value weight = loadWeight(row, k, ahead);
    for (auto [column, x] : llvm::enumerate(columns))
      next.push_back(math::FmaOp::create(b, loc, weight, x, carried[index * columns.size() + column]));
  }
  return next;
}

/// The rows of the tile to come lie in one piece: each step fetches as much of it as it uses of this one.
void TileLowering::prefetch(ArrayRef<Row> rows, Value k) {
  if (!op.getPrefetch())
    return;
  constexpr unsigned kSecondLevelCache = 2;
  int64_t parts = op.getParts().value_or(1), perPart = static_cast<int64_t>(rows.size()) / parts;
  for (int64_t part = 0; part < parts; ++part) {
    const Row &first = rows[part * perPart];
    Value place = add(add(first.base, mul(k, perPart)), index(first.behind + *op.getPrefetch()));
    memref::PrefetchOp::create(b, loc, op.getWeight(), place, /*isWrite=*/false, kSecondLevelCache,
                               /*isDataCache=*/true);
  }
}

Value TileLowering::loadWeight(Row row, Value k, int64_t ahead) {
  int64_t step = op.getWeightStep();
  Value place = add(add(row.base, mul(k, step)), index(row.behind + ahead * step));
  Value scalar = memref::LoadOp::create(b, loc, op.getWeight(), place);
  if (!scalar.getType().isF32())
    scalar = arith::ExtFOp::create(b, loc, b.getF32Type(), scalar);
  if (op.getStrict())
    scalar = arith::ExtFOp::create(b, loc, b.getF64Type(), scalar);
  return vector::BroadcastOp::create(b, loc, sum, scalar);
}

Value TileLowering::loadVector(Value base, Value k, int64_t ahead) {
  int64_t lanes = vector.getDimSize(0);
  Value place = add(add(base, mul(k, lanes)), index(ahead * lanes));
  Value value = vector::LoadOp::create(b, loc, vector, op.getX(), place);
  if (op.getStrict())
    value = arith::ExtFOp::create(b, loc, sum, value);
  return value;
}

struct LowerRegisterTilePass : impl::LowerRegisterTileBase<LowerRegisterTilePass> {
  void runOnOperation() override {
    SmallVector<RegisterTileOp> tiles;
    getOperation().walk([&](RegisterTileOp tile) { tiles.push_back(tile); });
    for (RegisterTileOp tile : tiles) {
      TileLowering(tile).lower();
      ++lowered;
    }
  }
};
} // namespace
} // namespace ckjit::ck
