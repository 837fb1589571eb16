//===- TileStores.cpp - Store a register tile in token-major rows ---------===//
#include "TileStores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ckjit::ck;

/// Perfect shuffles: `values` (a power of two) become the same elements in lane-major order.
static SmallVector<Value> interleaveAll(KernelBuilder &b, SmallVector<Value> values) {
  size_t count = values.size();
  for (size_t done = 1; done < count; done *= 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i < count / 2; ++i) {
      Value first = values[i], second = values[i + count / 2];
      int64_t lanes = cast<VectorType>(first.getType()).getDimSize(0);
      for (int64_t half : {0, 1}) {
        SmallVector<int64_t> order;
        for (int64_t lane = 0; lane < lanes; ++lane)
          order.push_back(half * lanes / 2 + lane / 2 + (lane % 2) * lanes);
        next.push_back(vector::ShuffleOp::create(b, b.loc, first, second, order));
      }
    }
    values = std::move(next);
  }
  return values;
}

static void storeRow(KernelBuilder &b, Value row, const RowStore &rows, Value token) {
  SmallVector<Value> place(rows.lead.begin(), rows.lead.end());
  place.append({rows.shift ? arith::AddIOp::create(b, b.loc, token, rows.shift).getResult() : token, rows.column});
  if (!rows.valid) {
    vector::StoreOp::create(b, b.loc, row, rows.out, place);
    return;
  }
  auto steps = llvm::to_vector(llvm::seq<int32_t>(0, cast<VectorType>(row.getType()).getDimSize(0)));
  Value step = arith::ConstantOp::create(b, b.loc, b.getI32VectorAttr(steps));
  Value narrow = arith::IndexCastOp::create(b, b.loc, b.getI32Type(), rows.valid);
  Value valid = vector::BroadcastOp::create(b, b.loc, step.getType(), narrow);
  Value mask = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::slt, step, valid);
  vector::MaskedStoreOp::create(b, b.loc, rows.out, place, mask, row);
}

/// True where the token is wanted: below T and from the first row on.
static Value wanted(KernelBuilder &b, const RowStore &rows, Value token) {
  Value below = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::ult, token, b.tokens());
  if (!rows.firstRow)
    return below;
  Value from = arith::CmpIOp::create(b, b.loc, arith::CmpIPredicate::uge, token, rows.firstRow);
  return arith::AndIOp::create(b, b.loc, below, from);
}

void ckjit::ck::storeTransposed(KernelBuilder &b, ValueRange values, const RowStore &rows) {
  int64_t lanes = cast<VectorType>(values[0].getType()).getDimSize(0);
  size_t width = llvm::PowerOf2Ceil(values.size());
  SmallVector<Value> padded(values);
  RowStore store = rows;
  if (padded.size() != width) {
    padded.resize(width, values[0]);
    Value count = b.index(values.size());
    store.valid = store.valid ? arith::MinUIOp::create(b, b.loc, store.valid, count).getResult() : count;
  }
  // By way of the stack and in a loop: a branch for each lane of a jammed tile would be most of the kernel's code.
  for (auto [index, part] : llvm::enumerate(interleaveAll(b, padded)))
    vector::StoreOp::create(b, b.loc, part, rows.stack,
                            ValueRange{arith::AddIOp::create(b, b.loc, rows.stackBase, b.index(index * lanes))});
  auto loop = scf::ForOp::create(b, b.loc, b.index(0), b.index(lanes), b.index(1));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value token = arith::AddIOp::create(b, b.loc, rows.firstToken, loop.getInductionVar());
  auto guard = scf::IfOp::create(b, b.loc, wanted(b, rows, token), /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  Value place = arith::MulIOp::create(b, b.loc, loop.getInductionVar(), b.index(width));
  place = arith::AddIOp::create(b, b.loc, rows.stackBase, place);
  auto type = VectorType::get({static_cast<int64_t>(width)}, b.getF32Type());
  storeRow(b, vector::LoadOp::create(b, b.loc, type, rows.stack, place), store, token);
}
