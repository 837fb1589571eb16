//===- LowerElementwise.cpp - Ops without a matrix to affine loops --------===//
#include "KernelBuilder.h"
#include "ProgramUses.h"
#include "RowsElementwise.h"
#include "LoopDialects.h"
#include "VectorBuilder.h"
#include "ckjit/Graph/CKIRGraph.h"
#include "ckjit/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_LOWERELEMENTWISE
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// Independent partial sums that hide the latency of an addition.
constexpr int64_t kPartialSums = 4;

int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }

Value load(KernelBuilder &b, Value memref, ValueRange indices) {
  return affine::AffineLoadOp::create(b, b.loc, memref, indices);
}
void store(KernelBuilder &b, Value value, Value memref, ValueRange indices) {
  affine::AffineStoreOp::create(b, b.loc, value, memref, indices);
}
Value add(KernelBuilder &b, Value x, Value y) { return arith::AddFOp::create(b, b.loc, x, y); }
Value mul(KernelBuilder &b, Value x, Value y) { return arith::MulFOp::create(b, b.loc, x, y); }

/// min(p*L + l, last): the row of a lane, held inside the memory.
Value rowOfLane(KernelBuilder &b, Value panel, Value lane, int64_t lanes, Value last) {
  Value row = b.apply(b.getAffineDimExpr(0) * lanes + b.getAffineDimExpr(1), {panel, lane});
  return arith::MinUIOp::create(b, b.loc, row, last);
}

/// Position in the context of row `row`.
Value positionOf(KernelBuilder &b, Value row) { return arith::AddIOp::create(b, b.loc, row, b.position()); }

/// body(panel) for this thread's panels.
void forPanels(KernelBuilder &b, int64_t lanes, KernelBuilder::Body body) {
  auto [lo, hi] = b.share(b.panelCount(lanes));
  b.forRange(lo, hi, body);
}

/// body(lane, row) for the lanes of panel `p` that are tokens: the last panel may have lanes behind T.
void forTokens(KernelBuilder &b, Value p, int64_t lanes, function_ref<void(Value, Value)> body) {
  b.forCount(lanes, [&](Value l) {
    Value row = b.apply(b.getAffineDimExpr(0) * lanes + b.getAffineDimExpr(1), {p, l});
    Value inside = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ult, row, b.tokens());
    auto guard = scf::IfOp::create(b, b.loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    body(l, row);
  });
}

/// The row of a table in blocks, as floats on the stack; the table for the loops around is then that row alone.
void unpackTable(KernelBuilder &b, EmbedOp op, Value row, Value id) {
  auto type = cast<MemRefType>(op.getTable().getType());
  BlockType block = blockOf(type);
  Value from = arith::MulIOp::create(b, b.loc, id, b.index(type.getDimSize(1) * block.getBytes()));
  UnpackRowOp::create(b, b.loc, b.flatten(op.getTable()), from, row, b.index(0), block.getFormat(), rowLength(type), false);
}

LogicalResult lower(EmbedOp op, bool) {
  if (failed(checkKernel(op, op.getOut())))
    return failure();
  if (blockOf(op.getTable().getType()) && !targetOf(op))
    return failure();
  if (!isPanels(op.getOut().getType()))
    return lowerRows(op), success();
  KernelBuilder b(op);
  int64_t features = dim(op.getOut(), 1), lanes = dim(op.getOut(), 2);
  Value last = arith::SubIOp::create(b, b.loc, b.tokens(), b.index(1));
  auto table = cast<MemRefType>(op.getTable().getType());
  Value unpacked = blockOf(table) ? b.stackBuffer(rowLength(table)) : Value();
  forPanels(b, lanes, [&](Value p) {
    b.forCount(lanes, [&](Value l) {
      Value row = rowOfLane(b, p, l, lanes, last);
      Value id = memref::LoadOp::create(b, b.loc, op.getIds(), row);
      id = arith::IndexCastOp::create(b, b.loc, b.getIndexType(), id);
      if (unpacked)
        unpackTable(b, op, unpacked, id);
      b.forCount(features, [&](Value f) {
        Value x = unpacked ? memref::LoadOp::create(b, b.loc, unpacked, f)
                           : memref::LoadOp::create(b, b.loc, op.getTable(), ValueRange{id, f});
        if (!x.getType().isF32())
          x = arith::ExtFOp::create(b, b.loc, b.getF32Type(), x);
        if (op.getPositions())
          x = add(b, x, memref::LoadOp::create(b, b.loc, op.getPositions(), ValueRange{positionOf(b, row), f}));
        store(b, x, op.getOut(), {p, f, l});
      });
    });
  });
  return success();
}

/// Sum of x[p][f][l]^2 over the features, in kPartialSums chains.
Value sumOfSquares(KernelBuilder &b, Value x, Value p, Value l, int64_t features) {
  SmallVector<Value> zeros(kPartialSums, b.f32(0.0f));
  int64_t main = features / kPartialSums * kPartialSums;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1), d2 = b.getAffineDimExpr(2);
  auto squareAdded = [&](Value f, int64_t shift, Value sum) {
    AffineMap map = AffineMap::get(3, 0, {d0, d1 + shift, d2}, b.getContext());
    Value value = affine::AffineLoadOp::create(b, b.loc, x, map, ValueRange{p, f, l});
    return b.fma(value, value, sum);
  };
  SmallVector<Value> sums = b.reduce(main, kPartialSums, zeros, [&](Value f, ValueRange carried) {
    SmallVector<Value> next;
    for (auto [shift, sum] : llvm::enumerate(carried))
      next.push_back(squareAdded(f, shift, sum));
    return next;
  });
  for (int64_t f = main; f < features; ++f)
    sums[f - main] = squareAdded(b.index(f), 0, sums[f - main]);
  return add(b, add(b, sums[0], sums[1]), add(b, sums[2], sums[3]));
}

LogicalResult lower(RMSNormOp op, bool) {
  if (failed(checkKernel(op, {op.getX(), op.getOut()})))
    return failure();
  if (!isPanels(op.getX().getType()))
    return lowerRows(op), success();
  KernelBuilder b(op);
  int64_t features = op.getFeatures(), lanes = dim(op.getX(), 2);
  Value eps = b.f32(op.getEps().convertToFloat()), one = b.f32(1.0f);
  Value count = b.f32(static_cast<float>(features));
  Value rstds = op.getRstd() ? b.stackBuffer(lanes) : Value();
  forPanels(b, lanes, [&](Value p) {
    b.forLanes(lanes, [&](Value l) {
      Value sum = sumOfSquares(b, op.getX(), p, l, features);
      Value mean = arith::DivFOp::create(b, b.loc, sum, count);
      Value root = math::SqrtOp::create(b, b.loc, add(b, mean, eps));
      Value rstd = arith::DivFOp::create(b, b.loc, one, root);
      if (rstds)
        store(b, rstd, rstds, l);
      b.forCount(features, [&](Value f) {
        Value scaled = mul(b, load(b, op.getX(), {p, f, l}), rstd);
        store(b, mul(b, scaled, load(b, op.getGamma(), f)), op.getOut(), {p, f, l});
      });
    });
    if (rstds)
      forTokens(b, p, lanes, [&](Value l, Value row) {
        memref::StoreOp::create(b, b.loc, load(b, rstds, l), op.getRstd(), positionOf(b, row));
      });
  });
  return success();
}

LogicalResult lower(AddOp op, bool) {
  if (failed(checkKernel(op, {op.getA(), op.getB(), op.getOut()})))
    return failure();
  if (!isPanels(op.getOut().getType()))
    return lowerRows(op), success();
  KernelBuilder b(op);
  int64_t lanes = dim(op.getOut(), 2);
  forPanels(b, lanes, [&](Value p) {
    b.forCount(dim(op.getOut(), 1), [&](Value f) {
      b.forLanes(lanes, [&](Value l) {
        store(b, add(b, load(b, op.getA(), {p, f, l}), load(b, op.getB(), {p, f, l})), op.getOut(), {p, f, l});
      });
    });
  });
  return success();
}

LogicalResult lower(SwiGLUOp op, bool strict) {
  if (failed(checkKernel(op, {op.getGate(), op.getUp(), op.getOut()})))
    return failure();
  if (!isPanels(op.getOut().getType()))
    return lowerRows(op, strict), success();
  KernelBuilder b(op);
  int64_t lanes = dim(op.getOut(), 2);
  forPanels(b, lanes, [&](Value p) {
    b.forCount(dim(op.getOut(), 1), [&](Value f) {
      b.forLanes(lanes, [&](Value l) {
        Value gate = b.silu(load(b, op.getGate(), {p, f, l}), strict);
        store(b, mul(b, gate, load(b, op.getUp(), {p, f, l})), op.getOut(), {p, f, l});
      });
    });
  });
  return success();
}

LogicalResult lower(SplitOp op, bool) {
  if (failed(checkKernel(op, {op.getX(), op.getFirst(), op.getSecond()})))
    return failure();
  if (!isPanels(op.getX().getType()))
    return lowerRows(op), success();
  KernelBuilder b(op);
  int64_t half = dim(op.getFirst(), 1), lanes = dim(op.getX(), 2);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1), d2 = b.getAffineDimExpr(2);
  AffineMap shifted = AffineMap::get(3, 0, {d0, d1 + half, d2}, b.getContext());
  forPanels(b, lanes, [&](Value p) {
    b.forCount(half, [&](Value f) {
      b.forLanes(lanes, [&](Value l) {
        store(b, load(b, op.getX(), {p, f, l}), op.getFirst(), {p, f, l});
        Value upper = affine::AffineLoadOp::create(b, b.loc, op.getX(), shifted, ValueRange{p, f, l});
        store(b, upper, op.getSecond(), {p, f, l});
      });
    });
  });
  return success();
}

LogicalResult lower(PackOp op, bool) {
  if (failed(checkKernel(op, {})))
    return failure();
  KernelBuilder b(op);
  int64_t features = dim(op.getOut(), 1), lanes = dim(op.getOut(), 2);
  Value last = b.index(dim(op.getX(), 0) - 1);
  forPanels(b, lanes, [&](Value p) {
    b.forCount(lanes, [&](Value l) {
      Value row = b.apply(b.getAffineDimExpr(0) * lanes + b.getAffineDimExpr(1), {p, l});
      row = arith::MinUIOp::create(b, b.loc, positionOf(b, row), last);
      b.forCount(features, [&](Value f) {
        Value x = memref::LoadOp::create(b, b.loc, op.getX(), ValueRange{row, f});
        store(b, x, op.getOut(), {p, f, l});
      });
    });
  });
  return success();
}

/// Writes x[p][s*n + i][l] to the slot's row t, segment s, column i.
void storeSegments(KernelBuilder &b, UnpackOp op, Value p, Value l, Value row) {
  int64_t segments = op.getSegments(), width = dim(op.getX(), 1) / segments;
  bool heads = cast<MemRefType>(op.getOut().getType()).getRank() == 3;
  int64_t stride = heads ? 0 : dim(op.getOut(), 1) / segments;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  b.forCount(segments, [&](Value s) {
    b.forCount(width, [&](Value i) {
      Value feature = b.apply(d0 * width + d1, {s, i});
      Value x = memref::LoadOp::create(b, b.loc, op.getX(), ValueRange{p, feature, l});
      if (heads)
        memref::StoreOp::create(b, b.loc, x, op.getOut(), ValueRange{s, row, i});
      else
        memref::StoreOp::create(b, b.loc, x, op.getOut(), ValueRange{row, b.apply(d0 * stride + d1, {s, i})});
    });
  });
}

LogicalResult lower(UnpackOp op, bool) {
  if (failed(checkKernel(op, {})))
    return failure();
  KernelBuilder b(op);
  int64_t lanes = dim(op.getX(), 2);
  forPanels(b, lanes, [&](Value p) {
    forTokens(b, p, lanes, [&](Value l, Value row) { storeSegments(b, op, p, l, positionOf(b, row)); });
  });
  return success();
}

/// Rotates the pair at (first, second) of `x` by the angle of position `row`, pair `i`.
void rotate(KernelBuilder &b, RopeOp op, ValueRange first, ValueRange second, Value row, Value i) {
  auto at = [&](ValueRange place) { return memref::LoadOp::create(b, b.loc, op.getX(), place).getResult(); };
  Value x = at(first), y = at(second);
  Value c = memref::LoadOp::create(b, b.loc, op.getCos(), ValueRange{row, i});
  Value s = memref::LoadOp::create(b, b.loc, op.getSin(), ValueRange{row, i});
  Value newX = arith::SubFOp::create(b, b.loc, mul(b, x, c), mul(b, y, s));
  Value newY = add(b, mul(b, x, s), mul(b, y, c));
  memref::StoreOp::create(b, b.loc, newX, op.getX(), first);
  memref::StoreOp::create(b, b.loc, newY, op.getX(), second);
}

/// Head-major x is a cache [K][C][ad] with rows of tokens, panels hold H*hd features.
LogicalResult lower(RopeOp op, bool) {
  if (failed(checkKernel(op, op.getHeadMajor() ? ValueRange() : ValueRange(op.getX()))))
    return failure();
  if (!op.getHeadMajor() && !isPanels(op.getX().getType()))
    return lowerRows(op), success();
  KernelBuilder b(op);
  int64_t half = op.getHeadDim() / 2, context = dim(op.getCos(), 0);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  if (op.getHeadMajor()) {
    auto [lo, hi] = b.share(b.tokens());
    b.forRange(lo, hi, [&](Value token) {
      Value row = positionOf(b, token);
      b.forCount(dim(op.getX(), 0), [&](Value h) {
        b.forCount(half, [&](Value i) { rotate(b, op, {h, row, i}, {h, row, b.apply(d0 + half, i)}, row, i); });
      });
    });
    return success();
  }
  int64_t lanes = dim(op.getX(), 2), headDim = op.getHeadDim();
  Value last = b.index(context - 1);
  forPanels(b, lanes, [&](Value p) {
    b.forCount(lanes, [&](Value l) {
      Value row = b.apply(d0 * lanes + d1, {p, l});
      row = arith::MinUIOp::create(b, b.loc, positionOf(b, row), last);
      b.forCount(dim(op.getX(), 1) / headDim, [&](Value h) {
        b.forCount(half, [&](Value i) {
          Value first = b.apply(d0 * headDim + d1, {h, i}), second = b.apply(d0 * headDim + d1 + half, {h, i});
          rotate(b, op, {p, first, l}, {p, second, l}, row, i);
        });
      });
    });
  });
  return success();
}

/// Folds `partials` (one value a lane) and row[tail..V) with `combine`, in order.
Value foldLanes(KernelBuilder &b, Value partials, int64_t lanes, Value init,
                function_ref<Value(Value, Value)> combine) {
  return b.reduce(lanes, 1, init, [&](Value l, ValueRange carried) {
    return SmallVector<Value>{combine(carried[0], load(b, partials, l))};
  })[0];
}

/// Reduces row t of the logits: `step` in each lane over the full vectors, then over lanes and the tail.
Value reduceRow(KernelBuilder &b, CrossEntropyOp op, Value t, Value partials, int64_t lanes, float init,
                function_ref<Value(Value, Value)> step, function_ref<Value(Value, Value)> combine) {
  int64_t vocab = dim(op.getLogits(), 1), chunks = vocab / lanes;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1), d2 = b.getAffineDimExpr(2);
  AffineMap lane = AffineMap::get(3, 0, {d0, d1 * lanes + d2}, b.getContext());
  b.forLanes(lanes, [&](Value l) {
    Value sum = b.reduce(chunks, 1, b.f32(init), [&](Value c, ValueRange carried) {
      Value x = affine::AffineLoadOp::create(b, b.loc, op.getLogits(), lane, ValueRange{t, c, l});
      return SmallVector<Value>{step(carried[0], x)};
    })[0];
    store(b, sum, partials, l);
  });
  Value folded = foldLanes(b, partials, lanes, b.f32(init), combine);
  AffineMap shifted = AffineMap::get(2, 0, {d0, d1 + chunks * lanes}, b.getContext());
  return b.reduce(vocab - chunks * lanes, 1, folded, [&](Value i, ValueRange carried) {
    Value x = affine::AffineLoadOp::create(b, b.loc, op.getLogits(), shifted, ValueRange{t, i});
    return SmallVector<Value>{step(carried[0], x)};
  })[0];
}

/// logsumexp(row) - row[target] of row t.
Value lossOfRow(KernelBuilder &b, CrossEntropyOp op, Value t, Value target, Value partials, int64_t lanes, bool strict) {
  auto larger = [&](Value a, Value x) { return arith::MaxNumFOp::create(b, b.loc, a, x).getResult(); };
  Value top = reduceRow(b, op, t, partials, lanes, -std::numeric_limits<float>::max(), larger, larger);
  auto addExp = [&](Value sum, Value x) {
    // The difference of two infinities has no exponential.
    Value isTop = arith::CmpFOp::create(b, b.loc, arith::CmpFPredicate::OEQ, x, top);
    Value below = b.exp(arith::SubFOp::create(b, b.loc, x, top), strict);
    return add(b, sum, arith::SelectOp::create(b, b.loc, isTop, b.f32(1.0f), below));
  };
  Value sum = reduceRow(b, op, t, partials, lanes, 0.0f, addExp, [&](Value a, Value x) { return add(b, a, x); });
  Value column = arith::IndexCastOp::create(b, b.loc, b.getIndexType(), target);
  Value chosen = memref::LoadOp::create(b, b.loc, op.getLogits(), ValueRange{t, column});
  Value log = math::LogOp::create(b, b.loc, sum);
  return arith::SubFOp::create(b, b.loc, add(b, log, top), chosen);
}

/// The features of quantized blocks, with zeros where segments are padded.
class QuantizedFeatures {
public:
  QuantizedFeatures(VectorBuilder &b, QuantizeOp op, Value flat, Value panel)
      : b(b), flat(flat), features(dim(op.getX(), 1)), lanes(dim(op.getX(), 2)), segments(op.getSegments()),
        padded(dim(op.getOut(), 1) * panelBlockOf(op.getOut().getType()).getFeatures()),
        base(b.mulIndex(panel, features * lanes)) {}

  /// Feature `k` + `shift` of the blocks, one value a token.
  Value load(Value k, int64_t shift) {
    k = b.addIndex(k, shift);
    if (padded == features)
      return b.loadFloats(flat, b.addIndex(base, b.mulIndex(k, lanes)), 0, lanes);
    int64_t own = features / segments, wide = padded / segments;
    Value segment = arith::DivUIOp::create(b, b.loc, k, b.index(wide));
    Value within = arith::RemUIOp::create(b, b.loc, k, b.index(wide));
    Value inside = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ult, within, b.index(own));
    Value place = arith::MinUIOp::create(b, b.loc, within, b.index(own - 1));
    place = b.addIndex(b.mulIndex(segment, own), place);
    Value x = b.loadFloats(flat, b.addIndex(base, b.mulIndex(place, lanes)), 0, lanes);
    return arith::SelectOp::create(b, b.loc, inside, x, b.splat(lanes, 0.0f));
  }

private:
  VectorBuilder &b;
  Value flat;
  int64_t features, lanes, segments, padded;
  Value base;
};

/// One block of one panel: the largest magnitude, then codes by fours and sums by groups.
void quantizeBlock(VectorBuilder &b, QuantizedFeatures &x, PanelBlockType block, Value first, Value out, Value at) {
  int64_t lanes = block.getTokens(), group = block.getGroup();
  Value largest = b.loop(0, block.getFeatures(), 1, {b.splatInt(lanes, 32, 0)}, [&](Value f, ValueRange carried) {
    Value bits = b.bitAnd(b.castInts(x.load(b.addIndex(first, f), 0), 32), 0x7fffffff);
    return VectorBuilder::Values{arith::MaxSIOp::create(b, b.loc, bits, carried[0])};
  })[0];
  QuantizedScale scale = scaleOf(b, b.cast(largest, b.getF32Type()));
  b.store(scale.scale, out, at, block.getScalesAt());
  b.loop(0, block.getFeatures() / group, 1, {}, [&](Value g, ValueRange) {
    Value from = b.mulIndex(g, group);
    Value sum = b.loop(0, group, 4, {b.splatInt(lanes, 32, 0)}, [&](Value f, ValueRange carried) {
      Value feature = b.addIndex(from, f), four, total = carried[0];
      for (int64_t i = 0; i < 4; ++i) {
        Value code = codesOf(b, x.load(b.addIndex(first, feature), i), scale.inverse);
        total = b.add(total, code);
        Value byte = b.shiftLeft(b.bitAnd(code, 255), 8 * i);
        four = four ? b.bitOr(four, byte) : byte;
      }
      b.store(four, out, b.addIndex(at, b.mulIndex(feature, lanes)));
      return VectorBuilder::Values{total};
    })[0];
    b.store(sum, out, b.addIndex(at, b.mulIndex(g, 4 * lanes)), block.getSumsAt());
    return VectorBuilder::Values();
  });
}

LogicalResult lower(QuantizeOp op, bool) {
  TargetAttr target = targetOf(op);
  if (!target || failed(checkKernel(op, {op.getX(), op.getOut()})))
    return failure();
  KernelBuilder kernel(op);
  PanelBlockType block = panelBlockOf(op.getOut().getType());
  int64_t blocks = dim(op.getOut(), 1);
  Value flat = kernel.flatten(op.getX()), out = kernel.flatten(op.getOut());
  // Threads share blocks of panels.
  Value panels = kernel.panelCount(block.getTokens());
  auto [lo, hi] = kernel.share(arith::MulIOp::create(kernel, kernel.loc, panels, kernel.index(blocks)));
  VectorBuilder b(op, target);
  b.loop(lo, hi, 1, {}, [&](Value i, ValueRange) {
    Value panel = arith::DivUIOp::create(b, b.loc, i, b.index(blocks));
    Value number = arith::RemUIOp::create(b, b.loc, i, b.index(blocks));
    QuantizedFeatures x(b, op, flat, panel);
    quantizeBlock(b, x, block, b.mulIndex(number, block.getFeatures()), out, b.mulIndex(i, block.getBytes()));
    return VectorBuilder::Values();
  });
  return success();
}

LogicalResult lower(CrossEntropyOp op, bool strict, int64_t lanes) {
  if (failed(checkKernel(op, {})))
    return failure();
  KernelBuilder b(op);
  Value partials = memref::AllocaOp::create(b, b.loc, MemRefType::get({lanes}, b.getF32Type()));
  Value rows = arith::SubIOp::create(b, b.loc, b.tokens(), b.firstRow());
  auto [lo, hi] = b.share(rows);
  lo = arith::AddIOp::create(b, b.loc, lo, b.firstRow());
  hi = arith::AddIOp::create(b, b.loc, hi, b.firstRow());
  Value ignored = arith::ConstantOp::create(b, b.loc, b.getI32IntegerAttr(kIgnoredTarget));
  b.forRange(lo, hi, [&](Value t) {
    Value target = affine::AffineLoadOp::create(b, b.loc, op.getTargets(), t);
    Value counts = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ne, target, ignored);
    auto branch = scf::IfOp::create(b, b.loc, b.getF32Type(), counts, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, b.loc, lossOfRow(b, op, t, target, partials, lanes, strict));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, b.loc, b.f32(0.0f));
    }
    store(b, branch.getResult(0), op.getOut(), t);
  });
  return success();
}

struct LowerElementwisePass : impl::LowerElementwiseBase<LowerElementwisePass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<EmbedOp, RMSNormOp, AddOp, SwiGLUOp, SplitOp, PackOp, UnpackOp, QuantizeOp, RopeOp, CrossEntropyOp>(op))
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
        .Case([&](CrossEntropyOp entropy) -> LogicalResult {
          TargetAttr target = targetOf(op);
          return target ? lower(entropy, strict, target.getLanes()) : failure();
        })
        .Case<EmbedOp, RMSNormOp, AddOp, SwiGLUOp, SplitOp, PackOp, UnpackOp, QuantizeOp, RopeOp>(
            [&](auto layerOp) { return lower(layerOp, strict); })
        .Default([](Operation *) { return success(); });
  }
};
} // namespace
} // namespace ckjit::ck
