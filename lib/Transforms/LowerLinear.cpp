//===- LowerLinear.cpp - Matrix ops to loops of register tiles ------------===//
#include "KernelBuilder.h"
#include "TileStores.h"
#include "LoopDialects.h"
#include "ckjit/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERLINEAR
#include "ckjit/Transforms/Passes.h.inc"

namespace {
int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }
int64_t rankOf(Value memref) { return cast<MemRefType>(memref.getType()).getRank(); }

/// Where the rows of a weight lie. A tile takes `rows / parts` rows from each part, so that
/// values that are combined (gate and up, the two halves of a head) are in registers together.
struct RowMap {
  int64_t groups = 1;      ///< independent groups of rows (heads)
  int64_t rows = 0;        ///< rows of a part in a group
  int64_t parts = 1;
  int64_t groupStride = 0; ///< elements of the weight from group to group
  int64_t rowStride = 0;   ///< ... from row to row
  int64_t partStride = 0;  ///< ... from part to part
  int64_t biasGroup = 0;   ///< elements of the bias from group to group
  int64_t biasPart = 0;
  int64_t outGroup = 0;    ///< features of the output from group to group
  int64_t outPart = 0;     ///< ... from part to part
  int64_t segments = 1;    ///< pieces of the depth that lie segmentStride apart
  int64_t segmentStride = 0;
};

/// Lowers one matrix op: the nest, then what follows the register tile.
class MatrixLowering {
public:
  MatrixLowering(Operation *op, Value x, Value weight, Value bias, Value out, int64_t depth, TileAttr tile, RowMap map,
                 bool strict)
      : b(op), x(x), out(out), depth(depth), tile(tile), map(map), strict(strict), lanes(dim(x, 2)),
        vector(VectorType::get({lanes}, b.getF32Type())), tileRows(tile.getRows() / map.parts) {
    flatX = b.flatten(x);
    flatWeight = b.flatten(weight);
    flatBias = bias ? b.flatten(bias) : Value();
  }

  Value residual, cos, sin; ///< optional operands of the epilogue
  bool gated = false;
  bool rowsOut = false;      ///< the output is token-major
  bool fromFirstRow = false; ///< only rows from the first row wanted on (lm_head)

  void lower();

private:
  struct Tile {
    Value group, row;                       ///< group, first row within it
    SmallVector<Value> rowsInGroup;         ///< tileRows rows inside the group
  };
  Tile tileAt(Value index);
  SmallVector<Value> rowOffsets(const Tile &at);
  /// Row i of a tile, from its first one; a group with fewer rows than a tile repeats its last.
  int64_t rowInTile(int64_t i) const { return std::min(i, map.rows - 1); }
  void panel(const Tile &at, ValueRange offsets, Value p);
  SmallVector<Value> biased(const Tile &at, ValueRange sums);
  SmallVector<Value> rotated(const Tile &at, ValueRange values, Value p);
  SmallVector<Value> gatedValues(ValueRange values);
  void storePanels(const Tile &at, ValueRange values, Value p);
  void storeRows(const Tile &at, ValueRange values, Value p);
  /// Elements of a tile of one panel on the stack.
  int64_t stackElements() const { return static_cast<int64_t>(llvm::PowerOf2Ceil(tileRows)) * lanes; }
  Value addIndex(Value a, Value c) { return arith::AddIOp::create(b, b.loc, a, c); }
  Value mulIndex(Value a, int64_t c) { return arith::MulIOp::create(b, b.loc, a, b.index(c)); }

  KernelBuilder b;
  Value stack; ///< where a tile is turned, for token-major outputs
  Value x, out, flatX, flatWeight, flatBias;
  int64_t depth;
  TileAttr tile;
  RowMap map;
  bool strict;
  int64_t lanes;
  VectorType vector;
  int64_t tileRows;
};

void MatrixLowering::lower() {
  int64_t tilesOfGroup = (map.rows + tileRows - 1) / tileRows;
  Value panels = b.panelCount(lanes);
  Value firstPanel = fromFirstRow ? arith::DivUIOp::create(b, b.loc, b.firstRow(), b.index(lanes)).getResult() : b.index(0);
  if (rowsOut)
    stack = b.stackBuffer(tile.getVectors() * stackElements());
  auto [lo, hi] = b.share(b.index(map.groups * tilesOfGroup));
  b.forRange(lo, hi, [&](Value index) {
    Tile at = tileAt(index);
    SmallVector<Value> offsets = rowOffsets(at);
    auto loop = b.forRange(firstPanel, panels, [&](Value p) { panel(at, offsets, p); });
    loop->setAttr(kBlockAttr, b.getI64IntegerAttr(tile.getPanels()));
    loop->setAttr(kJamAttr, b.getI64IntegerAttr(tile.getVectors()));
  });
}

MatrixLowering::Tile MatrixLowering::tileAt(Value index) {
  int64_t tilesOfGroup = (map.rows + tileRows - 1) / tileRows;
  AffineExpr d0 = b.getAffineDimExpr(0);
  Tile at;
  at.group = map.groups == 1 ? b.index(0) : b.apply(d0.floorDiv(tilesOfGroup), index);
  at.row = b.apply((map.groups == 1 ? d0 : d0 % tilesOfGroup) * tileRows, index);
  // The last tile of a group moves back over rows of the one before: no branch in the tile, the stores
  // write equal values, and the rows of every tile lie a constant apart.
  if (map.rows % tileRows != 0)
    at.row = arith::MinUIOp::create(b, b.loc, at.row, b.index(std::max<int64_t>(map.rows - tileRows, 0)));
  for (int64_t i = 0; i < tileRows; ++i)
    at.rowsInGroup.push_back(addIndex(at.row, b.index(rowInTile(i))));
  return at;
}

SmallVector<Value> MatrixLowering::rowOffsets(const Tile &at) {
  SmallVector<Value> offsets;
  Value first = addIndex(mulIndex(at.group, map.groupStride), mulIndex(at.row, map.rowStride));
  for (int64_t part = 0; part < map.parts; ++part)
    for (int64_t i = 0; i < tileRows; ++i)
      offsets.push_back(addIndex(first, b.index(part * map.partStride + rowInTile(i) * map.rowStride)));
  return offsets;
}

void MatrixLowering::panel(const Tile &at, ValueRange offsets, Value p) {
  Value column = b.apply(b.getAffineDimExpr(0) * (dim(x, 1) * lanes), p);
  SmallVector<Type> types(offsets.size(), vector);
  auto sums = RegisterTileOp::create(b, b.loc, types, flatWeight, offsets, flatX, ValueRange{column}, b.index(depth),
                                     map.segments, map.segmentStride, /*weightStep=*/1, tile.getUnroll(),
                                     tile.getStrict(), b.getI64IntegerAttr(tileRows * map.rowStride),
                                     b.getI64IntegerAttr(map.parts));
  SmallVector<Value> values = biased(at, sums.getResults());
  if (gated)
    values = gatedValues(values);
  else if (cos)
    values = rotated(at, values, p);
  if (rowsOut)
    storeRows(at, values, p);
  else
    storePanels(at, values, p);
}

/// acc[part][i] + bias of that row.
SmallVector<Value> MatrixLowering::biased(const Tile &at, ValueRange sums) {
  if (!flatBias)
    return llvm::to_vector(sums);
  SmallVector<Value> values;
  Value group = mulIndex(at.group, map.biasGroup);
  for (auto [index, sum] : llvm::enumerate(sums)) {
    int64_t part = index / tileRows;
    Value place = addIndex(addIndex(group, at.rowsInGroup[index % tileRows]), b.index(part * map.biasPart));
    Value bias = memref::LoadOp::create(b, b.loc, flatBias, place);
    values.push_back(arith::AddFOp::create(b, b.loc, sum, vector::BroadcastOp::create(b, b.loc, vector, bias)));
  }
  return values;
}

/// (a, b) -> (a c - b s, a s + b c) with the angles of the panel's tokens.
SmallVector<Value> MatrixLowering::rotated(const Tile &at, ValueRange values, Value p) {
  SmallVector<Value> first, second;
  for (int64_t i = 0; i < tileRows; ++i) {
    Value x = values[i], y = values[tileRows + i];
    SmallVector<Value> place{p, at.rowsInGroup[i], b.index(0)};
    Value c = vector::LoadOp::create(b, b.loc, vector, cos, place);
    Value s = vector::LoadOp::create(b, b.loc, vector, sin, place);
    Value ys = arith::MulFOp::create(b, b.loc, y, s), yc = arith::MulFOp::create(b, b.loc, y, c);
    first.push_back(b.fma(x, c, arith::NegFOp::create(b, b.loc, ys)));
    second.push_back(b.fma(x, s, yc));
  }
  first.append(second);
  return first;
}

SmallVector<Value> MatrixLowering::gatedValues(ValueRange values) {
  SmallVector<Value> result;
  for (int64_t i = 0; i < tileRows; ++i)
    result.push_back(arith::MulFOp::create(b, b.loc, b.silu(values[i], strict), values[tileRows + i]));
  return result;
}

void MatrixLowering::storePanels(const Tile &at, ValueRange values, Value p) {
  Value group = mulIndex(at.group, map.outGroup);
  for (auto [index, value] : llvm::enumerate(values)) {
    int64_t part = index / tileRows;
    Value feature = addIndex(addIndex(group, at.rowsInGroup[index % tileRows]), b.index(part * map.outPart));
    SmallVector<Value> place{p, feature, b.index(0)};
    if (residual) {
      Value before = vector::LoadOp::create(b, b.loc, vector, residual, place);
      value = arith::AddFOp::create(b, b.loc, before, value);
    }
    vector::StoreOp::create(b, b.loc, value, out, place);
  }
}

/// Token-major stores: the tile is transposed, then each lane's values are one short row.
void MatrixLowering::storeRows(const Tile &at, ValueRange values, Value p) {
  Value firstToken = b.apply(b.getAffineDimExpr(0) * lanes, p);
  for (int64_t part = 0; part < static_cast<int64_t>(values.size()) / tileRows; ++part) {
    Value column = addIndex(at.row, b.index(part * map.outPart));
    RowStore rows;
    rows.out = out;
    rows.column = column;
    rows.firstToken = firstToken;
    rows.stack = stack;
    // Jammed copies of this panel's ops interleave: each of the tile's panels has a place of its own.
    Value slot = arith::RemUIOp::create(b, b.loc, p, b.index(tile.getVectors()));
    rows.stackBase = mulIndex(slot, stackElements());
    rows.firstRow = fromFirstRow ? b.firstRow() : Value();
    if (rankOf(out) == 3) { // the cache: rows are positions
      rows.lead.push_back(at.group);
      rows.shift = b.position();
    }
    if (map.rows < tileRows)
      rows.valid = b.index(map.rows);
    storeTransposed(b, values.slice(part * tileRows, tileRows), rows);
  }
}

/// A tile takes at least one row of each part; for results in rows its rows are transposed in vectors.
LogicalResult checkTile(Operation *op, TileAttr tile, int64_t parts, Value x, bool rowsOut) {
  int64_t rows = tile.getRows(), lanes = dim(x, 2);
  if (rows < parts)
    return op->emitOpError("tile has ") << rows << " rows, expected at least " << parts << ": one of each half";
  if (rowsOut && static_cast<int64_t>(llvm::PowerOf2Ceil(rows / parts)) > lanes)
    return op->emitOpError("tile stores ") << rows / parts << " rows, expected at most the " << lanes
                                           << " lanes of a vector for a result in rows";
  return success();
}

LogicalResult lower(LinearOp op, bool strict) {
  if (failed(checkKernel(op, {op.getX(), op.getResidual(), op.getCos(), op.getSin()})) ||
      (!op.getHeadMajor() && failed(checkKernel(op, op.getOut()))) ||
      failed(checkTile(op, *op.getTile(), op.getCos() ? 2 : 1, op.getX(), op.getHeadMajor())))
    return failure();
  bool heads = rankOf(op.getWeight()) == 3, rope = static_cast<bool>(op.getCos());
  int64_t rows = op.getRows(), depth = dim(op.getWeight(), rankOf(op.getWeight()) - 1);
  RowMap map;
  map.groups = heads ? dim(op.getWeight(), 0) : 1;
  map.parts = rope ? 2 : 1;
  map.rows = rows / map.parts;
  map.rowStride = depth;
  map.groupStride = heads ? dim(op.getWeight(), 1) * depth : 0;
  map.partStride = map.rows * depth;
  map.biasGroup = heads ? dim(op.getBias(), 1) : 0;
  map.biasPart = map.rows;
  map.outGroup = rows;
  map.outPart = map.rows;
  MatrixLowering lowering(op, op.getX(), op.getWeight(), op.getBias(), op.getOut(), op.getDepth(), *op.getTile(), map,
                          strict);
  lowering.residual = op.getResidual();
  lowering.cos = op.getCos();
  lowering.sin = op.getSin();
  lowering.rowsOut = op.getHeadMajor();
  lowering.lower();
  return success();
}

LogicalResult lower(GatedLinearOp op, bool strict) {
  if (failed(checkKernel(op, {op.getX(), op.getOut()})) ||
      failed(checkTile(op, *op.getTile(), 2, op.getX(), /*rowsOut=*/false)))
    return failure();
  RowMap map;
  map.parts = 2;
  map.rows = op.getRows();
  map.rowStride = dim(op.getWeight(), 2);
  map.partStride = dim(op.getWeight(), 1) * dim(op.getWeight(), 2);
  map.biasPart = dim(op.getBias(), 1);
  MatrixLowering lowering(op, op.getX(), op.getWeight(), op.getBias(), op.getOut(), op.getDepth(), *op.getTile(), map,
                          strict);
  lowering.gated = true;
  lowering.lower();
  return success();
}

LogicalResult lower(AttnProjectOp op, bool strict) {
  if (failed(checkKernel(op, {op.getX(), op.getResidual(), op.getOut()})))
    return failure();
  RowMap map;
  map.rows = op.getRows();
  map.rowStride = dim(op.getWeight(), 2);
  map.segments = dim(op.getWeight(), 0);
  map.segmentStride = dim(op.getWeight(), 1) * dim(op.getWeight(), 2);
  MatrixLowering lowering(op, op.getX(), op.getWeight(), op.getBias(), op.getOut(), op.getDepth(), *op.getTile(), map,
                          strict);
  lowering.residual = op.getResidual();
  lowering.lower();
  return success();
}

LogicalResult lower(LMHeadOp op, bool strict) {
  if (failed(checkKernel(op, op.getX())) ||
      failed(checkTile(op, *op.getTile(), 1, op.getX(), /*rowsOut=*/true)))
    return failure();
  RowMap map;
  map.rows = dim(op.getTable(), 0);
  map.rowStride = dim(op.getTable(), 1);
  MatrixLowering lowering(op, op.getX(), op.getTable(), Value(), op.getOut(), op.getDepth(), *op.getTile(), map,
                          strict);
  lowering.rowsOut = lowering.fromFirstRow = true;
  lowering.lower();
  return success();
}

struct LowerLinearPass : impl::LowerLinearBase<LowerLinearPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<LinearOp, GatedLinearOp, AttnProjectOp, LMHeadOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (failed(lowerOne(op)))
        return signalPassFailure();
      op->erase();
      ++lowered;
    }
  }

  LogicalResult lowerOne(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<LinearOp, GatedLinearOp, AttnProjectOp, LMHeadOp>([&](auto matrixOp) -> LogicalResult {
          if (!matrixOp.getTile())
            return op->emitOpError("has no tile; run ck-select-strategy first");
          return lower(matrixOp, strict);
        })
        .Default([](Operation *) { return success(); });
  }
};
} // namespace
} // namespace ckjit::ck
