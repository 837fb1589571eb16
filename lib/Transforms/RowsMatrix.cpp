//===- RowsMatrix.cpp - Matrix ops on rows to dot tiles -------------------===//
#include "LoopDialects.h"
#include "MatrixProblem.h"
#include "ProgramUses.h"

using namespace mlir;

namespace ckjit::ck {
namespace {
int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }

/// How far ahead of its use a weight is fetched: beyond what the processor's own prefetchers keep in flight.
constexpr int64_t kPrefetchElements = 1024, kPrefetchBytes = 2048;

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
  bool quantized() const { return problem.block && problem.tile.getQuantize(); }
  /// Makes codes of all tokens, for this thread alone: less work than waiting for others.
  void quantize();
  /// The sums of the tile's rows, one vector a token of `group`.
  ValueRange sums(ValueRange offsets, ValueRange group);
  /// Tokens [first, last) in steps of `count`; the last group has two at least.
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
  UnpackedRows unpacked;            ///< the tile's rows of a weight in blocks, as floats
  Value codes, codeScales, codeSums; ///< of all tokens, when quantized
  int64_t lanes, tileRows;
  VectorType vector;
};

void RowsLowering::lower() {
  Value first = problem.fromFirstRow ? b.firstRow() : b.index(0);
  int64_t group = problem.tile.getVectors();
  Value rest = arith::RemUIOp::create(b, b.loc, arith::SubIOp::create(b, b.loc, b.tokens(), first), b.index(group));
  Value middle = arith::SubIOp::create(b, b.loc, b.tokens(), rest);
  if (group > 2) { // part of a group costs less as a whole one than token by token
    Value several = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ugt, rest, b.index(1));
    middle = arith::SelectOp::create(b, b.loc, several, b.tokens(), middle);
  }
  if (quantized())
    quantize();
  else if (problem.block)
    unpacked = unpackedRows(b, problem, /*codes=*/false);
  auto [lo, hi] = b.share(b.index(map.groups * problem.tilesOfGroup()));
  b.forRange(lo, hi, [&](Value index) {
    TilePlace at = tileAt(b, problem, index);
    SmallVector<Value> offsets = rowOffsets(b, problem, at);
    if (problem.block && !quantized()) {
      unpackTile(b, problem, unpacked, offsets);
      for (auto [row, offset] : llvm::enumerate(offsets))
        offset = b.index(row * problem.width);
    }
    if (group > 1)
      tokens(at, offsets, first, middle, group);
    tokens(at, offsets, group > 1 ? middle : first, b.tokens(), 1);
  });
}

void RowsLowering::quantize() {
  FormatTraits traits = traitsOf(problem.block.getFormat());
  int64_t most = dim(problem.x, 0), features = dim(problem.x, 1), width = problem.width;
  codes = b.stackBuffer(most * width, b.getI8Type());
  codeScales = b.stackBuffer(most * width / problem.block.getActivationBlock());
  codeSums = b.stackBuffer(most * width / traits.group);
  // Features of rows that are padded, or whose heads are, go to a place with zeros between them.
  int64_t segments = isa<AttnProjectOp>(problem.op) ? features / problem.depth : 1;
  bool padded = features != width;
  Value row = padded ? b.stackBuffer(width) : Value();
  auto loop = scf::ForOp::create(b, b.loc, b.index(0), b.tokens(), b.index(1));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value token = loop.getInductionVar(), from = mul(token, features);
  if (padded) {
    int64_t own = features / segments, wide = width / segments;
    for (int64_t s = 0; s < segments; ++s) {
      auto copy = scf::ForOp::create(b, b.loc, b.index(0), b.index(wide), b.index(1));
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPoint(copy.getBody()->getTerminator());
      Value i = copy.getInductionVar();
      Value inside = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ult, i, b.index(own));
      Value place = arith::MinUIOp::create(b, b.loc, i, b.index(own - 1));
      Value x = memref::LoadOp::create(b, b.loc, flatX, add(from, add(place, b.index(s * own))));
      Value value = arith::SelectOp::create(b, b.loc, inside, x, b.f32(0.0f));
      memref::StoreOp::create(b, b.loc, value, row, add(i, b.index(s * wide)));
    }
    from = b.index(0);
  }
  QuantizeRowOp::create(b, b.loc, padded ? row : flatX, from, codes, codeScales, codeSums, token,
                        problem.block.getFormat(), width);
}

ValueRange RowsLowering::sums(ValueRange offsets, ValueRange group) {
  SmallVector<Type> types(group.size(), VectorType::get({tileRows * map.parts}, b.getF32Type()));
  if (quantized())
    return Int8DotTileOp::create(b, b.loc, types, flatWeight, offsets, codes, codeScales, codeSums, group,
                                 problem.block.getFormat(), problem.width, b.getI64IntegerAttr(kPrefetchBytes))
        .getResults();
  SmallVector<Value> columns;
  for (Value token : group)
    columns.push_back(mul(token, dim(problem.x, 1)));
  // What was unpacked just now is in the cache.
  IntegerAttr prefetch = problem.block ? IntegerAttr() : b.getI64IntegerAttr(kPrefetchElements);
  return DotTileOp::create(b, b.loc, types, problem.block ? unpacked.buffers[0] : flatWeight, offsets, flatX, columns,
                           problem.depth, map.segments, map.segmentStride, lanes, problem.tile.getUnroll(),
                           problem.tile.getStrict(), prefetch)
      .getResults();
}

void RowsLowering::tokens(const TilePlace &at, ValueRange offsets, Value first, Value last, int64_t count) {
  auto loop = scf::ForOp::create(b, b.loc, first, last, b.index(count));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  SmallVector<Value> group;
  constexpr int64_t kLeast = 2;
  SmallVector<Value> present; // for those that a group may lack: it computes its last token again instead
  for (int64_t i = 0; i < count; ++i) {
    group.push_back(add(loop.getInductionVar(), b.index(i)));
    if (i < kLeast)
      continue;
    present.push_back(arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ult, group.back(), last));
    group.back() = arith::SelectOp::create(b, b.loc, present.back(), group.back(), group[i - 1]);
  }
  ValueRange results = sums(offsets, group);
  for (int64_t i = 0; i < count; ++i) {
    OpBuilder::InsertionGuard inner(b);
    if (i >= kLeast) {
      auto made = scf::IfOp::create(b, b.loc, present[i - kLeast]);
      b.setInsertionPoint(made.thenBlock()->getTerminator());
    }
    finish(at, results[i], group[i]);
  }
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
