//===- Verify.h - Compare a run with the reference --------------*- C++ -*-===//
#ifndef CKJIT_ENGINE_VERIFY_H
#define CKJIT_ENGINE_VERIFY_H

#include "ckjit/Engine/Model.h"
#include "ckjit/Reference/Reference.h"
#include <optional>

namespace ckjit {

/// How far a value may be from the reference, as a share of the largest |value| of its op.
/// fp32 sums over thousands of terms stay well below the first; double sums below the second.
inline constexpr double kVerifyTolerance = 1e-4;
inline constexpr double kVerifyToleranceStrict = 3e-5;

/// The first place where a run and the reference part beyond tolerance.
struct Mismatch {
  std::string op, name; ///< "swiglu", "swiglu_out"
  int layer = -1;
  int node = -1;
  int64_t row = 0, column = 0; ///< row of tokens, or head * T + token
  double found = 0, expected = 0, tolerance = 0;
  /// "layer 3, node 7 swiglu (swiglu_out), row 5, element 17: found ..., expected ... (tolerance ...)"
  std::string message() const;
};

/// What verify() looked at.
struct VerifyResult {
  std::optional<Mismatch> first;
  int64_t values = 0;    ///< tensors compared
  double worstShare = 0; ///< largest difference, as a share of its op's largest |value|
};

/// Runs lib/Reference over `tokens` and compares each op's result, in execution order, with its slot in
/// the arena of `model`, which must have been compiled with `materialize` and have run the same tokens
/// from row 0. Stops at the first mismatch.
llvm::Expected<VerifyResult> verify(Model &model, const CKIRGraph &graph, llvm::ArrayRef<int32_t> tokens,
                                    double tolerance);

} // namespace ckjit
#endif
