//===- BumpWriter.cpp - Writes weight files of all three formats ----------===//
#include "BumpOutput.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/bit.h"
#include <cstdlib>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
static_assert(llvm::endianness::native == llvm::endianness::little, "tensors are written as they stand in memory");

using Produce = function_ref<Error(const TensorSpec &, TensorSink)>;

Error appendTensor(StringRef path, BumpOutput &out, const TensorSpec &spec, Produce produce) {
  int64_t left = spec.elements();
  if (Error error = produce(spec, [&](ArrayRef<float> piece) {
        left -= static_cast<int64_t>(piece.size());
        return out.append({reinterpret_cast<const uint8_t *>(piece.data()), piece.size() * sizeof(float)});
      }))
    return error;
  if (left != 0)
    return fieldError(path, tensorLabel(spec), Twine(spec.elements() - left) + " elements from the program",
                      Twine(spec.elements()));
  return Error::success();
}
} // namespace

Error ckjit::writeBumpInPieces(StringRef path, const ModelConfig &config, Produce produce, BumpKind kind) {
  Expected<std::unique_ptr<BumpOutput>> out = BumpOutput::create(path, config, kind);
  if (!out)
    return out.takeError();
  for (const TensorSpec &spec : weightTensors(config))
    if (Error error = appendTensor(path, **out, spec, produce))
      return error;
  return (*out)->commit();
}

Error ckjit::writeBump(StringRef path, const ModelConfig &config,
                       function_ref<void(const TensorSpec &, float *)> fill, BumpKind kind) {
  auto whole = [&](const TensorSpec &spec, TensorSink sink) -> Error {
    size_t elements = static_cast<size_t>(spec.elements());
    // Not new[]: where LLVM's handler of failed allocations is installed, it ends the program.
    std::unique_ptr<float, decltype(&std::free)> buffer(
        static_cast<float *>(std::calloc(elements, sizeof(float))), &std::free);
    if (!buffer)
      return createStringError(path + ": no memory for " + tensorLabel(spec) + ", " + Twine(elements) + " elements");
    fill(spec, buffer.get());
    return sink({buffer.get(), elements});
  };
  return writeBumpInPieces(path, config, whole, kind);
}
