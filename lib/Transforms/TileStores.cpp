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
      Value both = vector::InterleaveOp::create(b, b.loc, values[i], values[i + count / 2]);
      int64_t lanes = cast<VectorType>(values[i].getType()).getDimSize(0);
      for (int64_t half : {int64_t(0), lanes})
        next.push_back(vector::ExtractStridedSliceOp::create(b, b.loc, both, ArrayRef<int64_t>{half},
                                                             ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1}));
    }
    values = std::move(next);
  }
  return values;
}

static void storeRow(KernelBuilder &b, Value row, const RowStore &rows, Value token) {
  SmallVector<Value> place(rows.lead.begin(), rows.lead.end());
  place.append({token, rows.column});
  if (!rows.valid) {
    vector::StoreOp::create(b, b.loc, row, rows.out, place);
    return;
  }
  auto maskType = VectorType::get(cast<VectorType>(row.getType()).getShape(), b.getI1Type());
  Value mask = vector::CreateMaskOp::create(b, b.loc, maskType, rows.valid);
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
  SmallVector<Value> flat = interleaveAll(b, padded);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value token = b.apply(b.getAffineDimExpr(0) + lane, rows.firstToken);
    auto guard = scf::IfOp::create(b, b.loc, wanted(b, rows, token), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    int64_t place = lane * static_cast<int64_t>(width);
    Value row = vector::ExtractStridedSliceOp::create(b, b.loc, flat[place / lanes], ArrayRef<int64_t>{place % lanes},
                                                      ArrayRef<int64_t>{static_cast<int64_t>(width)},
                                                      ArrayRef<int64_t>{1});
    storeRow(b, row, store, token);
  }
}
