//===- TileSums.cpp - Sums of vectors -------------------------------------===//
#include "TileSums.h"
#include "LoopDialects.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

/// A vector holds blocks, one a summed vector. Halving all blocks of two vectors at once gives one vector with the
/// blocks of both.
Value ckjit::ck::sumOfVectors(OpBuilder &b, Location loc, ArrayRef<Value> summed) {
  std::vector<Value> vectors(summed.begin(), summed.end());
  int64_t block = cast<VectorType>(vectors.front().getType()).getDimSize(0);
  auto shuffle = [&](Value a, Value c, ArrayRef<int64_t> order) { return vector::ShuffleOp::create(b, loc, a, c, order); };
  auto blocksOf = [&](Value v) { return cast<VectorType>(v.getType()).getDimSize(0) / block; };
  auto added = [&](Value a, Value c, int64_t blocks) -> Value {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < blocks; ++i)
      for (int64_t j = 0; j < block / 2; ++j) {
        low.push_back(i * block + j);
        high.push_back(i * block + block / 2 + j);
      }
    Value first = shuffle(a, c, low), second = shuffle(a, c, high);
    return arith::AddFOp::create(b, loc, first, second);
  };
  while (vectors.size() > 1) {
    std::vector<Value> next;
    for (size_t i = 0; i < vectors.size(); i += 2) {
      Value a = vectors[i], c = vectors[i + 1];
      int64_t blocks = 2 * blocksOf(a);
      next.push_back(block == 1 ? shuffle(a, c, llvm::to_vector(llvm::seq<int64_t>(0, blocks))).getResult()
                                : added(a, c, blocks));
    }
    vectors = std::move(next);
    block = std::max<int64_t>(block / 2, 1);
  }
  Value all = vectors[0];
  for (; block > 1; block /= 2)
    all = added(all, all, blocksOf(all));
  return all;
}
