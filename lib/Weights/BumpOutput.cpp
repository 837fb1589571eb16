//===- BumpOutput.cpp - A weight file as it is written --------------------===//
#include "BumpOutput.h"
#include "BumpFormat.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

/// Refuses early what cannot fit on the disk.
static Error checkSpace(StringRef path, const AtomicFile &file, const ModelConfig &config, const WeightTypes &types) {
  std::optional<int64_t> bytes = 0;
  for (auto [index, spec] : enumerate(weightTensors(config, types))) {
    std::optional<int64_t> own = storedBytes(spec.shape, types.empty() ? DType::FP32 : types[index]);
    bytes = bytes && own ? checkedAdd(*bytes, *own) : std::nullopt;
  }
  if (!bytes)
    return fieldError(path, "bytes of tensor data", "more than 2^63", "less; make the config's dims smaller");
  return file.checkSpace(*bytes);
}

BumpOutput::BumpOutput(std::unique_ptr<AtomicFile> file, const ModelConfig &config, BumpKind kind)
    : file(std::move(file)), config(config), kind(kind), header(headerFor(config)) {
  header.version = kind == BumpKind::V2 ? 2 : 3;
}

Expected<std::unique_ptr<BumpOutput>> BumpOutput::create(StringRef path, const ModelConfig &config, BumpKind kind,
                                                         const WeightTypes &types) {
  if (Error error = validateConfig(config, path))
    return error;
  if (Error error = checkWeightTypes(config, types, path))
    return error;
  if (kind != BumpKind::V3 && !types.empty())
    return fieldError(path, "format", bumpKindName(kind), "BUMPWGT3, which alone has a table of the tensors' types");
  Expected<std::unique_ptr<AtomicFile>> file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = checkSpace(path, **file, config, types))
    return error;
  std::unique_ptr<BumpOutput> output(new BumpOutput(std::move(*file), config, kind));
  if (Error error = output->begin(types))
    return error;
  return output;
}

Error BumpOutput::begin(const WeightTypes &types) {
  if (kind != BumpKind::Raw)
    if (Error error = file->append(encodeHeader(header)))
      return error;
  if (kind != BumpKind::V3)
    return Error::success();
  const uint64_t entries = tableEntries(config.numLayers);
  std::vector<uint8_t> table(kTableLengthBytes + entries); // code 0 is fp32
  support::endian::write32le(table.data(), static_cast<uint32_t>(entries));
  for (auto [index, type] : enumerate(types))
    table[kTableLengthBytes + index] = static_cast<uint8_t>(type);
  return append(table);
}

Error BumpOutput::append(ArrayRef<uint8_t> bytes) {
  hash.update(bytes);
  return file->append(bytes);
}

Error BumpOutput::commit() {
  header.sha256 = hash.finish();
  if (kind == BumpKind::V3) {
    std::string json = writeModelConfig(config);
    if (Error error = file->append(arrayRefFromStringRef(json)))
      return error;
    if (Error error = file->append(encodeFooter(json)))
      return error;
  }
  if (kind != BumpKind::Raw)
    if (Error error = file->overwrite(0, encodeHeader(header)))
      return error;
  return file->commit();
}
