//===- BumpConfig.cpp - The config that belongs to a weight file ----------===//
#include "BumpConfig.h"
#include "BumpFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

/// No config of a real model comes near; it keeps a wild length from being read into memory.
static constexpr uint64_t kMaxJsonBytes = uint64_t(16) << 20;

/// Says by how much the JSON's start has moved, if an object starts near `jsonStart` but not there: a damaged footer
/// whose JSON lost or gained bytes. Empty otherwise.
static std::string movedStart(const RegularFile &file, uint64_t jsonStart, uint64_t length, uint64_t payloadStart) {
  constexpr uint64_t kNearBytes = 64;
  uint64_t first = std::max(payloadStart, jsonStart - std::min(jsonStart, kNearBytes));
  std::string near(std::min(2 * kNearBytes, jsonStart + length - first), '\0');
  if (Error error = file.read(first, near.data(), near.size())) {
    consumeError(std::move(error));
    return "";
  }
  size_t at = std::min(near.find("{\n"), near.find("{\""));
  if (at == std::string::npos || first + at == jsonStart)
    return "";
  uint64_t found = jsonStart + length - (first + at);
  return formatv(": its JSON has {0} bytes, expected {1}, so the file has {2} bytes, expected {3}", found, length,
                 file.size(), file.size() + length - found);
}

Expected<std::optional<Footer>> ckjit::weights::readFooter(const RegularFile &file, uint64_t payloadStart) {
  if (file.size() < payloadStart + kFooterBytes)
    return std::nullopt;
  uint64_t footerStart = file.size() - kFooterBytes;
  std::array<uint8_t, kFooterBytes> bytes;
  if (Error error = file.read(footerStart, bytes.data(), bytes.size()))
    return error;
  if (toStringRef(ArrayRef(bytes).take_front(kMagicBytes)) != kFooterMagic)
    return std::nullopt;
  uint64_t length = support::endian::read64le(bytes.data() + kMagicBytes);
  uint64_t limit = std::min(footerStart - payloadStart, kMaxJsonBytes);
  if (length > limit)
    return fieldError(file.path(), "config footer, length of its JSON", Twine(length),
                      "at most " + Twine(limit) + " bytes");
  Footer footer{std::string(length, '\0'), footerStart - length};
  if (Error error = file.read(footer.payloadEnd, footer.json.data(), length))
    return error;
  std::array<uint8_t, kFooterBytes> right = encodeFooter(footer.json);
  if (right != bytes)
    return fieldError(file.path(), "config footer, SHA-256 of its JSON", hex(ArrayRef(right).drop_front(16)),
                      hex(ArrayRef(bytes).drop_front(16)) + ", as the footer says; the footer is damaged" +
                          movedStart(file, footer.payloadEnd, length, payloadStart));
  return footer;
}

/// The file's right size when its footer stands at the wrong distance from its end, or has lost or gained bytes of its
/// magic; none when no footer is there.
static Expected<std::optional<uint64_t>> sizeByFooter(const RegularFile &file, uint64_t payloadStart) {
  constexpr uint64_t kSearchedBytes = 4096, kLongestMagic = 2 * kMagicBytes, kTailBytes = kFooterBytes - kMagicBytes;
  uint64_t first = std::max(payloadStart, file.size() - std::min(file.size(), kSearchedBytes));
  std::string tail(file.size() - std::min(first, file.size()), '\0');
  if (Error error = file.read(first, tail.data(), tail.size()))
    return error;
  if (size_t at = tail.rfind(kFooterMagic.str()); at != std::string::npos)
    return first + at + kFooterBytes;
  if (tail.size() < kTailBytes)
    return std::nullopt;
  // The length and the SHA-256 are whole: do they fit what stands before them?
  StringRef before = StringRef(tail).drop_back(kTailBytes), stored = StringRef(tail).take_back(kTailBytes);
  uint64_t length = support::endian::read64le(stored.data());
  for (uint64_t magic = 0; magic <= kLongestMagic && length + magic <= before.size() && length <= before.size(); ++magic) {
    auto right = encodeFooter(before.drop_back(magic).take_back(length));
    if (toStringRef(ArrayRef(right).drop_front(kMagicBytes)) == stored)
      return file.size() - magic + kMagicBytes;
  }
  return std::nullopt;
}

/// Refuses `given` where the file's own footer says otherwise. A footer that holds no config of a known form is ignored.
static Error checkAgainstFooter(const RegularFile &file, const Footer &footer, const ResolvedConfig &given) {
  Expected<ModelConfig> own = parseModelConfig(footer.json, file.path(), {.shapeOnly = true});
  if (!own) {
    consumeError(own.takeError());
    return Error::success();
  }
  const ModelConfig &a = given.config, &b = *own;
  struct {
    StringLiteral name;
    double given, footer;
  } const fields[] = {
      {"num_hidden_layers", double(a.numLayers), double(b.numLayers)},
      {"vocab_size", double(a.vocabSize), double(b.vocabSize)},
      {"hidden_size", double(a.hiddenSize), double(b.hiddenSize)},
      {"intermediate_size", double(a.intermediateSize), double(b.intermediateSize)},
      {"num_attention_heads", double(a.numHeads), double(b.numHeads)},
      {"num_key_value_heads", double(a.numKVHeads), double(b.numKVHeads)},
      {"max_position_embeddings", double(a.contextWindow), double(b.contextWindow)},
      {"rms_norm_eps", a.rmsNormEps, b.rmsNormEps},
      {"rope_theta", a.ropeTheta, b.ropeTheta},
  };
  // Ten digits tell any two integers below 2^31 apart, and any two fp32.
  auto text = [](double value) {
    std::string text;
    raw_string_ostream(text) << format("%.10g", value);
    return text;
  };
  for (const auto &field : fields)
    if (field.given != field.footer)
      return fieldError(file.path(), field.name, text(field.given) + " in " + given.source,
                        text(field.footer) + ", as in the file's own footer; leave the config away or give the right one");
  return Error::success();
}

Expected<ResolvedConfig> ckjit::weights::resolveConfig(const RegularFile &file, uint64_t payloadStart,
                                                       const std::optional<Footer> &footer,
                                                       const BumpOpenOptions &options) {
  auto resolve = [](Expected<ModelConfig> config, const Twine &source) -> Expected<ResolvedConfig> {
    if (!config)
      return config.takeError();
    return ResolvedConfig{*config, source.str()};
  };
  if (options.graphConfig || !options.configPath.empty()) {
    Expected<ResolvedConfig> given =
        options.graphConfig ? resolve(*options.graphConfig, options.graphSource)
                            : resolve(loadModelConfig(options.configPath), "--config " + options.configPath);
    if (given && footer)
      if (Error error = checkAgainstFooter(file, *footer, *given))
        return error;
    return given;
  }
  if (footer)
    return resolve(parseModelConfig(footer->json, file.path() + " (config footer)"), "footer");
  SmallString<128> beside = sys::path::parent_path(file.path());
  sys::path::append(beside, "config.json");
  if (sys::fs::is_regular_file(beside))
    return resolve(loadModelConfig(beside), "config.json beside the file");
  Expected<std::optional<uint64_t>> whole = sizeByFooter(file, payloadStart);
  if (!whole)
    return whole.takeError();
  if (*whole && **whole != file.size())
    return fieldError(file.path(), "file size", Twine(file.size()) + " bytes",
                      Twine(**whole) + ", by the place of its config footer; bytes were cut or added");
  return fieldError(file.path(), "config",
                    "no " + kFooterMagic + " footer (a cut file loses it) and no config.json beside the file",
                    "one of them; or give the model's config: " + options.configOption);
}

Error ckjit::weights::checkHeaderDims(StringRef path, const BumpHeader &header, const ResolvedConfig &resolved) {
  BumpHeader expected = headerFor(resolved.config);
  struct {
    StringLiteral name;
    uint64_t found, expected;
  } const dims[] = {
      {"num_layers", header.numLayers, expected.numLayers},
      {"vocab_size", header.vocabSize, expected.vocabSize},
      {"embed_dim", header.embedDim, expected.embedDim},
      {"context length", header.context, expected.context},
      {"num_heads", header.numHeads, expected.numHeads},
      {"head_dim", header.headDim, expected.headDim},
      {"aligned embed_dim", header.alignedEmbed, expected.alignedEmbed},
      {"aligned head_dim", header.alignedHead, expected.alignedHead},
      {"aligned context length", header.alignedContext, expected.alignedContext},
  };
  for (const auto &dim : dims)
    if (dim.found != dim.expected)
      return fieldError(path, "header " + dim.name, Twine(dim.found),
                        Twine(dim.expected) + " (config: " + resolved.source + ")");
  return Error::success();
}

Error ckjit::weights::applyOverrides(StringRef path, const ModelConfig &overrides, ModelConfig &config) {
  struct {
    StringLiteral flag;
    int64_t given, file;
  } const dims[] = {
      {"--layers", overrides.numLayers, config.numLayers},
      {"--embed", overrides.hiddenSize, config.hiddenSize},
      {"--intermediate", overrides.intermediateSize, config.intermediateSize},
      {"--heads", overrides.numHeads, config.numHeads},
      {"--kv-heads", overrides.numKVHeads, config.numKVHeads},
      {"--vocab", overrides.vocabSize, config.vocabSize},
  };
  for (const auto &dim : dims)
    if (dim.given != 0 && dim.given != dim.file)
      return fieldError(path, dim.flag, Twine(dim.given), Twine(dim.file) + ", as in the file");
  int64_t context = overrides.contextWindow;
  if (context < 0 || context > config.contextWindow)
    return fieldError(path, "--ctx", Twine(context), "1 to " + Twine(config.contextWindow) + ", the file's context");
  if (context != 0)
    config.contextWindow = context;
  return Error::success();
}
