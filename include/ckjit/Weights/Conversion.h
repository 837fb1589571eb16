//===- Conversion.h - Models in other weight formats ------------*- C++ -*-===//
#ifndef CKJIT_WEIGHTS_CONVERSION_H
#define CKJIT_WEIGHTS_CONVERSION_H

#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <memory>

namespace ckjit {

/// The formats that somebody asks for.
struct FormatRequest {
  DType matrices = DType::FP32;                    ///< of wq, wk, wv, wo, w1, w2
  std::optional<DType> embedding = std::nullopt;   ///< of token_emb; else that of the matrices
  struct Layers {
    int64_t first, last; ///< both included
    DType type;
  };
  std::vector<Layers> layers = {}; ///< other formats of the matrices of some layers; the last that names a layer counts
};

/// A weight whose rows aren't whole blocks of the format that was asked for.
struct FormatFallback {
  size_t tensor; ///< in file order
  DType wanted;
  int64_t row; ///< weights of a row
};

struct FormatChoice {
  WeightTypes types; ///< one a tensor
  std::vector<FormatFallback> fallbacks;
};

/// `wanted`, if its blocks divide a row of `row` weights; else a format of at least its precision whose blocks do: q5_0
/// for q4_k and q8_0 for q6_k, then fp16.
DType fittingFormat(DType wanted, int64_t row);

/// The format of each weight of `config`. Error: a request for layers that the model hasn't.
llvm::Expected<FormatChoice> chooseFormats(const ModelConfig &config, const FormatRequest &request);

/// Gives the values of a model's weights. Used by many threads at once.
class WeightSource {
public:
  virtual ~WeightSource();
  /// Rows [first, first + rows) of tensor `index` as a file stores it that has `spec`; a row is spec.shape.back() long.
  virtual llvm::Error read(size_t index, const TensorSpec &spec, int64_t first, llvm::MutableArrayRef<float> values) const = 0;
  /// The same as bytes, where the source has them in that type already; false where it hasn't.
  virtual llvm::Expected<bool> copy(size_t index, DType type, int64_t row, llvm::MutableArrayRef<uint8_t> bytes) const;
  /// Names element `element` of the tensor in that order: "element 17 of 331776".
  virtual std::string place(size_t index, const TensorSpec &spec, int64_t element) const;
};

/// The weights of a file, which must outlive the source.
std::unique_ptr<WeightSource> fileSource(const BumpFile &file);
/// Those of the random model of `seed` (writeRandomModel).
std::unique_ptr<WeightSource> randomSource(const ModelConfig &config, uint64_t seed);

/// Calls task(0) to task(tasks - 1), on any threads and in any order, and returns when all have returned.
using ParallelFor = std::function<void(size_t tasks, llvm::function_ref<void(size_t task)> task)>;

/// What quantizing cost a tensor.
struct TensorLoss {
  double squaredError = 0; ///< sum over its elements
  double squares = 0;      ///< sum of the squared elements
  /// Root mean square of the errors over that of the elements; 0 where there are none.
  double relativeRms() const;
};

struct ConvertOptions {
  /// None: one after the other. Bytes and losses don't depend on it.
  ParallelFor parallel = nullptr;
  /// Hears from time to time how many of all elements are done; an error stops and is the result.
  std::function<llvm::Error(int64_t done, int64_t total)> progress = nullptr;
  /// Names the source in messages.
  std::string sourceName = "weights";
};

/// Writes the source's weights as a BUMPWGT3 file of these types (writeBumpInPieces for what becomes of the file), in
/// memory that is bounded whatever the dims. An empty path writes nothing. The losses are in file order. Errors: a value
/// that isn't finite, or too large for its format, by tensor and element.
llvm::Expected<std::vector<TensorLoss>> writeConverted(llvm::StringRef path, const ModelConfig &config,
                                                       const WeightTypes &types, const WeightSource &source,
                                                       const ConvertOptions &options = {});

} // namespace ckjit
#endif
