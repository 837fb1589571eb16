//===- BumpWriter.cpp - Writes weight files of all three formats ----------===//
#include "AtomicFile.h"
#include "BumpFormat.h"
#include "Sha256.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include <cstdlib>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
static_assert(llvm::endianness::native == llvm::endianness::little, "tensors are written as they stand in memory");

using Produce = function_ref<Error(const TensorSpec &, TensorSink)>;

/// Appends to the file and to the payload's checksum.
struct HashedOutput {
  AtomicFile &file;
  Sha256 hash;

  Error append(ArrayRef<uint8_t> bytes) {
    hash.update(bytes);
    return file.append(bytes);
  }
};

Error appendTable(HashedOutput &out, uint64_t layers) {
  std::vector<uint8_t> table(kTableLengthBytes + tableEntries(layers)); // all codes 0: fp32
  support::endian::write32le(table.data(), static_cast<uint32_t>(tableEntries(layers)));
  return out.append(table);
}

Error appendTensor(StringRef path, HashedOutput &out, const TensorSpec &spec, Produce produce) {
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

/// Refuses early what cannot fit on the disk.
Error checkSpace(StringRef path, const AtomicFile &file, ArrayRef<TensorSpec> tensors) {
  std::optional<int64_t> bytes = 0;
  for (const TensorSpec &spec : tensors) {
    std::optional<int64_t> own = checkedMul<int64_t>(spec.elements(), sizeof(float));
    bytes = bytes && own ? checkedAdd(*bytes, *own) : std::nullopt;
  }
  if (!bytes)
    return fieldError(path, "bytes of tensor data", "more than 2^63", "less; make the config's dims smaller");
  return file.checkSpace(*bytes);
}

Error appendFooter(AtomicFile &file, const ModelConfig &config) {
  std::string json = writeModelConfig(config);
  if (Error error = file.append(arrayRefFromStringRef(json)))
    return error;
  return file.append(encodeFooter(json));
}
} // namespace

Error ckjit::writeBumpInPieces(StringRef path, const ModelConfig &config, Produce produce, BumpKind kind) {
  if (Error error = validateConfig(config, path))
    return error;
  Expected<std::unique_ptr<AtomicFile>> file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  std::vector<TensorSpec> tensors = weightTensors(config);
  if (Error error = checkSpace(path, **file, tensors))
    return error;
  BumpHeader header = headerFor(config);
  header.version = kind == BumpKind::V2 ? 2 : 3;
  if (kind != BumpKind::Raw)
    if (Error error = (*file)->append(encodeHeader(header)))
      return error;
  HashedOutput out{**file, {}};
  if (kind == BumpKind::V3)
    if (Error error = appendTable(out, config.numLayers))
      return error;
  for (const TensorSpec &spec : tensors)
    if (Error error = appendTensor(path, out, spec, produce))
      return error;
  header.sha256 = out.hash.finish();
  if (kind == BumpKind::V3)
    if (Error error = appendFooter(**file, config))
      return error;
  if (kind != BumpKind::Raw)
    if (Error error = (*file)->overwrite(0, encodeHeader(header)))
      return error;
  return (*file)->commit();
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
