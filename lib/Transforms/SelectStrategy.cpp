//===- SelectStrategy.cpp - Write each matrix op's tile -------------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_SELECTSTRATEGY
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// The code generator moves neighbouring loads of an unrolled loop together, ahead of their use, and
/// spills what no longer fits; a step of rows x vectors FMAs is long enough without.
constexpr int64_t kUnroll = 1;

struct Tile {
  int64_t rows, vectors;
  int64_t unroll = kUnroll;
};

/// The rows of a weight that one op multiplies, as its tiles see them.
struct RowShape {
  int64_t rows = 0;     ///< of a part, in a group of rows that no tile leaves
  int64_t parts = 1;    ///< parts (gate and up, halves of a head) that a tile takes equal shares of
  bool rowsOut = false; ///< a tile is transposed before its store
};

RowShape shapeOf(LinearOp op) {
  int64_t parts = op.getCos() ? 2 : 1;
  return {static_cast<int64_t>(op.getRows()) / parts, parts, op.getHeadMajor()};
}
RowShape shapeOf(GatedLinearOp op) { return {static_cast<int64_t>(op.getRows()), 2, false}; }
RowShape shapeOf(AttnProjectOp op) { return {static_cast<int64_t>(op.getRows()), 1, false}; }
RowShape shapeOf(LMHeadOp op) { return {cast<MemRefType>(op.getTable().getType()).getDimSize(0), 1, true}; }
/// Its tiles are keys of a block or features of a head: powers of two.
RowShape shapeOf(AttentionOp) { return {0, 1, true}; }

/// True if tiles of `rows` rows compute at most a sixteenth of the rows twice.
bool fits(RowShape shape, int64_t rows) {
  int64_t perPart = rows / shape.parts, tiled = (shape.rows + perPart - 1) / perPart * perPart;
  return !shape.rowsOut && 16 * (tiled - shape.rows) <= shape.rows;
}

/// Fills the registers with rows x vectors accumulators, `vectors` operands and one broadcast. A step loads
/// rows + vectors values for rows * vectors FMAs. More rows make the last panels, that come one by one,
/// cheaper: loads bound those.
Tile registerTile(TargetAttr target, RowShape shape, bool strict) {
  if (strict)
    return {4, 1};
  if (target.getRegisters() >= 32)
    return fits(shape, 12) ? Tile{12, 2} : Tile{8, 3};
  if (!target.getFma())
    return {4, 2}; // a product needs a register
  return fits(shape, 6) ? Tile{6, 2} : Tile{4, 3};
}

/// With codes of weights and activations two sets of accumulators, integers and floats, share the registers.
Tile int8Tile(TargetAttr target) { return target.getRegisters() >= 32 ? Tile{8, 2} : Tile{2, 3}; }

Tile unpackedTile(TargetAttr target, bool strict) {
  if (strict)
    return {4, 1};
  return target.getRegisters() >= 32 ? Tile{6, 4} : target.getFma() ? Tile{4, 3} : Tile{4, 2};
}

/// The tile's rows of a weight in blocks stand on the thread's stack, as codes with their scales or as floats: as many as
/// fit, or one of each part.
int64_t rowsOnStack(int64_t rows, int64_t parts, int64_t depth, bool codes) {
  constexpr int64_t kMostBytes = 1 << 18;
  const int64_t rowBytes = codes ? 2 * depth : 4 * depth;
  while (rows > parts && rows * rowBytes > kMostBytes)
    rows -= parts;
  return rows;
}

/// For activations in rows: four rows of each part, so that a tile stores runs of four, and the tokens whose sums
/// the registers hold beside them. One token is bound by memory, whatever the tile.
Tile dotTile(TargetAttr target, RowShape shape, bool strict, bool unpacked) {
  constexpr int64_t kSteps = 2;
  // Rows that are unpacked to floats first: few, to stay in the first-level cache.
  const int64_t kRows = unpacked ? 1 : 4;
  bool many = target.getRegisters() >= 32 && !strict;
  return {kRows * shape.parts, many ? 4 : 2, kSteps};
}

/// The largest number of query heads of one kv head, at most `limit`, that divides the group.
int64_t headsOfTile(AttentionOp op, int64_t limit) {
  int64_t group = op.getHeads() / cast<MemRefType>(op.getK().getType()).getDimSize(0);
  while (limit > 1 && group % limit != 0)
    --limit;
  return limit;
}

struct SelectStrategyPass : impl::SelectStrategyBase<SelectStrategyPass> {
  using Base::Base;

  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](Operation *op) {
      return failed(chooseFor(op, target)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult chooseFor(Operation *op, TargetAttr target) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      return choose(attention, target, attention.getHeadDim());
    if (auto linear = dyn_cast<LinearOp>(op))
      return choose(linear, target, linear.getDepth());
    if (auto gated = dyn_cast<GatedLinearOp>(op))
      return choose(gated, target, gated.getDepth());
    if (auto project = dyn_cast<AttnProjectOp>(op))
      return choose(project, target, heads(project) * project.getDepth());
    if (auto head = dyn_cast<LMHeadOp>(op))
      return choose(head, target, head.getDepth());
    return success();
  }

  static int64_t heads(AttnProjectOp op) {
    auto weight = cast<MemRefType>(op.getWeight().getType());
    return weight.getRank() == 3 ? weight.getDimSize(0) : rowLength(weight) / static_cast<int64_t>(op.getDepth());
  }

  /// Error when an option is out of a tile's range.
  template <typename MatrixOp> LogicalResult choose(MatrixOp op, TargetAttr target, int64_t depth) {
    if (op.getTile())
      return success();
    Type input = op->getOperand(0).getType();
    bool panelled = isPanels(input), blocks = blockOf(op->getOperand(1).getType()) != nullptr;
    bool codes = panelled ? panelBlockOf(input) != nullptr : blocks && quantize && !strict;
    Tile tile = !panelled ? dotTile(target, shapeOf(op), strict, blocks && !codes)
                : codes   ? int8Tile(target)
                : blocks  ? unpackedTile(target, strict)
                          : registerTile(target, shapeOf(op), strict);
    if (panelled && blocks)
      tile.rows = rowsOnStack(tile.rows, shapeOf(op).parts, depth, codes);
    if (panelled && rows)
      tile.rows = rows;
    if (panelled && vectors)
      tile.vectors = vectors;
    if (panelled && unroll)
      tile.unroll = unroll;
    if constexpr (std::is_same_v<MatrixOp, AttentionOp>)
      tile.vectors = headsOfTile(op, tile.vectors);
    int64_t panelBytes = depth * target.getLanes() * (codes ? 1 : sizeof(float));
    int64_t fitting = target.getL2() / 2 / panelBytes;
    int64_t block = !panelled    ? tile.vectors
                    : panels > 0   ? std::max<int64_t>(panels, tile.vectors)
                    : panels < 0 ? panels.getValue()
                                 : std::max<int64_t>(1, fitting / tile.vectors) * tile.vectors;
    TileAttr chosenTile = TileAttr::getChecked([&] { return op.emitOpError(); }, &getContext(), tile.rows, tile.vectors,
                                               block, tile.unroll, strict.getValue(), !panelled && codes);
    if (!chosenTile)
      return failure();
    op.setTileAttr(chosenTile);
    ++chosen;
    return success();
  }
};
} // namespace
} // namespace ckjit::ck
