//===- RowsElementwise.cpp - Ops without a matrix, on rows ----------------===//
#include "RowsElementwise.h"
#include "LoopDialects.h"
#include "ProgramUses.h"

using namespace mlir;

namespace ckjit::ck {
namespace {
int64_t dim(Value memref, unsigned index) { return cast<MemRefType>(memref.getType()).getDimSize(index); }

/// Loops over the features of rows: whole vectors, the last moved back over the one before, or single values where
/// a row is shorter than a vector.
class RowsBuilder : public KernelBuilder {
public:
  explicit RowsBuilder(Operation *op)
      : KernelBuilder(op), lanes(targetOf(op).getLanes()), vector(VectorType::get({lanes}, getF32Type())) {}

  /// A thread's part of the features of a row; made at the top level, as loops of any depth have it for bounds.
  struct Part {
    int64_t features;
    Value lo, hi; ///< of vectors, or of single features
  };
  Part partOf(int64_t features) {
    auto [lo, hi] = share(index(features >= lanes ? (features + lanes - 1) / lanes : features));
    return {features, lo, hi};
  }
  /// body(feature, type) for a part; values computed twice must come out equal.
  void forFeatures(const Part &part, function_ref<void(Value, Type)> body) {
    forRange(part.lo, part.hi, [&](Value i) {
      if (part.features < lanes)
        return body(i, getF32Type());
      Value start = apply(getAffineDimExpr(0) * lanes, i);
      if (part.features % lanes != 0)
        start = arith::MinUIOp::create(*this, loc, start, index(part.features - lanes));
      body(start, vector);
    });
  }
  /// body(t) for the tokens [0, T).
  void forTokens(Body body) {
    AffineMap zero = getConstantAffineMap(0), end = AffineMap::get(0, 1, getAffineSymbolExpr(0));
    auto loop = affine::AffineForOp::create(*this, loc, ValueRange(), zero, ValueRange{tokens()}, end, 1);
    OpBuilder::InsertionGuard restore(*this);
    setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  /// The lanes of `v`, halved until one is left.
  Value sumOfLanes(Value v) {
    for (int64_t half = lanes / 2; half >= 1; half /= 2) {
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, half)), high = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
      v = add(vector::ShuffleOp::create(*this, loc, v, v, low), vector::ShuffleOp::create(*this, loc, v, v, high));
    }
    return vector::ExtractOp::create(*this, loc, v, 0);
  }

  Value load(Value memref, ValueRange place, Type type) {
    if (auto wide = dyn_cast<VectorType>(type))
      return vector::LoadOp::create(*this, loc, wide, memref, place);
    return memref::LoadOp::create(*this, loc, memref, place);
  }
  void store(Value value, Value memref, ValueRange place) {
    if (isa<VectorType>(value.getType()))
      vector::StoreOp::create(*this, loc, value, memref, place);
    else
      memref::StoreOp::create(*this, loc, value, memref, place);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(*this, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(*this, loc, x, y); }
  Value shifted(Value place, int64_t by) { return arith::AddIOp::create(*this, loc, place, index(by)); }
  Value spread(Value scalar, Type type) {
    return isa<VectorType>(type) ? vector::BroadcastOp::create(*this, loc, type, scalar).getResult() : scalar;
  }

  int64_t lanes;
  VectorType vector;
};

/// Sum of x[t][f]^2 over the features: each lane in order, then the lanes as a tree, then the rest in order.
Value sumOfSquares(RowsBuilder &b, Value x, Value t, int64_t features) {
  int64_t main = features / b.lanes * b.lanes;
  Value sum = b.f32(0.0f);
  if (main > 0) {
    Value sums = b.reduce(main, b.lanes, b.splat(0.0, b.vector), [&](Value f, ValueRange carried) {
      Value value = b.load(x, {t, f}, b.vector);
      return SmallVector<Value>{b.fma(value, value, carried[0])};
    })[0];
    sum = b.sumOfLanes(sums);
  }
  if (main == features)
    return sum;
  return b.reduce(features - main, 1, sum, [&](Value f, ValueRange carried) {
    Value value = b.load(x, {t, b.shifted(f, main)}, b.getF32Type());
    return SmallVector<Value>{b.fma(value, value, carried[0])};
  })[0];
}

/// out[t][f] = body(t, f) for all tokens and this thread's features.
void store(RowsBuilder &b, Value out, function_ref<Value(Value, Value, Type)> body) {
  RowsBuilder::Part part = b.partOf(dim(out, 1));
  b.forTokens([&](Value t) {
    b.forFeatures(part, [&](Value f, Type type) { b.store(body(t, f, type), out, {t, f}); });
  });
}

/// Rotates the pair at (first, second) of `x` by the angles at `row`, `i`.
void rotate(RowsBuilder &b, RopeOp op, ValueRange first, ValueRange second, Value row, Value i) {
  Type type = b.getF32Type();
  Value x = b.load(op.getX(), first, type), y = b.load(op.getX(), second, type);
  Value c = b.load(op.getCos(), {row, i}, type), s = b.load(op.getSin(), {row, i}, type);
  Value newX = arith::SubFOp::create(b, b.loc, b.mul(x, c), b.mul(y, s));
  b.store(newX, op.getX(), first);
  b.store(b.add(b.mul(x, s), b.mul(y, c)), op.getX(), second);
}
} // namespace

void lowerRows(EmbedOp op) {
  RowsBuilder b(op);
  auto table = cast<MemRefType>(op.getTable().getType());
  BlockType block = blockOf(table);
  Value unpacked = block ? b.stackBuffer(rowLength(table)) : Value();
  RowsBuilder::Part part = b.partOf(dim(op.getOut(), 1));
  b.forTokens([&](Value t) {
    Value id = memref::LoadOp::create(b, b.loc, op.getIds(), t);
    id = arith::IndexCastOp::create(b, b.loc, b.getIndexType(), id);
    Value position = arith::AddIOp::create(b, b.loc, b.position(), t);
    if (block) { // every thread the whole row: it is short
      Value from = arith::MulIOp::create(b, b.loc, id, b.index(table.getDimSize(1) * block.getBytes()));
      UnpackRowOp::create(b, b.loc, b.flatten(op.getTable()), from, unpacked, b.index(0), block.getFormat(),
                          rowLength(table), /*wide=*/false);
    }
    b.forFeatures(part, [&](Value f, Type type) {
      Value x;
      if (block) {
        x = b.load(unpacked, {f}, type);
      } else {
        auto vector = dyn_cast<VectorType>(type);
        x = b.load(op.getTable(), {id, f}, vector ? Type(vector.clone(table.getElementType())) : table.getElementType());
        if (!table.getElementType().isF32())
          x = arith::ExtFOp::create(b, b.loc, type, x);
      }
      if (op.getPositions())
        x = b.add(x, b.load(op.getPositions(), {position, f}, type));
      b.store(x, op.getOut(), {t, f});
    });
  });
}

/// Every thread sums the whole row, which costs less than a barrier, and scales its own features.
void lowerRows(RMSNormOp op) {
  RowsBuilder b(op);
  int64_t features = op.getFeatures();
  RowsBuilder::Part part = b.partOf(features);
  Value eps = b.f32(op.getEps().convertToFloat()), one = b.f32(1.0f);
  Value count = b.f32(static_cast<float>(features));
  b.forTokens([&](Value t) {
    Value mean = arith::DivFOp::create(b, b.loc, sumOfSquares(b, op.getX(), t, features), count);
    Value root = math::SqrtOp::create(b, b.loc, b.add(mean, eps));
    Value rstd = arith::DivFOp::create(b, b.loc, one, root);
    if (op.getRstd()) // the same value from every thread
      b.store(rstd, op.getRstd(), t);
    b.forFeatures(part, [&](Value f, Type type) {
      Value scaled = b.mul(b.load(op.getX(), {t, f}, type), b.spread(rstd, type));
      b.store(b.mul(scaled, b.load(op.getGamma(), f, type)), op.getOut(), {t, f});
    });
  });
}

void lowerRows(AddOp op) {
  RowsBuilder b(op);
  store(b, op.getOut(), [&](Value t, Value f, Type type) {
    return b.add(b.load(op.getA(), {t, f}, type), b.load(op.getB(), {t, f}, type));
  });
}

void lowerRows(SwiGLUOp op, bool strict) {
  RowsBuilder b(op);
  store(b, op.getOut(), [&](Value t, Value f, Type type) {
    return b.mul(b.silu(b.load(op.getGate(), {t, f}, type), strict), b.load(op.getUp(), {t, f}, type));
  });
}

void lowerRows(SplitOp op) {
  RowsBuilder b(op);
  int64_t half = dim(op.getFirst(), 1);
  RowsBuilder::Part part = b.partOf(half);
  b.forTokens([&](Value t) {
    b.forFeatures(part, [&](Value f, Type type) {
      b.store(b.load(op.getX(), {t, f}, type), op.getFirst(), {t, f});
      b.store(b.load(op.getX(), {t, b.shifted(f, half)}, type), op.getSecond(), {t, f});
    });
  });
}

/// In place, so each pair is one thread's. Rows hold H*hd features.
void lowerRows(RopeOp op) {
  RowsBuilder b(op);
  int64_t headDim = op.getHeadDim(), half = headDim / 2;
  int64_t heads = dim(op.getX(), 1) / headDim;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  auto [lo, hi] = b.share(b.index(heads));
  b.forRange(lo, hi, [&](Value h) {
    b.forTokens([&](Value t) {
      Value row = arith::AddIOp::create(b, b.loc, b.position(), t);
      b.forCount(half, [&](Value i) {
        Value first = b.apply(d0 * headDim + d1, {h, i});
        rotate(b, op, {t, first}, {t, b.shifted(first, half)}, row, i);
      });
    });
  });
}
} // namespace ckjit::ck
