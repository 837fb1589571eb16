//===- BumpWriter.cpp - Writes a BUMPWGT3 file ----------------------------===//
#include "AtomicFile.h"
#include "BumpFormat.h"
#include "Sha256.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <cstring>
#include <new>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
static_assert(llvm::endianness::native == llvm::endianness::little, "tensors are written as they stand in memory");

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

Error appendTensors(StringRef path, HashedOutput &out, const ModelConfig &config,
                    function_ref<void(const TensorSpec &, float *)> fill) {
  std::vector<TensorSpec> tensors = weightTensors(config);
  int64_t largest = 0;
  for (const TensorSpec &spec : tensors)
    largest = std::max(largest, spec.elements());
  std::unique_ptr<float[]> buffer(new (std::nothrow) float[largest]);
  if (!buffer)
    return createStringError(path + ": no memory for a tensor of " + Twine(largest) + " elements");
  for (const TensorSpec &spec : tensors) {
    size_t bytes = static_cast<size_t>(spec.elements()) * sizeof(float);
    std::memset(buffer.get(), 0, bytes);
    fill(spec, buffer.get());
    if (Error error = out.append({reinterpret_cast<const uint8_t *>(buffer.get()), bytes}))
      return error;
  }
  return Error::success();
}
} // namespace

Error ckjit::writeBump(StringRef path, const ModelConfig &config,
                       function_ref<void(const TensorSpec &, float *)> fill) {
  if (Error error = validateConfig(config, path))
    return error;
  Expected<std::unique_ptr<AtomicFile>> file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  BumpHeader header = headerFor(config);
  if (Error error = (*file)->append(encodeHeader(header)))
    return error;
  HashedOutput out{**file, {}};
  if (Error error = appendTable(out, config.numLayers))
    return error;
  if (Error error = appendTensors(path, out, config, fill))
    return error;
  header.sha256 = out.hash.finish();
  std::string json = writeModelConfig(config);
  if (Error error = (*file)->append(arrayRefFromStringRef(json)))
    return error;
  if (Error error = (*file)->append(encodeFooter(json)))
    return error;
  if (Error error = (*file)->overwrite(0, encodeHeader(header)))
    return error;
  return (*file)->commit();
}
