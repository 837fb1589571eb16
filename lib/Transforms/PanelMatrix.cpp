//===- PanelMatrix.cpp - Matrix ops on panels to register tiles -----------===//
#include "LoopDialects.h"
#include "MatrixProblem.h"
#include "TileStores.h"

using namespace mlir;

namespace ckjit::ck {
namespace {
int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }
int64_t rankOf(Value memref) { return cast<MemRefType>(memref.getType()).getRank(); }

/// Lowers one matrix op on panels: the nest, then what follows the register tile.
class PanelLowering {
public:
  explicit PanelLowering(const MatrixProblem &problem)
      : problem(problem), map(problem.map), b(problem.op), flatX(b.flatten(problem.x)),
        flatWeight(b.flatten(problem.weight)), flatBias(problem.bias ? b.flatten(problem.bias) : Value()),
        lanes(quantized() ? panelBlockOf(problem.x.getType()).getTokens() : dim(problem.x, 2)), vector(VectorType::get({lanes}, b.getF32Type())), tileRows(problem.rowsOfTile()) {}

  void lower();

private:
  struct Tile : TilePlace {
    SmallVector<Value> rowsInGroup; ///< tileRows rows inside the group
  };
  bool quantized() const { return panelBlockOf(problem.x.getType()) != nullptr; }
  /// The sums of the tile with panel p.
  ValueRange sums(ValueRange offsets, Value p);
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

  const MatrixProblem &problem;
  const RowMap &map;
  KernelBuilder b;
  Value flatX, flatWeight, flatBias;
  UnpackedRows unpacked; ///< the tile's rows of a weight in blocks
  Value stack; ///< where a tile is turned, for token-major outputs
  int64_t lanes;
  VectorType vector;
  int64_t tileRows;
};

void PanelLowering::lower() {
  Value panels = b.panelCount(lanes);
  Value firstPanel = problem.fromFirstRow ? arith::DivUIOp::create(b, b.loc, b.firstRow(), b.index(lanes)).getResult() : b.index(0);
  if (problem.rowsOut)
    stack = b.stackBuffer(problem.tile.getVectors() * stackElements());
  if (problem.block)
    unpacked = unpackedRows(b, problem, quantized());
  auto [lo, hi] = b.share(b.index(map.groups * problem.tilesOfGroup()));
  b.forRange(lo, hi, [&](Value index) {
    Tile at{tileAt(b, problem, index), {}};
    for (int64_t i = 0; i < tileRows; ++i)
      at.rowsInGroup.push_back(addIndex(at.row, b.index(problem.rowInTile(i))));
    SmallVector<Value> offsets = rowOffsets(b, problem, at);
    if (problem.block) {
      unpackTile(b, problem, unpacked, offsets);
      for (auto [index, offset] : llvm::enumerate(offsets))
        offset = b.index(index * problem.width);
    }
    auto loop = b.forRange(firstPanel, panels, [&](Value p) { panel(at, offsets, p); });
    loop->setAttr(kBlockAttr, b.getI64IntegerAttr(problem.tile.getPanels()));
    loop->setAttr(kJamAttr, b.getI64IntegerAttr(problem.tile.getVectors()));
  });
}

ValueRange PanelLowering::sums(ValueRange offsets, Value p) {
  SmallVector<Type> types(offsets.size(), vector);
  if (quantized()) {
    int64_t bytes = dim(problem.x, 1) * panelBlockOf(problem.x.getType()).getBytes();
    Value column = b.apply(b.getAffineDimExpr(0) * bytes, p);
    return Int8TileOp::create(b, b.loc, types, unpacked.buffers[0], unpacked.buffers[1], unpacked.buffers[2], offsets,
                              flatX, ValueRange{column}, problem.block.getFormat(), problem.width, unpacked.wide)
        .getResults();
  }
  Value column = b.apply(b.getAffineDimExpr(0) * (dim(problem.x, 1) * lanes), p);
  // Rows to come are not in one piece where they are unpacked: nothing to prefetch.
  IntegerAttr prefetch = problem.block ? IntegerAttr() : b.getI64IntegerAttr(tileRows * map.rowStride);
  IntegerAttr parts = problem.block ? IntegerAttr() : b.getI64IntegerAttr(map.parts);
  return RegisterTileOp::create(b, b.loc, types, problem.block ? unpacked.buffers[0] : flatWeight, offsets, flatX,
                                ValueRange{column}, b.index(problem.depth), map.segments, map.segmentStride,
                                /*weightStep=*/1, problem.tile.getUnroll(), problem.tile.getStrict(), prefetch, parts)
      .getResults();
}

void PanelLowering::panel(const Tile &at, ValueRange offsets, Value p) {
  SmallVector<Value> values = biased(at, sums(offsets, p));
  if (problem.gated)
    values = gatedValues(values);
  else if (problem.cos)
    values = rotated(at, values, p);
  if (problem.rowsOut)
    storeRows(at, values, p);
  else
    storePanels(at, values, p);
}

/// acc[part][i] + bias of that row.
SmallVector<Value> PanelLowering::biased(const Tile &at, ValueRange sums) {
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
SmallVector<Value> PanelLowering::rotated(const Tile &at, ValueRange values, Value p) {
  SmallVector<Value> first, second;
  for (int64_t i = 0; i < tileRows; ++i) {
    Value x = values[i], y = values[tileRows + i];
    SmallVector<Value> place{p, at.rowsInGroup[i], b.index(0)};
    Value c = vector::LoadOp::create(b, b.loc, vector, problem.cos, place);
    Value s = vector::LoadOp::create(b, b.loc, vector, problem.sin, place);
    Value ys = arith::MulFOp::create(b, b.loc, y, s), yc = arith::MulFOp::create(b, b.loc, y, c);
    first.push_back(b.fma(x, c, arith::NegFOp::create(b, b.loc, ys)));
    second.push_back(b.fma(x, s, yc));
  }
  first.append(second);
  return first;
}

SmallVector<Value> PanelLowering::gatedValues(ValueRange values) {
  SmallVector<Value> result;
  for (int64_t i = 0; i < tileRows; ++i)
    result.push_back(arith::MulFOp::create(b, b.loc, b.silu(values[i], problem.strict), values[tileRows + i]));
  return result;
}

void PanelLowering::storePanels(const Tile &at, ValueRange values, Value p) {
  Value group = mulIndex(at.group, map.outGroup);
  for (auto [index, value] : llvm::enumerate(values)) {
    int64_t part = index / tileRows;
    Value feature = addIndex(addIndex(group, at.rowsInGroup[index % tileRows]), b.index(part * map.outPart));
    SmallVector<Value> place{p, feature, b.index(0)};
    if (problem.residual) {
      Value before = vector::LoadOp::create(b, b.loc, vector, problem.residual, place);
      value = arith::AddFOp::create(b, b.loc, before, value);
    }
    vector::StoreOp::create(b, b.loc, value, problem.out, place);
  }
}

/// Token-major stores: the tile is transposed, then each lane's values are one short row.
void PanelLowering::storeRows(const Tile &at, ValueRange values, Value p) {
  Value firstToken = b.apply(b.getAffineDimExpr(0) * lanes, p);
  for (int64_t part = 0; part < static_cast<int64_t>(values.size()) / tileRows; ++part) {
    Value column = addIndex(at.row, b.index(part * map.outPart));
    RowStore rows;
    rows.out = problem.out;
    rows.column = column;
    rows.firstToken = firstToken;
    rows.stack = stack;
    // Jammed copies of this panel's ops interleave: each of the tile's panels has a place of its own.
    Value slot = arith::RemUIOp::create(b, b.loc, p, b.index(problem.tile.getVectors()));
    rows.stackBase = mulIndex(slot, stackElements());
    rows.firstRow = problem.fromFirstRow ? b.firstRow() : Value();
    if (rankOf(problem.out) == 3) { // the cache: rows are positions
      rows.lead.push_back(at.group);
      rows.shift = b.position();
    }
    if (map.rows < tileRows)
      rows.valid = b.index(map.rows);
    storeTransposed(b, values.slice(part * tileRows, tileRows), rows);
  }
}
} // namespace

void lowerToPanels(const MatrixProblem &problem) { PanelLowering(problem).lower(); }
} // namespace ckjit::ck
