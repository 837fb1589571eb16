//===- CKLayerOps.cpp - Verifiers of the ops of a layer -------------------===//
#include "ckjit/Dialect/CK/CKDialect.h"

using namespace mlir;
using namespace ckjit::ck;

namespace {
MemRefType shapeOf(Value value) { return cast<MemRefType>(value.getType()); }

/// Features an activation can hold: columns of rows, or features of panels.
int64_t featuresOf(Value value) {
  PanelBlockType block = panelBlockOf(value.getType());
  return shapeOf(value).getDimSize(1) * (block ? block.getFeatures() : 1);
}

LogicalResult checkAtLeast(Operation *op, StringRef name, int64_t found, int64_t expected) {
  if (found < expected)
    return op->emitOpError() << name << " is " << found << ", expected at least " << expected;
  return success();
}

/// Panels hold exactly `features`; rows may be padded beyond, blocks are (checkInput).
LogicalResult checkFeatures(Operation *op, StringRef name, Value value, int64_t features) {
  int64_t found = featuresOf(value);
  if (panelBlockOf(value.getType()))
    return checkAtLeast(op, name, found, features);
  if (isPanels(value.getType()) ? found != features : found < features)
    return op->emitOpError() << name << " holds " << found << " features, expected "
                             << (isPanels(value.getType()) ? "" : "at least ") << features;
  return success();
}

LogicalResult checkSameType(Operation *op, StringRef firstName, Value first, StringRef secondName, Value second) {
  if (first.getType() != second.getType())
    return op->emitOpError() << firstName << " is " << first.getType() << " but " << secondName << " is "
                             << second.getType();
  return success();
}

LogicalResult checkSameLayout(Operation *op, StringRef firstName, Value first, StringRef secondName, Value second) {
  MemRefType a = shapeOf(first), b = shapeOf(second);
  bool equal = a.getRank() == b.getRank() && a.getDimSize(0) == b.getDimSize(0) &&
               (a.getRank() == 2 || a.getDimSize(2) == b.getDimSize(2));
  if (!equal)
    return op->emitOpError() << firstName << " is " << a << " but " << secondName << " is " << b
                             << ", expected the same rows or panels";
  return success();
}

/// `rows` x `depth` lie inside the last two dims of `weight`.
LogicalResult checkWeight(Operation *op, Value weight, int64_t rows, int64_t depth) {
  MemRefType type = shapeOf(weight);
  int64_t rank = type.getRank();
  if (rows < 1 || rows > type.getDimSize(rank - 2))
    return op->emitOpError() << "rows is " << rows << ", the weight has " << type.getDimSize(rank - 2);
  if (depth < 1 || depth > rowLength(type))
    return op->emitOpError() << "depth is " << depth << ", the weight has " << rowLength(type);
  return success();
}

/// The input of a matrix op: quantized, it is blocks as the weight's format has them, for its whole rows.
LogicalResult checkInput(Operation *op, Value x, Value weight) {
  PanelBlockType block = panelBlockOf(x.getType());
  if (!block)
    return success();
  BlockType format = blockOf(weight.getType());
  if (!format)
    return op->emitOpError() << "x is " << x.getType() << ", expected floats for a weight of "
                             << shapeOf(weight).getElementType();
  if (block.getFeatures() != format.getActivationBlock() || featuresOf(x) != rowLength(shapeOf(weight)))
    return op->emitOpError() << "x is " << x.getType() << ", expected " << rowLength(shapeOf(weight))
                             << " features in blocks of " << format.getActivationBlock() << " for " << weight.getType();
  return success();
}

/// Quantized panels hold the tokens of the panels of `out`, which may be heads of rows instead.
LogicalResult checkTokens(Operation *op, Value x, Value out) {
  PanelBlockType block = panelBlockOf(x.getType());
  MemRefType panels = shapeOf(x), written = shapeOf(out);
  if (!block || written.getRank() != 3)
    return success();
  if (panels.getDimSize(0) != written.getDimSize(0) || block.getTokens() != written.getDimSize(2))
    return op->emitOpError() << "x is " << panels << " but out is " << written << ", expected the same panels";
  return success();
}

/// One angle for each pair of the `size` values of a head.
LogicalResult checkAngles(Operation *op, Value cos, Value sin, StringRef sizeName, int64_t size) {
  if (failed(checkSameType(op, "cos", cos, "sin", sin)))
    return failure();
  if (featuresOf(cos) != size / 2)
    return op->emitOpError() << "tables hold " << featuresOf(cos) << " angles a row, expected " << sizeName
                             << "/2 = " << size / 2;
  return success();
}

/// One value for each of the C tokens of `x`. Panels give C only up to the lanes of the last one.
LogicalResult checkOneForEachToken(Operation *op, StringRef name, Value value, Value x) {
  MemRefType type = shapeOf(x);
  int64_t found = shapeOf(value).getDimSize(0), most = type.getDimSize(0), least = most;
  if (isPanels(type)) {
    most *= type.getDimSize(2);
    least = most - type.getDimSize(2) + 1;
  }
  if (found >= least && found <= most)
    return success();
  InFlightDiagnostic error = op->emitOpError() << name << "'s length is " << found << ", expected " << least;
  if (least != most)
    error << " to " << most;
  return error << ": one value for each token of x, " << type;
}

/// These have read a value's place when they write it. Of rows, threads share the features, in vectors of which the
/// last may overlap the one before; of panels they don't.
bool mayWriteInPlace(OpOperand &read) {
  return isa<RMSNormOp, AddOp, SwiGLUOp>(read.getOwner()) && isPanels(read.get().getType());
}

int64_t groupsOf(Value weight) { return shapeOf(weight).getRank() == 3 ? shapeOf(weight).getDimSize(0) : 1; }
} // namespace

LogicalResult ckjit::ck::verifyLayerOperands(Operation *op) {
  for (auto [index, operand] : llvm::enumerate(op->getOperandTypes())) {
    auto type = cast<MemRefType>(operand);
    if (!type.getLayout().isIdentity())
      return op->emitOpError("operand #") << index << " is " << type << ", expected a memref without a layout";
    if (type.hasStaticShape() && !bytesOf(type))
      return op->emitOpError("operand #") << index << " is " << type << ", expected less than 2^60 bytes";
  }
  for (OpOperand *written : writtenOperands(op))
    for (OpOperand &other : op->getOpOperands())
      if (&other != written && other.get() == written->get() && !mayWriteInPlace(other))
        return op->emitOpError("writes operand #") << written->getOperandNumber() << ", which is operand #"
                                                   << other.getOperandNumber() << " too, expected another buffer";
  return success();
}

LogicalResult EmbedOp::verify() {
  int64_t width = rowLength(shapeOf(getTable()));
  if (getPositions() && featuresOf(getPositions()) != width)
    return emitOpError("positions hold ") << featuresOf(getPositions()) << " features, the table " << width;
  if (featuresOf(getOut()) > width)
    return emitOpError("out holds ") << featuresOf(getOut()) << " features, the table " << width;
  return success();
}

LogicalResult RMSNormOp::verify() {
  int64_t features = getFeatures();
  if (failed(checkAtLeast(*this, "features", features, 1)) || failed(checkFeatures(*this, "x", getX(), features)) ||
      failed(checkFeatures(*this, "out", getOut(), features)) ||
      failed(checkAtLeast(*this, "gamma's length", shapeOf(getGamma()).getDimSize(0), features)))
    return failure();
  if (getRstd() && failed(checkOneForEachToken(*this, "rstd", getRstd(), getX())))
    return failure();
  return checkSameLayout(*this, "x", getX(), "out", getOut());
}

LogicalResult LinearOp::verify() {
  int64_t rows = getRows(), groups = groupsOf(getWeight());
  if (failed(checkWeight(*this, getWeight(), rows, getDepth())) || failed(checkInput(*this, getX(), getWeight())) ||
      failed(checkFeatures(*this, "x", getX(), getDepth())))
    return failure();
  if (shapeOf(getBias()).getNumElements() != shapeOf(getWeight()).getNumElements() / shapeOf(getWeight()).getShape().back())
    return emitOpError("bias is ") << getBias().getType() << ", expected one value a row of " << getWeight().getType();
  if (static_cast<bool>(getCos()) != static_cast<bool>(getSin()))
    return emitOpError("has one of cos and sin, expected both or none");
  if (getCos() && rows % 2 != 0)
    return emitOpError("rotates heads of ") << rows << " rows, expected an even number";
  if (getCos() && failed(checkAngles(*this, getCos(), getSin(), "rows", rows)))
    return failure();
  if (getCos() && getResidual())
    return emitOpError("has both rope and residual, expected one of them");
  if (getHeadMajor() && getResidual())
    return emitOpError("has both head_major and residual, expected one of them");
  if (!getHeadMajor()) {
    if (failed(checkFeatures(*this, "out", getOut(), groups * rows)) || failed(checkTokens(*this, getX(), getOut())))
      return failure();
  } else if (groupsOf(getWeight()) != groupsOf(getOut()) || shapeOf(getWeight()).getRank() != 3 ||
             shapeOf(getOut()).getRank() != 3 || shapeOf(getOut()).getDimSize(2) < rows) {
    return emitOpError("out is ") << getOut().getType() << ", expected " << groups << " heads of at least " << rows
                                  << " lanes";
  }
  return getResidual() ? checkSameType(*this, "residual", getResidual(), "out", getOut()) : success();
}

LogicalResult GatedLinearOp::verify() {
  if (failed(checkWeight(*this, getWeight(), getRows(), getDepth())) || failed(checkInput(*this, getX(), getWeight())) ||
      failed(checkFeatures(*this, "x", getX(), getDepth())) ||
      failed(checkFeatures(*this, "out", getOut(), getRows())))
    return failure();
  if (groupsOf(getWeight()) != 2)
    return emitOpError("weight has ") << groupsOf(getWeight()) << " groups of rows, expected 2: gate and up";
  if (shapeOf(getBias()).getShape() != shapeOf(getWeight()).getShape().drop_back())
    return emitOpError("bias is ") << getBias().getType() << ", expected one value a row of " << getWeight().getType();
  return panelBlockOf(getX().getType()) ? checkTokens(*this, getX(), getOut())
                                        : checkSameLayout(*this, "x", getX(), "out", getOut());
}

/// The input's features are heads of `depth`; in blocks a row of the weight holds them all, each padded alike.
static LogicalResult checkHeads(AttnProjectOp op) {
  int64_t depth = op.getDepth();
  if (!blockOf(op.getWeight().getType()))
    return shapeOf(op.getWeight()).getRank() == 3
               ? checkFeatures(op, "x", op.getX(), groupsOf(op.getWeight()) * depth)
               : op.emitOpError("weight is ") << op.getWeight().getType() << ", expected [heads][rows][depth]";
  if (shapeOf(op.getWeight()).getRank() != 2)
    return op.emitOpError("weight is ") << op.getWeight().getType() << ", expected [rows][heads * depth] in blocks";
  int64_t heads = featuresOf(op.getX()) / depth;
  if (panelBlockOf(op.getX().getType()))
    return success();
  if (heads < 1 || featuresOf(op.getX()) % depth != 0 || rowLength(shapeOf(op.getWeight())) % heads != 0)
    return op.emitOpError("x holds ") << featuresOf(op.getX()) << " features, expected heads of " << depth
                                      << " for the weight's rows of " << rowLength(shapeOf(op.getWeight()));
  return success();
}

LogicalResult AttnProjectOp::verify() {
  if (failed(checkWeight(*this, getWeight(), getRows(), getDepth())) || failed(checkInput(*this, getX(), getWeight())) ||
      failed(checkHeads(*this)) ||
      failed(checkFeatures(*this, "out", getOut(), getRows())) || failed(checkTokens(*this, getX(), getOut())) ||
      failed(checkAtLeast(*this, "bias's length", shapeOf(getBias()).getDimSize(0), getRows())))
    return failure();
  return getResidual() ? checkSameType(*this, "residual", getResidual(), "out", getOut()) : success();
}

LogicalResult RopeOp::verify() {
  int64_t headDim = getHeadDim();
  if (headDim < 2 || headDim % 2 != 0)
    return emitOpError("head_dim is ") << headDim << ", expected an even number";
  if (failed(checkAngles(*this, getCos(), getSin(), "head_dim", headDim)))
    return failure();
  if (!getHeadMajor())
    return checkAtLeast(*this, "x's number of features", featuresOf(getX()), headDim);
  if (!isPanels(getX().getType()))
    return emitOpError("x is ") << getX().getType() << ", expected heads of rank 3";
  return checkAtLeast(*this, "x's head width", shapeOf(getX()).getDimSize(2), headDim);
}

LogicalResult AttentionOp::verify() {
  int64_t heads = getHeads(), headDim = getHeadDim(), kvHeads = shapeOf(getK()).getDimSize(0);
  if (heads < 1 || kvHeads < 1 || heads % kvHeads != 0)
    return emitOpError("has ") << heads << " heads, expected a multiple of the cache's " << kvHeads;
  if (failed(checkSameType(*this, "k", getK(), "v", getV())) ||
      failed(checkAtLeast(*this, "the cache's head width", shapeOf(getK()).getDimSize(2), headDim)) ||
      failed(checkFeatures(*this, "q", getQ(), heads * headDim)) ||
      failed(checkFeatures(*this, "out", getOut(), heads * headDim)))
    return failure();
  return checkSameLayout(*this, "q", getQ(), "out", getOut());
}

/// [R][H][blocks][ad + kPartState] for the tokens of `rows` and blocks of `keys` keys of the cache.
static LogicalResult checkParts(Operation *op, Value parts, Value rows, int64_t heads, int64_t width, int64_t keys) {
  MemRefType type = shapeOf(parts);
  if (failed(checkAtLeast(op, "keys", keys, 1)) ||
      failed(checkAtLeast(op, "the number of tokens in parts", type.getDimSize(0), shapeOf(rows).getDimSize(0))))
    return failure();
  if (type.getDimSize(1) != heads)
    return op->emitOpError("parts has ") << type.getDimSize(1) << " heads, expected " << heads;
  return checkAtLeast(op, "the width of a part", type.getDimSize(3), width + kPartState);
}

LogicalResult AttentionPartOp::verify() {
  int64_t heads = getHeads(), headDim = getHeadDim(), keys = getKeys(), kvHeads = shapeOf(getK()).getDimSize(0);
  if (heads < 1 || kvHeads < 1 || heads % kvHeads != 0)
    return emitOpError("has ") << heads << " heads, expected a multiple of the cache's " << kvHeads;
  if (isPanels(getQ().getType()))
    return emitOpError("q is ") << getQ().getType() << ", expected rows";
  if (failed(checkSameType(*this, "k", getK(), "v", getV())) ||
      failed(checkAtLeast(*this, "the cache's head width", shapeOf(getK()).getDimSize(2), headDim)) ||
      failed(checkFeatures(*this, "q", getQ(), heads * headDim)) ||
      failed(checkParts(*this, getParts(), getQ(), heads, shapeOf(getK()).getDimSize(2), keys)))
    return failure();
  if (shapeOf(getParts()).getDimSize(3) != shapeOf(getK()).getDimSize(2) + kPartState)
    return emitOpError("the width of a part is ") << shapeOf(getParts()).getDimSize(3) << ", expected the cache's "
                                                  << shapeOf(getK()).getDimSize(2) << " + " << kPartState;
  int64_t blocks = (shapeOf(getK()).getDimSize(1) + keys - 1) / keys;
  return checkAtLeast(*this, "the number of blocks", shapeOf(getParts()).getDimSize(2), blocks);
}

LogicalResult AttentionMergeOp::verify() {
  if (isPanels(getOut().getType()))
    return emitOpError("out is ") << getOut().getType() << ", expected rows";
  if (failed(checkParts(*this, getParts(), getOut(), getHeads(), getHeadDim(), getKeys())))
    return failure();
  return checkFeatures(*this, "out", getOut(), getHeads() * getHeadDim());
}

LogicalResult AddOp::verify() {
  return failure(failed(checkSameType(*this, "a", getA(), "b", getB())) ||
                 failed(checkSameType(*this, "a", getA(), "out", getOut())));
}

LogicalResult SwiGLUOp::verify() {
  return failure(failed(checkSameType(*this, "gate", getGate(), "up", getUp())) ||
                 failed(checkSameType(*this, "gate", getGate(), "out", getOut())));
}

LogicalResult SplitOp::verify() {
  if (failed(checkSameType(*this, "first", getFirst(), "second", getSecond())) ||
      failed(checkSameLayout(*this, "x", getX(), "first", getFirst())))
    return failure();
  return checkFeatures(*this, "x", getX(), 2 * featuresOf(getFirst()));
}

LogicalResult LMHeadOp::verify() {
  if (failed(checkWeight(*this, getTable(), 1, getDepth())) || failed(checkInput(*this, getX(), getTable())) ||
      failed(checkFeatures(*this, "x", getX(), getDepth())))
    return failure();
  int64_t vocab = shapeOf(getTable()).getDimSize(0);
  if (featuresOf(getOut()) != vocab)
    return emitOpError("out has ") << featuresOf(getOut()) << " columns, the table " << vocab << " rows";
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  int64_t rows = shapeOf(getLogits()).getDimSize(0);
  if (failed(checkAtLeast(*this, "targets' length", shapeOf(getTargets()).getDimSize(0), rows)))
    return failure();
  return checkAtLeast(*this, "out's length", shapeOf(getOut()).getDimSize(0), rows);
}

LogicalResult QuantizeOp::verify() {
  PanelBlockType block = panelBlockOf(getOut().getType());
  MemRefType x = shapeOf(getX()), out = shapeOf(getOut());
  if (x.getDimSize(0) != out.getDimSize(0) || x.getDimSize(2) != block.getTokens())
    return emitOpError("x is ") << x << " but out is " << out << ", expected the same panels";
  int64_t segments = getSegments(), features = featuresOf(getX()), padded = featuresOf(getOut());
  if (segments < 1 || features % segments != 0 || padded % segments != 0)
    return emitOpError("has ") << segments << " segments of " << features << " features in blocks of " << padded
                               << ", expected a divisor of both";
  return checkAtLeast(*this, "out's number of features", padded, features);
}

LogicalResult PackOp::verify() {
  MemRefType panels = shapeOf(getOut());
  if (featuresOf(getX()) < panels.getDimSize(1))
    return emitOpError("x holds ") << featuresOf(getX()) << " features, out " << panels.getDimSize(1);
  return checkAtLeast(*this, "out's number of tokens", panels.getDimSize(0) * panels.getDimSize(2),
                      shapeOf(getX()).getDimSize(0));
}

LogicalResult UnpackOp::verify() {
  int64_t segments = getSegments(), features = featuresOf(getX());
  if (segments < 1 || features % segments != 0)
    return emitOpError("has ") << segments << " segments of " << features << " features, expected a divisor";
  MemRefType slot = shapeOf(getOut());
  if (slot.getRank() == 3 && slot.getDimSize(0) != segments)
    return emitOpError("has ") << segments << " segments, out has " << slot.getDimSize(0) << " heads";
  int64_t width = slot.getRank() == 3 ? slot.getDimSize(2) : slot.getDimSize(1) / segments;
  return checkAtLeast(*this, "out's segment width", width, features / segments);
}
