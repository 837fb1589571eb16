//===- WeightSource.cpp - The weights of a file, row by row ---------------===//
#include "ckjit/Weights/BlockCodec.h"
#include "ckjit/Weights/Conversion.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace ckjit;

WeightSource::~WeightSource() = default;

Expected<bool> WeightSource::copy(size_t, DType, int64_t, MutableArrayRef<uint8_t>) const { return false; }

std::string WeightSource::place(size_t, const TensorSpec &spec, int64_t element) const {
  return formatv("element {0} of {1}", element, spec.elements());
}

namespace {
class FileSource : public WeightSource {
public:
  explicit FileSource(const BumpFile &file) : file(file) {}

  Error read(size_t index, const TensorSpec &spec, int64_t first, MutableArrayRef<float> values) const override {
    const BumpTensor &tensor = file.tensors[index];
    if (tensor.spec.shape == spec.shape)
      return decode(index, first * spec.shape.back(), values);
    return tensor.spec.shape.size() > spec.shape.size() ? joinHeads(index, spec, first, values)
                                                        : takeHead(index, spec, first, values);
  }

  Expected<bool> copy(size_t index, DType type, int64_t row, MutableArrayRef<uint8_t> bytes) const override {
    const BumpTensor &tensor = file.tensors[index];
    if (tensor.dtype != type)
      return false;
    const WeightFormat &format = formatOf(type);
    uint64_t rowBytes = tensor.spec.shape.back() / format.elements * format.bytes;
    if (Error error = file.readTensorPart(index, row * rowBytes, bytes))
      return error;
    return true;
  }

  std::string place(size_t index, const TensorSpec &spec, int64_t element) const override {
    const TensorSpec &own = file.tensors[index].spec;
    if (own.shape == spec.shape)
      return WeightSource::place(index, own, element);
    // Seen as [rows][heads][lanes] where the heads stand side by side, else as [heads][rows][lanes].
    const TensorSpec &joined = own.heads != 1 ? own : spec;
    int64_t heads = joined.heads, rows = joined.shape[0], lanes = joined.shape[1] / heads;
    int64_t outer = element / lanes, inner = element % lanes;
    int64_t inFile = own.heads != 1 ? ((outer % rows) * heads + outer / rows) * lanes + inner
                                    : ((outer % heads) * rows + outer / heads) * lanes + inner;
    return WeightSource::place(index, own, inFile);
  }

private:
  /// Elements from `start` on, which is a block's first; whole blocks.
  Error decode(size_t index, int64_t start, MutableArrayRef<float> values) const {
    const BumpTensor &tensor = file.tensors[index];
    const WeightFormat &format = formatOf(tensor.dtype);
    std::vector<uint8_t> bytes(values.size() / format.elements * format.bytes);
    if (Error error = file.readTensorPart(index, start / format.elements * format.bytes, bytes))
      return error;
    dequantize(tensor.dtype, bytes, values);
    return Error::success();
  }

  /// Rows of [aD][H*ad] out of [H][aD][ad].
  Error joinHeads(size_t index, const TensorSpec &spec, int64_t first, MutableArrayRef<float> values) const {
    const int64_t cols = spec.shape[1], lanes = cols / spec.heads, rows = values.size() / cols;
    std::vector<float> head(rows * lanes);
    for (int64_t h = 0; h < spec.heads; ++h) {
      if (Error error = decode(index, (h * spec.shape[0] + first) * lanes, head))
        return error;
      for (int64_t r = 0; r < rows; ++r)
        std::copy_n(&head[r * lanes], lanes, &values[r * cols + h * lanes]);
    }
    return Error::success();
  }

  /// Rows of [H][aD][ad] out of [aD][H*ad]: of each row the blocks that hold a head's lanes.
  Error takeHead(size_t index, const TensorSpec &spec, int64_t first, MutableArrayRef<float> values) const {
    const BumpTensor &tensor = file.tensors[index];
    const int64_t lanes = spec.shape[2], rows = spec.shape[1], cols = tensor.spec.shape[1];
    const int64_t block = formatOf(tensor.dtype).elements;
    std::vector<float> blocks;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()) / lanes; ++i) {
      int64_t head = (first + i) / rows, row = (first + i) % rows;
      int64_t from = head * lanes / block * block, end = ((head + 1) * lanes + block - 1) / block * block;
      blocks.resize(end - from);
      if (Error error = decode(index, row * cols + from, blocks))
        return error;
      std::copy_n(&blocks[head * lanes - from], lanes, &values[i * lanes]);
    }
    return Error::success();
  }

  const BumpFile &file;
};
} // namespace

std::unique_ptr<WeightSource> ckjit::fileSource(const BumpFile &file) { return std::make_unique<FileSource>(file); }
