//===- CacheEntry.cpp - The file of a cached object -----------------------===//
#include "ckjit/JIT/CacheEntry.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;

namespace {
// magic, version, key, bytes behind the header, SHA-256 of everything but itself.
constexpr StringLiteral kMagic = "CKJITOBJ";
constexpr uint32_t kVersion = 1;
constexpr size_t kHashBytes = 32;
constexpr size_t kChecksumOffset = 8 + 4 + sizeof(CacheKey) + 8;
constexpr size_t kHeaderBytes = kChecksumOffset + kHashBytes;

std::array<uint8_t, kHashBytes> checksumOf(StringRef header, StringRef body) {
  SHA256 hash;
  hash.update(header);
  hash.update(body);
  return hash.final();
}

StringRef textOf(ArrayRef<uint8_t> bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

DataExtractor extractorOf(StringRef bytes) {
  return DataExtractor(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/sizeof(uint64_t));
}

/// Fields one after the other, little-endian; texts and lists behind their length.
class FieldWriter {
public:
  explicit FieldWriter(raw_ostream &out) : out(out), writer(out, endianness::little) {}
  template <typename... T> void add(T... values) { (writer.write(values), ...); }
  void addText(StringRef text) {
    add(static_cast<uint64_t>(text.size()));
    out << text;
  }
  void addConfig(const ModelConfig &config) {
    const auto &[layers, hidden, intermediate, heads, kvHeads, vocab, context, eps, theta] = config;
    add(layers, hidden, intermediate, heads, kvHeads, vocab, context, bit_cast<uint32_t>(eps),
        bit_cast<uint32_t>(theta));
  }
  void addTarget(const TargetDescription &target) {
    const auto &[cpu, features, vectorBits, fma, vectorRegisters, l1dBytes, l2Bytes, l3Bytes] = target;
    addText(cpu);
    addText(features);
    add(uint32_t(vectorBits), uint8_t(fma), uint32_t(vectorRegisters), l1dBytes, l2Bytes, l3Bytes);
  }

private:
  raw_ostream &out;
  support::endian::Writer writer;
};

/// The same fields back. The cursor holds the first error; after it every field is zero.
class FieldReader {
public:
  explicit FieldReader(StringRef bytes) : data(extractorOf(bytes)), cursor(0) {}
  template <typename T> void read(T &value) {
    if constexpr (sizeof(T) == 8)
      value = static_cast<T>(data.getU64(cursor));
    else if constexpr (sizeof(T) == 4)
      value = bit_cast<T>(data.getU32(cursor));
    else
      value = readFlag();
  }
  template <typename... T> void readAll(T &...values) { (read(values), ...); }
  std::string readText() {
    uint64_t bytes = data.getU64(cursor);
    return cursor && bytes <= left() ? data.getBytes(cursor, bytes).str() : fail("a text longer than the entry");
  }
  /// A list's length, each of whose elements has at least `leastBytes`.
  uint64_t readCount(uint64_t leastBytes) {
    uint64_t count = data.getU64(cursor);
    if (cursor && count <= left() / leastBytes)
      return count;
    fail("a list longer than the entry");
    return 0;
  }
  void readConfig(ModelConfig &config) {
    auto &[layers, hidden, intermediate, heads, kvHeads, vocab, context, eps, theta] = config;
    readAll(layers, hidden, intermediate, heads, kvHeads, vocab, context, eps, theta);
  }
  void readTarget(TargetDescription &target) {
    auto &[cpu, features, vectorBits, fma, vectorRegisters, l1dBytes, l2Bytes, l3Bytes] = target;
    cpu = readText();
    features = readText();
    readAll(vectorBits, fma, vectorRegisters, l1dBytes, l2Bytes, l3Bytes);
  }
  uint64_t left() { return cursor ? data.size() - cursor.tell() : 0; }
  bool good() { return wrong.empty() && cursor; }
  /// What is wrong with the fields read; empty if nothing is.
  std::string fault() {
    if (Error error = cursor.takeError())
      wrong = toString(std::move(error));
    return wrong;
  }

private:
  bool readFlag() {
    uint8_t value = data.getU8(cursor);
    if (value > 1)
      fail("a flag that is neither 0 nor 1");
    return value == 1;
  }
  std::string fail(StringRef what) {
    if (wrong.empty())
      wrong = what.str();
    return "";
  }

  DataExtractor data;
  DataExtractor::Cursor cursor;
  std::string wrong;
};

/// All fields but those of a single compilation. A new one has to be named here, and then kept or not.
void writeBody(FieldWriter &writer, const CacheEntry &entry) {
  const auto &[code, target, buffers, arenaBytes, kernels, decode, times, cached, cacheNote] = entry.object;
  writer.addConfig(entry.config);
  writer.addTarget(target);
  writer.add(uint8_t(decode), arenaBytes, uint64_t(kernels.size()));
  for (const std::string &kernel : kernels)
    writer.addText(kernel);
  writer.add(uint64_t(buffers.size()));
  for (const auto &[name, layer, offset, bytes] : buffers) {
    writer.addText(name);
    writer.add(int32_t(layer), offset, bytes);
  }
  writer.addText(StringRef(code.data(), code.size()));
}

/// What is wrong with the values; empty if nothing is. Whatever uses a buffer relies on its being inside the arena.
std::string faultOf(const CompiledObject &object) {
  for (const ProgramBuffer &buffer : object.buffers)
    if (buffer.bytes > object.arenaBytes || buffer.offset > object.arenaBytes - buffer.bytes || buffer.layer < -1)
      return "buffer " + buffer.name + " outside the arena";
  return object.object.empty() ? "no object" : "";
}

std::string readBody(StringRef body, CacheEntry &entry) {
  FieldReader reader(body);
  CompiledObject &object = entry.object;
  reader.readConfig(entry.config);
  reader.readTarget(object.target);
  reader.readAll(object.decode, object.arenaBytes);
  constexpr uint64_t kTextBytes = 8, kBufferBytes = kTextBytes + 4 + 8 + 8;
  for (uint64_t count = reader.readCount(kTextBytes); count && reader.good(); --count)
    object.kernels.push_back(reader.readText());
  for (uint64_t count = reader.readCount(kBufferBytes); count && reader.good(); --count) {
    ProgramBuffer buffer;
    buffer.name = reader.readText();
    reader.readAll(buffer.layer, buffer.offset, buffer.bytes);
    object.buffers.push_back(std::move(buffer));
  }
  std::string code = reader.readText();
  object.object.assign(code.begin(), code.end());
  uint64_t left = reader.left();
  std::string fault = reader.fault();
  if (fault.empty() && left != 0)
    fault = std::to_string(left) + " bytes behind the last field";
  return fault.empty() ? faultOf(object) : fault;
}
} // namespace

std::string ckjit::writeCacheEntry(const CacheEntry &entry) {
  std::string body, header;
  raw_string_ostream bodyStream(body), headerStream(header);
  FieldWriter bodyWriter(bodyStream), headerWriter(headerStream);
  writeBody(bodyWriter, entry);
  headerStream << kMagic;
  headerWriter.add(kVersion);
  headerStream << textOf(entry.key);
  headerWriter.add(uint64_t(body.size()));
  headerStream << textOf(checksumOf(header, body));
  return header + body;
}

Expected<CacheEntry> ckjit::parseCacheEntry(StringRef bytes, StringRef where) {
  if (bytes.size() < kHeaderBytes)
    return fieldError(where, "size", Twine(bytes.size()) + " bytes",
                      "at least the " + Twine(kHeaderBytes) + " of a header");
  if (!bytes.starts_with(kMagic))
    return fieldError(where, "magic", "other bytes", kMagic);
  StringRef header = bytes.take_front(kChecksumOffset), body = bytes.drop_front(kHeaderBytes);
  CacheEntry entry;
  DataExtractor data = extractorOf(header);
  uint64_t offset = kMagic.size();
  uint32_t version = data.getU32(&offset);
  if (version != kVersion)
    return fieldError(where, "version", Twine(version), Twine(kVersion));
  data.getU8(&offset, entry.key.data(), entry.key.size());
  uint64_t bodyBytes = data.getU64(&offset);
  if (bodyBytes != body.size())
    return fieldError(where, "size", Twine(body.size()) + " bytes behind the header", Twine(bodyBytes));
  auto checksum = checksumOf(header, body);
  StringRef kept = bytes.substr(kChecksumOffset, kHashBytes);
  if (kept != textOf(checksum))
    return fieldError(where, "checksum", toHex(kept, /*LowerCase=*/true), toHex(checksum, /*LowerCase=*/true));
  if (std::string fault = readBody(body, entry); !fault.empty())
    return fieldError(where, "fields", fault, "those of a compiled object");
  return entry;
}
