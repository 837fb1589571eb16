//===- RowsMatrix.cpp - Matrix ops on rows to dot tiles -------------------===//
#include "LoopDialects.h"
#include "MatrixProblem.h"
#include "ProgramUses.h"

using namespace mlir;

namespace ckjit::ck {
namespace {
int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }

/// How far ahead of its use a weight is fetched: beyond what the processor's own prefetchers keep in flight.
constexpr int64_t kPrefetchElements = 1024;

/// Lowers one matrix op on rows. A tile's results are a vector of neighbouring features for each token, so bias,
/// RoPE, SwiGLU, residual and stores are vector ops on runs of memory.
class RowsLowering {
public:
  explicit RowsLowering(const MatrixProblem &problem)
      : problem(problem), map(problem.map), b(problem.op), flatX(b.flatten(problem.x)),
        flatWeight(b.flatten(problem.weight)), flatBias(problem.bias ? b.flatten(problem.bias) : Value()),
        flatOut(b.flatten(problem.out)), lanes(targetOf(problem.op).getLanes()), tileRows(problem.rowsOfTile()),
        vector(VectorType::get({tileRows}, b.getF32Type())) {}

  void lower();

private:
  /// Tokens [first, last) in steps of `count`.
  void tokens(const TilePlace &at, ValueRange offsets, Value first, Value last, int64_t count);
  /// The results of one token, part by part, to memory.
  void finish(const TilePlace &at, Value sums, Value token);
  Value partOf(Value sums, int64_t part);
  Value row(const TilePlace &at, int64_t part, int64_t groupStride, int64_t partStride);
  Value load(Value flat, Value place);
  void store(Value value, Value flat, Value place);
  /// First element of the token's row in the output, and in an operand of the same shape.
  Value outRow(const TilePlace &at, Value token);
  Value add(Value a, Value c) { return arith::AddIOp::create(b, b.loc, a, c); }
  Value mul(Value a, int64_t c) { return arith::MulIOp::create(b, b.loc, a, b.index(c)); }
  /// A group has fewer rows than a tile: single elements instead of vectors.
  bool isShort() const { return map.rows < tileRows; }

  const MatrixProblem &problem;
  const RowMap &map;
  KernelBuilder b;
  Value flatX, flatWeight, flatBias, flatOut;
  int64_t lanes, tileRows;
  VectorType vector;
};

void RowsLowering::lower() {
  Value first = problem.fromFirstRow ? b.firstRow() : b.index(0);
  int64_t group = problem.tile.getVectors();
  Value rest = arith::RemUIOp::create(b, b.loc, arith::SubIOp::create(b, b.loc, b.tokens(), first), b.index(group));
  Value middle = arith::SubIOp::create(b, b.loc, b.tokens(), rest);
  auto [lo, hi] = b.share(b.index(map.groups * problem.tilesOfGroup()));
  b.forRange(lo, hi, [&](Value index) {
    TilePlace at = tileAt(b, problem, index);
    SmallVector<Value> offsets = rowOffsets(b, problem, at);
    if (group > 1)
      tokens(at, offsets, first, middle, group);
    tokens(at, offsets, group > 1 ? middle : first, b.tokens(), 1);
  });
}

void RowsLowering::tokens(const TilePlace &at, ValueRange offsets, Value first, Value last, int64_t count) {
  auto loop = scf::ForOp::create(b, b.loc, first, last, b.index(count));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  SmallVector<Value> group, columns;
  for (int64_t i = 0; i < count; ++i) {
    group.push_back(add(loop.getInductionVar(), b.index(i)));
    columns.push_back(mul(group.back(), dim(problem.x, 1)));
  }
  SmallVector<Type> types(count, VectorType::get({tileRows * map.parts}, b.getF32Type()));
  auto sums = DotTileOp::create(b, b.loc, types, flatWeight, offsets, flatX, columns, problem.depth, map.segments,
                                map.segmentStride, lanes, problem.tile.getUnroll(), problem.tile.getStrict(),
                                b.getI64IntegerAttr(kPrefetchElements));
  for (auto [token, sum] : llvm::zip(group, sums.getResults()))
    finish(at, sum, token);
}

Value RowsLowering::partOf(Value sums, int64_t part) {
  if (map.parts == 1)
    return sums;
  auto lanesOfPart = llvm::to_vector(llvm::seq<int64_t>(part * tileRows, (part + 1) * tileRows));
  return vector::ShuffleOp::create(b, b.loc, sums, sums, lanesOfPart);
}

/// Element of the tile's first row in a vector over rows.
Value RowsLowering::row(const TilePlace &at, int64_t part, int64_t groupStride, int64_t partStride) {
  return add(add(mul(at.group, groupStride), at.row), b.index(part * partStride));
}

Value RowsLowering::load(Value flat, Value place) {
  if (!isShort())
    return vector::LoadOp::create(b, b.loc, vector, flat, place);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < tileRows; ++i)
    elements.push_back(memref::LoadOp::create(b, b.loc, flat, add(place, b.index(problem.rowInTile(i)))));
  return vector::FromElementsOp::create(b, b.loc, vector, elements);
}

void RowsLowering::store(Value value, Value flat, Value place) {
  if (!isShort()) {
    vector::StoreOp::create(b, b.loc, value, flat, place);
    return;
  }
  for (int64_t i = 0; i < map.rows; ++i) {
    Value element = vector::ExtractOp::create(b, b.loc, value, i);
    memref::StoreOp::create(b, b.loc, element, flat, add(place, b.index(i)));
  }
}

Value RowsLowering::outRow(const TilePlace &at, Value token) {
  auto type = cast<MemRefType>(problem.out.getType());
  if (type.getRank() == 2)
    return mul(token, type.getDimSize(1));
  // The cache: [group][position][lane].
  Value position = add(b.position(), token);
  return mul(add(mul(at.group, type.getDimSize(1)), position), type.getDimSize(2));
}

void RowsLowering::finish(const TilePlace &at, Value sums, Value token) {
  SmallVector<Value> values;
  for (int64_t part = 0; part < map.parts; ++part) {
    Value value = partOf(sums, part);
    if (flatBias)
      value = arith::AddFOp::create(b, b.loc, value, load(flatBias, row(at, part, map.biasGroup, map.biasPart)));
    values.push_back(value);
  }
  if (problem.gated) {
    values = {arith::MulFOp::create(b, b.loc, b.silu(values[0], problem.strict), values[1])};
  } else if (problem.cos) {
    // (a, b) -> (a c - b s, a s + b c) with the angles of the token's position.
    Value place = add(mul(add(b.position(), token), dim(problem.cos, 1)), at.row);
    Value c = load(b.flatten(problem.cos), place), s = load(b.flatten(problem.sin), place);
    Value ys = arith::MulFOp::create(b, b.loc, values[1], s), yc = arith::MulFOp::create(b, b.loc, values[1], c);
    values = {b.fma(values[0], c, arith::NegFOp::create(b, b.loc, ys)), b.fma(values[0], s, yc)};
  }
  bool heads = cast<MemRefType>(problem.out.getType()).getRank() == 3;
  for (auto [part, value] : llvm::enumerate(values)) {
    Value place = add(outRow(at, token), row(at, part, heads ? 0 : map.outGroup, map.outPart));
    if (problem.residual)
      value = arith::AddFOp::create(b, b.loc, load(b.flatten(problem.residual), place), value);
    store(value, flatOut, place);
  }
}
} // namespace

void lowerToRows(const MatrixProblem &problem) { RowsLowering(problem).lower(); }
} // namespace ckjit::ck
