//===- QuantizedOps.h - Matrix ops with inputs, expected results -*- C++ -*-===//
#ifndef CKJIT_TEST_JIT_QUANTIZEDOPS_H
#define CKJIT_TEST_JIT_QUANTIZEDOPS_H

#include "QuantizedRun.h"
#include "RowsRun.h"
#include <functional>
#include <memory>

namespace ckjit::test {

/// Tokens of a program on panels.
inline constexpr int64_t kMostTokens = 17;

/// A weight of `rows` rows of `blocks` blocks of 32 (of the k-quants: 256) weights, of which the last `unused` belong to
/// no feature, and the tokens it multiplies.
struct MatrixShape {
  int64_t rows, blocks, unused, tokens;
  int64_t width(DType type) const { return blocks * std::max<int64_t>(32, formatOf(type).elements); }
  int64_t depth(DType type) const { return width(type) - unused; }
};

/// One block to twenty; rows below, at and beside the tiles, primes; tokens of one, few, and more than a panel.
llvm::ArrayRef<MatrixShape> matrixShapes();

/// What an op reads or writes, by token and feature.
class Activation {
public:
  Activation(KernelRun &run, const Mode &mode, llvm::StringRef name, int64_t features)
      : panels(run.floats(name), features, mode.lanes()) {} // rows are panels of one lane
  float &at(int64_t token, int64_t feature) const { return panels.at(token, feature); }
  std::vector<float> token(int64_t t, int64_t first, int64_t count) const {
    std::vector<float> values;
    for (int64_t k = 0; k < count; ++k)
      values.push_back(at(t, first + k));
    return values;
  }

private:
  Panels panels;
};

int64_t mostTokens(const Mode &mode);
std::vector<int64_t> activationShape(const Mode &mode, int64_t features);
/// `shape`, in weights, in blocks of the mode's format.
std::vector<int64_t> weightShape(const Mode &mode, std::vector<int64_t> shape);
/// Seeded values, of every fourth token small ones.
void fill(const Activation &x, int64_t tokens, int64_t features, uint64_t seed);
KernelText textFor(const Mode &mode);

/// A program of one op with all its inputs. What runs it decides where; then its results are compared.
struct OpRun {
  OpRun(const KernelText &text, const Mode &mode, int64_t tokens)
      : kernel(text, mode.strict, mode.target, mode.int8), tokens(tokens) {}
  KernelRun kernel;
  int64_t tokens, firstRow = 0, position = 0;
  std::function<void()> compare; ///< fails the test where the output `y` isn't what plain arithmetic gives
};

/// `y = x W^T + b`, with a residual besides.
std::unique_ptr<OpRun> prepareLinear(const Mode &mode, const MatrixShape &s, bool residual,
                                     Blocks blocks = Blocks::Mixed);

struct MatrixOp {
  const char *name;
  std::unique_ptr<OpRun> (*prepare)(const Mode &, const MatrixShape &, bool variant);
};
/// All ops that read a weight.
llvm::ArrayRef<MatrixOp> matrixOps();

} // namespace ckjit::test
#endif
