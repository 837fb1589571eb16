//===- Verify.h - Compare a run with the reference --------------*- C++ -*-===//
#ifndef CKJIT_ENGINE_VERIFY_H
#define CKJIT_ENGINE_VERIFY_H

#include "ckjit/Engine/Model.h"
#include "ckjit/Reference/Reference.h"
#include <optional>

namespace ckjit {

/// How far a value may be from the reference, as a share of the largest finite |value| of its op (a loss: of the
/// logits, which it is a difference of). fp32 sums over thousands of terms stay well below the first; double sums
/// below the second. Values that are not finite agree when both are NaN, or the same infinity.
inline constexpr double kVerifyTolerance = 1e-4;
inline constexpr double kVerifyToleranceStrict = 3e-5;
/// For logits and losses of programs with int8 activations, which the reference hasn't: it computes with the dequantized
/// weights and activations as they are. A code is off by up to 1/254 of its block's largest value, so a product by 0.5 to
/// 2.7 % of its size (root mean square, without and with outliers), and the logits by 1 to 3.5 % of the largest (SPEC 5);
/// faults of a kernel are of the order of the values themselves. No bound holds for each op on the way: where a softmax
/// is near a tie, it answers a small difference with a large one.
inline constexpr double kVerifyToleranceInt8 = 5e-2;

/// The one of the three that goes with how a program was compiled.
double verifyTolerance(const CompileOptions &options);

/// The first place where a program and the reference part beyond tolerance.
struct Mismatch {
  std::string op, name; ///< "swiglu", "swiglu_out"; no op where any may be at fault
  int layer = -1;
  int node = -1;
  int64_t row = 0, column = 0; ///< row of tokens, or head * T + token
  double found = 0, expected = 0, tolerance = 0;
  std::vector<std::string> behind;   ///< results that agree and that this one is computed from: "fc1_out of layer 3"
  std::vector<std::string> suspects; ///< ops between those and this result; the fault lies in one of them
  /// "layer 3, node 7 swiglu (swiglu_out), row 5, element 17: found ..., expected ... (tolerance ...); the fault lies
  /// behind fc1_out of layer 3, in split or swiglu"
  std::string message() const;
};

/// What a program computed over T tokens, kept beyond its model.
struct ProgramOutput {
  std::vector<float> logits;        ///< [T][V]
  std::vector<float> losses;        ///< [T], with nextTokens() as targets
  std::vector<std::string> kernels; ///< of the program
};

/// The token after each of `tokens` as its target; the last has none.
std::vector<int32_t> nextTokens(llvm::ArrayRef<int32_t> tokens);

/// Copies what `model` gave for `tokens` tokens from row 0 with nextTokens() as targets.
ProgramOutput outputOf(const Model &model, size_t tokens);

/// What verify() looked at.
struct VerifyResult {
  std::optional<Mismatch> first;    ///< op by op, in the materialized program
  std::optional<Mismatch> run;      ///< in the logits or losses of the other program
  std::vector<std::string> runOnly; ///< kernels that only the other program has
  bool runCompared = false;         ///< another program was given
  int64_t values = 0;               ///< tensors compared
  double worstShare = 0;            ///< largest difference, as a share of its op's largest |value|
  double runShare = 0;              ///< the same of the other program's logits and losses

  bool agrees() const { return !first && !run; }
  /// What parts and where the fault lies; empty if all agrees.
  std::string message() const;
};

/// Runs `materialized`, compiled with `materialize`, and lib/Reference over `tokens`, and compares each op's result in
/// execution order with its slot in the arena, then the losses. `run` is what another program of the same model
/// computed: it has other kernels, which no slot shows, so its logits and losses are compared too, with `runTolerance`
/// (without one: `tolerance`).
llvm::Expected<VerifyResult> verify(Model &materialized, const CKIRGraph &graph, llvm::ArrayRef<int32_t> tokens,
                                    double tolerance, const ProgramOutput *run = nullptr,
                                    std::optional<double> runTolerance = std::nullopt);

} // namespace ckjit
#endif
