//===- RowsRun.h - What tests of kernels on rows share ----------*- C++ -*-===//
#ifndef CKJIT_TEST_JIT_ROWSRUN_H
#define CKJIT_TEST_JIT_ROWSRUN_H

#include "KernelRun.h"
#include <vector>

namespace ckjit::test {

/// Tokens that a program on rows takes at most.
inline constexpr int64_t kMostRows = 8;
/// Around the blocks of 128 keys.
inline constexpr int64_t kPositions[] = {0, 1, 127, 128, 129};
/// Holds the last position with all rows behind it.
inline constexpr int64_t kRowsContext = 129 + kMostRows;

/// This machine's own target, and those of narrower vectors (and without FMA) that it can run.
const std::vector<TargetDescription> &rowsTargets();

/// Seeded values for the first `features` of `tokens` rows of `width`; what stands beside and below stays NaN.
void fillRows(KernelRun &run, llvm::StringRef name, int64_t width, int64_t features, int64_t tokens, uint64_t seed,
              float scale = 1.0f);

/// An input with a row of `width` elements for each token.
struct TokenRows {
  const char *name;
  int64_t width;
};

/// The results of a token that is row `row` of the run, at `position` of the context.
using ResultOf = llvm::function_ref<std::vector<float>(int64_t row, int64_t position)>;

/// Fails the test unless each of `tokens` tokens from `position` on has the same bits for 1, 2, 3 and 5 threads, and
/// alone the same as among the others.
void checkSameBits(KernelRun &run, llvm::ArrayRef<TokenRows> inputs, int64_t tokens, int64_t position,
                   ResultOf resultOf);

} // namespace ckjit::test
#endif
