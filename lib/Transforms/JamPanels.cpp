//===- JamPanels.cpp - Unroll a panel loop, jam its register tiles --------===//
#include "LoopDialects.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::affine;

namespace ckjit::ck {
#define GEN_PASS_DEF_JAMPANELS
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// One bound of `loop` as a value: the largest lower or the smallest upper result.
Value boundOf(OpBuilder &builder, AffineForOp loop, bool upper) {
  AffineMap map = upper ? loop.getUpperBoundMap() : loop.getLowerBoundMap();
  ValueRange operands = upper ? loop.getUpperBoundOperands() : loop.getLowerBoundOperands();
  if (upper)
    return AffineMinOp::create(builder, loop.getLoc(), map, operands);
  return AffineMaxOp::create(builder, loop.getLoc(), map, operands);
}

/// `tile` over `columns`, its other operands as in `map`.
RegisterTileOp makeTile(OpBuilder &builder, RegisterTileOp tile, TypeRange types, ValueRange rows, ValueRange columns,
                        IRMapping &map) {
  return RegisterTileOp::create(builder, tile.getLoc(), types, map.lookupOrDefault(tile.getWeight()), rows,
                                map.lookupOrDefault(tile.getX()), columns, map.lookupOrDefault(tile.getDepth()),
                                tile.getSegmentsAttr(), tile.getWeightSegmentAttr(), tile.getWeightStepAttr(),
                                tile.getUnrollAttr(), tile.getStrictAttr(), tile.getPrefetchAttr(), tile.getPartsAttr());
}
Int8TileOp makeTile(OpBuilder &builder, Int8TileOp tile, TypeRange types, ValueRange rows, ValueRange columns,
                    IRMapping &map) {
  return Int8TileOp::create(builder, tile.getLoc(), types, map.lookupOrDefault(tile.getCodes()),
                            map.lookupOrDefault(tile.getScales()), map.lookupOrDefault(tile.getOffsets()), rows,
                            map.lookupOrDefault(tile.getX()), columns, tile.getFormatAttr(), tile.getDepthAttr(),
                            tile.getWideAttr());
}

/// The tile of all copies: the same rows, the columns side by side.
template <typename Tile> void jamTiles(OpBuilder &builder, Tile tile, MutableArrayRef<IRMapping> copies) {
  SmallVector<Value> rows, columns;
  for (Value row : tile.getRowOffsets())
    rows.push_back(copies[0].lookupOrDefault(row));
  for (IRMapping &copy : copies)
    for (Value column : tile.getColumnOffsets())
      columns.push_back(copy.lookupOrDefault(column));
  size_t perCopy = tile.getColumnOffsets().size(), all = columns.size();
  SmallVector<Type> types(rows.size() * all, tile.getResultTypes().front());
  Tile jammed = makeTile(builder, tile, types, rows, columns, copies[0]);
  for (auto [index, copy] : llvm::enumerate(copies))
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t column = 0; column < perCopy; ++column)
        copy.map(tile.getResult(row * perCopy + column), jammed.getResult(row * all + index * perCopy + column));
}

/// Writes the body of `loop` `factor` times, op by op, for the panels iv, iv+1, ...
void cloneJammed(OpBuilder &builder, AffineForOp loop, Value iv, int64_t factor) {
  SmallVector<IRMapping> copies(factor);
  for (auto [index, copy] : llvm::enumerate(copies)) {
    Value shift = arith::ConstantIndexOp::create(builder, loop.getLoc(), index);
    Value panel = index == 0 ? iv : arith::AddIOp::create(builder, loop.getLoc(), iv, shift).getResult();
    copy.map(loop.getInductionVar(), panel);
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto tile = dyn_cast<RegisterTileOp>(op)) {
      jamTiles(builder, tile, copies);
      continue;
    }
    if (auto tile = dyn_cast<Int8TileOp>(op)) {
      jamTiles(builder, tile, copies);
      continue;
    }
    for (IRMapping &copy : copies)
      builder.clone(op, copy);
  }
}

scf::ForOp makeLoop(OpBuilder &builder, AffineForOp loop, Value lo, Value hi, int64_t factor) {
  Value step = arith::ConstantIndexOp::create(builder, loop.getLoc(), factor);
  auto made = scf::ForOp::create(builder, loop.getLoc(), lo, hi, step);
  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPointToStart(made.getBody());
  cloneJammed(builder, loop, made.getInductionVar(), factor);
  return made;
}

void jam(AffineForOp loop, int64_t factor) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value lo = boundOf(builder, loop, false), hi = boundOf(builder, loop, true);
  Value count = arith::SubIOp::create(builder, loc, hi, lo);
  Value size = arith::ConstantIndexOp::create(builder, loc, factor);
  Value rest = arith::RemSIOp::create(builder, loc, count, size);
  Value middle = arith::SubIOp::create(builder, loc, hi, rest);
  makeLoop(builder, loop, lo, middle, factor);
  if (factor > 1)
    makeLoop(builder, loop, middle, hi, 1);
  loop.erase();
}

/// True when `value` is the panel, or what affine.apply makes of it.
bool isMadeOf(Value value, Value panel) {
  auto apply = value.getDefiningOp<AffineApplyOp>();
  return value == panel ||
         (apply && llvm::any_of(apply.getOperands(), [&](Value operand) { return isMadeOf(operand, panel); }));
}

/// An affine op that uses the panel would not be valid in an scf loop.
LogicalResult checkBody(AffineForOp loop) {
  Value panel = loop.getInductionVar();
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    bool usesPanel = llvm::any_of(op->getOperands(), [&](Value operand) { return isMadeOf(operand, panel); });
    if (!usesPanel || isa<AffineApplyOp>(op) || !isa<AffineDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("uses the panel of a ") << kJamAttr << " loop, expected memref or vector ops there";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult check(AffineForOp loop) {
  if (loop.getNumResults() != 0)
    return loop.emitError() << kJamAttr << " on a loop with iter_args, expected none";
  if (loop.getStepAsInt() != 1)
    return loop.emitError() << kJamAttr << " on a loop by " << loop.getStepAsInt() << ", expected 1";
  auto factor = loop->getAttrOfType<IntegerAttr>(kJamAttr);
  if (!factor || factor.getInt() < 1)
    return loop.emitError() << kJamAttr << " is " << loop->getAttr(kJamAttr) << ", expected a positive factor";
  return checkBody(loop);
}

struct JamPanelsPass : impl::JamPanelsBase<JamPanelsPass> {
  void runOnOperation() override {
    SmallVector<AffineForOp> loops;
    getOperation().walk([&](AffineForOp loop) {
      if (loop->hasAttr(kJamAttr))
        loops.push_back(loop);
    });
    for (AffineForOp loop : loops) {
      if (failed(check(loop)))
        return signalPassFailure();
      jam(loop, loop->getAttrOfType<IntegerAttr>(kJamAttr).getInt());
      ++jammed;
    }
  }
};
} // namespace
} // namespace ckjit::ck
