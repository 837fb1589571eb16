//===- Conversion.cpp - Writes a model in other weight formats ------------===//
//
// A tensor is cut into chunks of some rows, which threads read, encode and measure; a chunk's size doesn't depend on
// the threads, and its sums are added in the chunks' order. While one batch of chunks is worked on, the batch before is
// hashed and written.
//
#include "ckjit/Weights/Conversion.h"
#include "BumpOutput.h"
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/BlockCodec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
constexpr int64_t kChunkElements = int64_t(1) << 15;
constexpr int64_t kBatchChunks = 64;

/// Does padding share rows with weights?
bool hasPaddedRows(const TensorSpec &spec) {
  return spec.shape.size() > 1 && spec.logical.back() != spec.shape.back() / spec.heads;
}

class Converter {
public:
  Converter(const ModelConfig &config, const WeightTypes &types, const WeightSource &source,
            const ConvertOptions &options, BumpOutput *out)
      : tensors(weightTensors(config, types)), types(types), source(source), options(options), out(out) {
    for (const TensorSpec &spec : tensors)
      total += spec.elements();
  }

  Expected<std::vector<TensorLoss>> run() {
    std::vector<TensorLoss> losses;
    for (size_t index = 0; index < tensors.size(); ++index) {
      Expected<TensorLoss> loss = convert(index);
      if (!loss)
        return loss.takeError();
      losses.push_back(*loss);
    }
    if (out)
      if (Error error = out->append(ready))
        return error;
    return losses;
  }

private:
  Expected<TensorLoss> convert(size_t index) {
    const TensorSpec &spec = tensors[index];
    const int64_t cols = spec.shape.back(), rows = spec.elements() / cols;
    const int64_t chunkRows = std::max<int64_t>(1, kChunkElements / cols);
    TensorLoss loss;
    for (int64_t first = 0; first < rows; first += chunkRows * kBatchChunks) {
      int64_t batchRows = std::min(rows - first, chunkRows * kBatchChunks);
      if (Error error = convertBatch(index, first, batchRows, chunkRows, loss))
        return error;
      done += batchRows * cols;
      if (options.progress)
        if (Error error = options.progress(done, total))
          return error;
    }
    return loss;
  }

  Error convertBatch(size_t index, int64_t first, int64_t rows, int64_t chunkRows, TensorLoss &loss) {
    const int64_t rowBytes = *storedBytes({tensors[index].shape.back()}, types[index]);
    const size_t chunks = (rows + chunkRows - 1) / chunkRows;
    std::vector<TensorLoss> sums(chunks);
    std::vector<std::optional<Error>> failures(chunks + 1);
    pending.resize(rows * rowBytes);
    auto task = [&](size_t number) {
      if (number == 0) {
        failures[chunks] = out ? out->append(ready) : Error::success();
        return;
      }
      int64_t start = static_cast<int64_t>(number - 1) * chunkRows, count = std::min(chunkRows, rows - start);
      MutableArrayRef<uint8_t> bytes = MutableArrayRef(pending).slice(start * rowBytes, count * rowBytes);
      failures[number - 1] = convertChunk(index, first + start, bytes, sums[number - 1]);
    };
    if (options.parallel)
      options.parallel(chunks + 1, task);
    else
      for (size_t number = 0; number <= chunks; ++number)
        task(number);
    std::swap(ready, pending);
    for (const TensorLoss &sum : sums) {
      loss.squaredError += sum.squaredError;
      loss.squares += sum.squares;
    }
    // The first in the file's order, whichever thread was first.
    Error result = Error::success();
    for (std::optional<Error> &failure : failures) {
      if (result)
        consumeError(std::move(*failure));
      else
        result = std::move(*failure);
    }
    return result;
  }

  Error convertChunk(size_t index, int64_t row, MutableArrayRef<uint8_t> bytes, TensorLoss &loss) const {
    const TensorSpec &spec = tensors[index];
    const DType type = types[index];
    const int64_t elements = static_cast<int64_t>(bytes.size()) / formatOf(type).bytes * formatOf(type).elements;
    std::vector<float> values(elements), kept(elements);
    if (Error error = source.read(index, spec, row, values))
      return error;
    Expected<bool> copied = source.copy(index, type, row, bytes);
    if (!copied)
      return copied.takeError();
    std::optional<size_t> bad;
    if (!*copied)
      bad = quantize(type, values, bytes, hasPaddedRows(spec) ? Zeros::Kept : Zeros::Free);
    else if (auto at = find_if(values, [](float v) { return !std::isfinite(v); }); at != values.end())
      bad = at - values.begin();
    if (bad)
      return cannotEncode(index, row * spec.shape.back() + static_cast<int64_t>(*bad), values[*bad]);
    dequantize(type, bytes, kept);
    for (auto [value, result] : zip_equal(values, kept)) {
      double error = static_cast<double>(value) - result;
      loss.squaredError += error * error;
      loss.squares += static_cast<double>(value) * value;
    }
    return Error::success();
  }

  Error cannotEncode(size_t index, int64_t element, float value) const {
    const TensorSpec &spec = tensors[index];
    std::string found = std::isnan(value) ? "nan" : formatv("{0}", value).str(), expected = "a finite number";
    if (std::isfinite(value))
      expected = formatv("less, for {0} cannot hold it; choose another format for this weight", dtypeName(types[index]));
    else if (std::isinf(value))
      found = value < 0 ? "-inf" : "inf";
    return fieldError(options.sourceName, tensorLabel(spec) + ", " + source.place(index, spec, element), found, expected);
  }

  const std::vector<TensorSpec> tensors;
  const WeightTypes &types;
  const WeightSource &source;
  const ConvertOptions &options;
  BumpOutput *out;
  std::vector<uint8_t> pending, ready; ///< encoded: being made, and to be written
  int64_t done = 0, total = 0;
};
} // namespace

double TensorLoss::relativeRms() const { return squaredError == 0 ? 0 : std::sqrt(squaredError / squares); }

Expected<std::vector<TensorLoss>> ckjit::writeConverted(StringRef path, const ModelConfig &config,
                                                        const WeightTypes &types, const WeightSource &source,
                                                        const ConvertOptions &options) {
  WeightTypes all = types.empty() ? WeightTypes(weightTensors(config).size(), DType::FP32) : types;
  if (path.empty()) {
    if (Error error = checkWeightTypes(config, all, options.sourceName))
      return error;
    return Converter(config, all, source, options, nullptr).run();
  }
  Expected<std::unique_ptr<BumpOutput>> out = BumpOutput::create(path, config, BumpKind::V3, all);
  if (!out)
    return out.takeError();
  Expected<std::vector<TensorLoss>> losses = Converter(config, all, source, options, out->get()).run();
  if (losses)
    if (Error error = (*out)->commit())
      return error;
  return losses;
}
