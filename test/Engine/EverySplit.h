//===- EverySplit.h - One text, in pieces of all lengths --------*- C++ -*-===//
#ifndef CKJIT_TEST_ENGINE_EVERYSPLIT_H
#define CKJIT_TEST_ENGINE_EVERYSPLIT_H

#include "ModelRun.h"

namespace ckjit::test {

/// Logits of a whole text, [T][V]: in one go, and token by token.
struct WholeLogits {
  std::vector<float> atOnce, singles;
};

/// Runs the first 1, 2, 15, 16, 17, 31, 33, T - 1 and T of `tokens` in pieces: of 1, 2, 3, 4, 5, 7, 16, 17, all but one,
/// around a panel, and of seeded lengths. Checks that the logits are bit by bit those of one run where @prefill runs
/// every piece, bit by bit those of single tokens where @decode does, and else within 1e-5 of the largest logit; that
/// all agree with `expected` [T][V] within `tolerance`; and that no row is computed that wasn't asked for.
WholeLogits checkEverySplit(Model &model, llvm::ArrayRef<int32_t> tokens, llvm::ArrayRef<double> expected,
                            double tolerance);

} // namespace ckjit::test
#endif
