//===- ModelRun.h - A compiled model beside the reference -------*- C++ -*-===//
#ifndef CKJIT_TEST_ENGINE_MODELRUN_H
#define CKJIT_TEST_ENGINE_MODELRUN_H

#include "Support/TestModel.h"
#include "ckjit/Engine/Model.h"
#include "ckjit/Reference/Reference.h"
#include <stdexcept>

namespace ckjit::test {

/// What the issue asks of logits of up to 25, in default and strict mode: fp32 sums stay about an order below.
inline constexpr double kLogitTolerance = 1e-4, kLogitToleranceStrict = 3e-5;
inline constexpr double kLogitSize = 25;

/// The value; else an exception with the message, which fails the test.
template <typename T> T must(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}
inline void must(llvm::Error error) {
  if (error)
    throw std::runtime_error(llvm::toString(std::move(error)));
}

/// Options for this machine.
CompileOptions hostOptions(bool strict = false, bool materialize = false);
int64_t hostLanes();
/// Default, strict, materialized and unfused, in turn.
CompileOptions modeOptions(uint64_t mode);
/// Two layers, grouped heads, nothing a multiple of 16, two panels at most.
ModelConfig tinyConfig();

/// Compiles `graph` and fills in the weights.
std::unique_ptr<Model> makeModel(const CKIRGraph &graph, const CompileOptions &options, const TestModel &weights,
                                 unsigned threads = 2);

/// Compiles the model in `folder`/model.bump for two threads and loads it.
std::unique_ptr<Model> loadModel(const std::string &folder, const CompileOptions &options);
std::string readFile(const std::string &path);
/// The fp32 values of a file.
std::vector<double> readFloats(const std::string &path);

/// All values of lib/Reference, in its order.
std::vector<ReferenceValue> referenceValues(const CKIRGraph &graph, const TestModel &weights,
                                            llvm::ArrayRef<int32_t> tokens);
/// Logits [T][V] of lib/Reference.
std::vector<double> referenceLogits(const CKIRGraph &graph, const TestModel &weights, llvm::ArrayRef<int32_t> tokens);

/// Logits [T][V] of a run over `tokens`.
std::vector<float> runLogits(Model &model, llvm::ArrayRef<int32_t> tokens);
/// The same when `tokens` come `length` at a time, through the cache: by @decode, where the model has it and they are
/// few.
std::vector<float> runSteps(Model &model, llvm::ArrayRef<int32_t> tokens, int64_t length);
/// The same in pieces of the given lengths, the last repeated to the end.
std::vector<float> runPieces(Model &model, llvm::ArrayRef<int32_t> tokens, llvm::ArrayRef<int64_t> lengths);
/// The bits of two runs are the same.
bool sameBits(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b);

double largestOf(llvm::ArrayRef<double> values);

/// Where two sets of values part most.
struct Distance {
  double worst = 0;
  size_t row = 0, column = 0;
  double found = 0, expected = 0;
  std::string text() const;
};
/// Compares [rows][columns] values; a NaN is infinitely far away.
Distance distanceOf(llvm::ArrayRef<float> found, llvm::ArrayRef<double> expected, size_t columns);

/// Tolerance for logits as large as `logits`: the issue's, scaled up where they are larger than its examples.
double toleranceFor(llvm::ArrayRef<double> logits, bool strict);

} // namespace ckjit::test
#endif
