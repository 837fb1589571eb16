//===- LowerLinear.cpp - Matrix ops to loops of tiles ---------------------===//
#include "LoopDialects.h"
#include "MatrixProblem.h"
#include "ProgramUses.h"
#include "VectorBuilder.h"
#include "ckjit/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERLINEAR
#include "ckjit/Transforms/Passes.h.inc"

namespace {
int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }
int64_t rankOf(Value memref) { return cast<MemRefType>(memref.getType()).getRank(); }

/// A tile takes at least one row of each part. Rows that are turned are so in vectors: in panels for results in
/// rows, in rows always.
LogicalResult checkTile(const MatrixProblem &problem) {
  int64_t rows = problem.tile.getRows(), parts = problem.map.parts;
  Operation *op = problem.op;
  if (rows < parts)
    return op->emitOpError("tile has ") << rows << " rows, expected at least " << parts << ": one of each half";
  if (!isPanels(problem.x.getType())) {
    if (rows % parts != 0 || !llvm::isPowerOf2_64(rows / parts))
      return op->emitOpError("tile has ") << rows << " rows, expected a power of two of each part: x is in rows";
    return success();
  }
  PanelBlockType block = panelBlockOf(problem.x.getType());
  int64_t lanes = block ? block.getTokens() : dim(problem.x, 2);
  if (problem.rowsOut && static_cast<int64_t>(llvm::PowerOf2Ceil(rows / parts)) > lanes)
    return op->emitOpError("tile stores ") << rows / parts << " rows, expected at most the " << lanes
                                           << " lanes of a vector for a result in rows";
  return success();
}

LogicalResult lower(const MatrixProblem &problem, ValueRange activations) {
  // Whether codes' bytes can be multiplied as they are depends on the target.
  if (problem.block && !targetOf(problem.op))
    return failure();
  if (failed(checkKernel(problem.op, activations)) || failed(checkTile(problem)))
    return failure();
  if (isPanels(problem.x.getType()))
    lowerToPanels(problem);
  else
    lowerToRows(problem);
  return success();
}

/// What any of the ops has.
template <typename MatrixOp> MatrixProblem problemOf(MatrixOp op, Value weight, bool strict) {
  MatrixProblem problem;
  problem.op = op;
  problem.x = op.getX();
  problem.weight = weight;
  problem.out = op.getOut();
  problem.depth = op.getDepth();
  problem.tile = *op.getTile();
  problem.strict = strict;
  problem.map.rowStride = dim(weight, rankOf(weight) - 1);
  problem.width = rowLength(cast<MemRefType>(weight.getType()));
  if ((problem.block = blockOf(weight.getType())))
    problem.map.rowStride *= problem.block.getBytes();
  return problem;
}

LogicalResult lower(LinearOp op, bool strict) {
  bool heads = rankOf(op.getWeight()) == 3;
  MatrixProblem problem = problemOf(op, op.getWeight(), strict);
  problem.bias = op.getBias();
  problem.residual = op.getResidual();
  problem.cos = op.getCos();
  problem.sin = op.getSin();
  problem.rowsOut = op.getHeadMajor();
  RowMap &map = problem.map;
  map.groups = heads ? dim(op.getWeight(), 0) : 1;
  map.parts = op.getCos() ? 2 : 1;
  map.rows = op.getRows() / map.parts;
  map.groupStride = heads ? dim(op.getWeight(), 1) * map.rowStride : 0;
  map.partStride = map.rows * map.rowStride;
  map.biasGroup = heads ? dim(op.getBias(), 1) : 0;
  map.biasPart = map.rows;
  map.outGroup = op.getRows();
  map.outPart = map.rows;
  SmallVector<Value> activations{op.getX(), op.getResidual(), op.getCos(), op.getSin()};
  if (!op.getHeadMajor())
    activations.push_back(op.getOut());
  return lower(problem, activations);
}

LogicalResult lower(GatedLinearOp op, bool strict) {
  MatrixProblem problem = problemOf(op, op.getWeight(), strict);
  problem.bias = op.getBias();
  problem.gated = true;
  RowMap &map = problem.map;
  map.parts = 2;
  map.rows = op.getRows();
  map.partStride = dim(op.getWeight(), 1) * map.rowStride;
  map.biasPart = dim(op.getBias(), 1);
  return lower(problem, {op.getX(), op.getOut()});
}

LogicalResult lower(AttnProjectOp op, bool strict) {
  MatrixProblem problem = problemOf(op, op.getWeight(), strict);
  problem.bias = op.getBias();
  problem.residual = op.getResidual();
  RowMap &map = problem.map;
  map.rows = op.getRows();
  if (!problem.block) {
    map.segments = dim(op.getWeight(), 0);
    map.segmentStride = dim(op.getWeight(), 1) * map.rowStride;
  } else if (!panelBlockOf(op.getX().getType())) {
    // A row has the heads side by side.
    map.segments = dim(op.getX(), 1) / problem.depth;
    map.segmentStride = problem.width / map.segments;
  }
  return lower(problem, {op.getX(), op.getResidual(), op.getOut()});
}

LogicalResult lower(LMHeadOp op, bool strict) {
  MatrixProblem problem = problemOf(op, op.getTable(), strict);
  problem.rowsOut = problem.fromFirstRow = true;
  problem.map.rows = dim(op.getTable(), 0);
  return lower(problem, op.getX());
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

TilePlace tileAt(KernelBuilder &b, const MatrixProblem &problem, Value index) {
  const RowMap &map = problem.map;
  int64_t rows = problem.rowsOfTile(), tiles = problem.tilesOfGroup();
  AffineExpr d0 = b.getAffineDimExpr(0);
  TilePlace at;
  at.group = map.groups == 1 ? b.index(0) : b.apply(d0.floorDiv(tiles), index);
  at.row = b.apply((map.groups == 1 ? d0 : d0 % tiles) * rows, index);
  if (map.rows % rows != 0)
    at.row = arith::MinUIOp::create(b, b.loc, at.row, b.index(std::max<int64_t>(map.rows - rows, 0)));
  return at;
}

SmallVector<Value> rowOffsets(KernelBuilder &b, const MatrixProblem &problem, const TilePlace &at) {
  const RowMap &map = problem.map;
  Value group = arith::MulIOp::create(b, b.loc, at.group, b.index(map.groupStride));
  Value row = arith::MulIOp::create(b, b.loc, at.row, b.index(map.rowStride));
  Value first = arith::AddIOp::create(b, b.loc, group, row);
  SmallVector<Value> offsets;
  for (int64_t part = 0; part < map.parts; ++part)
    for (int64_t i = 0; i < problem.rowsOfTile(); ++i) {
      Value behind = b.index(part * map.partStride + problem.rowInTile(i) * map.rowStride);
      offsets.push_back(arith::AddIOp::create(b, b.loc, first, behind));
    }
  return offsets;
}

UnpackedRows unpackedRows(KernelBuilder &b, const MatrixProblem &problem, bool codes) {
  UnpackedRows to;
  int64_t rows = problem.rowsOfTile() * problem.map.parts;
  if (!codes) {
    to.buffers.push_back(b.stackBuffer(rows * problem.width));
    return to;
  }
  Format format = problem.block.getFormat();
  FormatTraits traits = traitsOf(format);
  VectorBuilder vectors(problem.op, targetOf(problem.op));
  to.wide = format == Format::Q8_0 && !vectors.hasByteDot();
  int64_t groups = rows * problem.width / traits.group;
  to.buffers.push_back(b.stackBuffer(rows * problem.width, b.getI8Type()));
  to.buffers.push_back(b.stackBuffer(groups));
  to.buffers.push_back(b.stackBuffer(traits.minima ? groups : 1));
  return to;
}

void unpackTile(KernelBuilder &b, const MatrixProblem &problem, const UnpackedRows &to, ValueRange offsets) {
  int64_t rows = problem.rowsOfTile();
  for (int64_t part = 0; part < problem.map.parts; ++part) {
    auto loop = scf::ForOp::create(b, b.loc, b.index(0), b.index(rows), b.index(1));
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value row = loop.getInductionVar(), within = row;
    if (problem.map.rows < rows) // a short group repeats its last row
      within = arith::MinUIOp::create(b, b.loc, row, b.index(problem.map.rows - 1));
    Value behind = arith::MulIOp::create(b, b.loc, within, b.index(problem.map.rowStride));
    Value from = arith::AddIOp::create(b, b.loc, offsets[part * rows], behind);
    Value place = arith::AddIOp::create(b, b.loc, row, b.index(part * rows));
    UnpackRowOp::create(b, b.loc, b.flatten(problem.weight), from, to.buffers, place, problem.block.getFormat(),
                        problem.width, to.wide);
  }
}
} // namespace ckjit::ck
