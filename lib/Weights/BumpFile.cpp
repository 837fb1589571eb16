//===- BumpFile.cpp - Opens, checks and reads a weight file ---------------===//
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"
#include "BumpConfig.h"
#include "BumpFormat.h"
#include "BumpTensors.h"
#include "Sha256.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

namespace {
constexpr uint64_t kChecksumByDefaultBytes = uint64_t(256) << 20;
constexpr size_t kReadChunkBytes = size_t(1) << 20;

/// The first bytes of a file, readable whatever they are.
std::string quoted(StringRef bytes) {
  std::string text;
  raw_string_ostream out(text);
  out << '"';
  printEscapedString(bytes, out);
  out << '"';
  return text;
}

/// The parts of BumpFile::open, in the order in which the file is checked.
class Opener {
public:
  Opener(const RegularFile &file, const BumpOpenOptions &options, BumpFile &result)
      : file(file), options(options), out(result) {}

  Error run() {
    out.fileBytes = file.size();
    if (Error error = readMagic())
      return error;
    if (Error error = out.kind == BumpKind::Raw ? Error::success() : readHeader())
      return error;
    Expected<std::optional<Footer>> footer = readFooter(file, headBytes());
    if (!footer)
      return footer.takeError();
    payload = {headBytes(), *footer ? (*footer)->payloadEnd : file.size()};
    if (Error error = takeConfig(*footer))
      return error;
    if (Error error = out.kind == BumpKind::V3 ? readTable() : assumeTypes())
      return error;
    Expected<std::vector<BumpTensor>> tensors = placeTensors(file.path(), out.config, dtypes, payload);
    if (!tensors)
      return tensors.takeError();
    out.tensors = std::move(*tensors);
    if (Error error = checkSum())
      return error;
    return applyOverrides(file.path(), options.overrides, out.config);
  }

private:
  uint64_t headBytes() const {
    return out.kind == BumpKind::V3 ? kHeaderBytes + kTableLengthBytes : out.kind == BumpKind::V2 ? kHeaderBytes : 0;
  }

  Error readMagic() {
    if (file.size() < kMagicBytes)
      return fieldError(file.path(), "file size", Twine(file.size()) + " bytes",
                        "at least the " + Twine(kMagicBytes) + " bytes of the magic " + kMagicV3);
    char bytes[kMagicBytes];
    if (Error error = file.read(0, bytes, kMagicBytes))
      return error;
    StringRef magic(bytes, kMagicBytes);
    if (magic == kMagicV3 || magic == kMagicV2)
      out.kind = magic == kMagicV3 ? BumpKind::V3 : BumpKind::V2;
    else if (magic.starts_with(kMagicFamily))
      return fieldError(file.path(), "magic", quoted(magic),
                        kMagicV3 + " or " + kMagicV2 + "; this version of the format cannot be read");
    else if (!options.allowRaw)
      return fieldError(file.path(), "magic", quoted(magic),
                        kMagicV3 + " or " + kMagicV2 + "; a headerless weight file needs --raw");
    else
      out.kind = BumpKind::Raw;
    return Error::success();
  }

  Error readHeader() {
    if (file.size() < headBytes())
      return fieldError(file.path(), "file size", Twine(file.size()) + " bytes",
                        "at least the " + Twine(headBytes()) + " bytes of a " + bumpKindName(out.kind) + " header");
    HeaderBytes bytes;
    if (Error error = file.read(0, bytes.data(), bytes.size()))
      return error;
    out.header = decodeHeader(bytes);
    uint32_t version = out.kind == BumpKind::V3 ? 3 : 2;
    if (out.header.version != version)
      return fieldError(file.path(), "header version", Twine(out.header.version),
                        Twine(version) + ", the version of " + bumpKindName(out.kind));
    if (out.header.modelType != 1)
      return fieldError(file.path(), "header model_type", Twine(out.header.modelType), "1 (decoder-only)");
    for (uint64_t i = kReservedOffset; i < kHeaderBytes; ++i)
      if (bytes[i] != 0)
        return fieldError(file.path(), "header reserved byte " + Twine(i), Twine(int(bytes[i])), "0");
    return Error::success();
  }

  Error takeConfig(const std::optional<Footer> &footer) {
    Expected<ResolvedConfig> resolved = resolveConfig(file, headBytes(), footer, options);
    if (!resolved)
      return resolved.takeError();
    if (Error error = out.kind == BumpKind::Raw ? Error::success()
                                                : checkHeaderDims(file.path(), out.header, *resolved))
      return error;
    out.config = resolved->config;
    out.configSource = resolved->source;
    return Error::success();
  }

  Error readTable() {
    if (options.weightType)
      return fieldError(file.path(), "type of the weights", dtypeName(*options.weightType),
                        "none to be given: a BUMPWGT3 file has a dtype table");
    uint8_t bytes[kTableLengthBytes];
    if (Error error = file.read(kHeaderBytes, bytes, sizeof bytes))
      return error;
    uint64_t length = support::endian::read32le(bytes), expected = tableEntries(out.config.numLayers);
    if (length != expected)
      return fieldError(file.path(), "dtype table length", Twine(length),
                        formatv("{0}, i.e. 14 for each of {1} layers and 4", expected, out.config.numLayers).str());
    if (length > payload.end - payload.start)
      return fieldError(file.path(), "dtype table", formatv("{0} bytes in the file", payload.end - payload.start).str(),
                        Twine(length) + " bytes");
    dtypes.resize(length);
    if (Error error = file.read(payload.start, dtypes.data(), length))
      return error;
    payload.start += length;
    return Error::success();
  }

  /// Of a file without a table.
  Error assumeTypes() {
    if (options.weightType.value_or(DType::FP32) == DType::FP32)
      return Error::success(); // an empty table says so too
    for (const TensorSpec &spec : weightTensors(out.config))
      dtypes.push_back(static_cast<uint8_t>(mayBeQuantized(spec.name) ? *options.weightType : DType::FP32));
    return Error::success();
  }

  Error checkSum() {
    bool wanted = options.verifyChecksum.value_or(file.size() <= kChecksumByDefaultBytes);
    bool zero = out.header.sha256 == Digest{};
    if (out.kind == BumpKind::Raw || (out.kind == BumpKind::V2 && zero)) {
      out.checksum = ChecksumState::Absent;
      return Error::success();
    }
    if (!wanted)
      return Error::success();
    Sha256 hash;
    std::vector<uint8_t> chunk(std::min<uint64_t>(kReadChunkBytes, payload.end - kHeaderBytes));
    for (uint64_t at = kHeaderBytes; at < payload.end;) {
      size_t count = std::min<uint64_t>(chunk.size(), payload.end - at);
      if (Error error = file.read(at, chunk.data(), count))
        return error;
      hash.update(ArrayRef(chunk).take_front(count));
      at += count;
      if (options.progress)
        if (Error error = options.progress(at - kHeaderBytes, payload.end - kHeaderBytes))
          return error;
    }
    Digest digest = hash.finish();
    if (digest != out.header.sha256)
      return fieldError(file.path(), "checksum (SHA-256 of the payload)", hex(digest),
                        hex(out.header.sha256) + ", as the header says; the file is damaged or was changed");
    out.checksum = ChecksumState::Ok;
    return Error::success();
  }

  const RegularFile &file;
  const BumpOpenOptions &options;
  BumpFile &out;
  Payload payload{};
  std::vector<uint8_t> dtypes;
};
} // namespace

BumpFile::BumpFile() = default;
BumpFile::~BumpFile() = default;

WeightTypes BumpFile::weightTypes() const {
  WeightTypes types;
  for (const BumpTensor &tensor : tensors)
    types.push_back(tensor.dtype);
  return all_of(types, [](DType type) { return type == DType::FP32; }) ? WeightTypes() : types;
}

Expected<std::unique_ptr<BumpFile>> BumpFile::open(StringRef path, const BumpOpenOptions &options) {
  Expected<std::unique_ptr<RegularFile>> file = RegularFile::open(path);
  if (!file)
    return file.takeError();
  std::unique_ptr<BumpFile> result(new BumpFile());
  result->file = std::move(*file);
  result->path = path.str();
  if (Error error = Opener(*result->file, options, *result).run())
    return error;
  return result;
}

Error BumpFile::readTensor(size_t index, void *dst, uint64_t maxBytes) const {
  if (index >= tensors.size())
    return fieldError(file->path(), "tensor index", Twine(index), "less than " + Twine(tensors.size()));
  const BumpTensor &tensor = tensors[index];
  return file->read(tensor.fileOffset, dst, std::min(tensor.bytes, maxBytes));
}

Error BumpFile::readTensorPart(size_t index, uint64_t offset, MutableArrayRef<uint8_t> bytes) const {
  if (index >= tensors.size())
    return fieldError(file->path(), "tensor index", Twine(index), "less than " + Twine(tensors.size()));
  const BumpTensor &tensor = tensors[index];
  if (offset > tensor.bytes || bytes.size() > tensor.bytes - offset)
    return fieldError(file->path(), "bytes of " + tensorLabel(tensor.spec),
                      formatv("{0} from {1} on", bytes.size(), offset).str(), Twine(tensor.bytes) + " in all");
  return file->read(tensor.fileOffset + offset, bytes.data(), bytes.size());
}
