//===- BumpConfig.cpp - The config that belongs to a weight file ----------===//
#include "BumpConfig.h"
#include "BumpFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::weights;

/// No config of a real model comes near; it keeps a wild length from being read into memory.
static constexpr uint64_t kMaxJsonBytes = uint64_t(16) << 20;

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
    return fieldError(file.path(), "config footer, SHA-256 of its JSON", hex(ArrayRef(bytes).drop_front(16)),
                      hex(ArrayRef(right).drop_front(16)) + "; the footer is damaged");
  return footer;
}

Expected<ResolvedConfig> ckjit::weights::resolveConfig(const RegularFile &file, const std::optional<Footer> &footer,
                                                       const BumpOpenOptions &options) {
  auto resolve = [](Expected<ModelConfig> config, const Twine &source) -> Expected<ResolvedConfig> {
    if (!config)
      return config.takeError();
    return ResolvedConfig{*config, source.str()};
  };
  if (options.graphConfig)
    return ResolvedConfig{*options.graphConfig, "the graph"};
  if (!options.configPath.empty())
    return resolve(loadModelConfig(options.configPath), "--config " + options.configPath);
  if (footer)
    return resolve(parseModelConfig(footer->json, file.path() + " (config footer)"), "footer");
  SmallString<128> beside = sys::path::parent_path(file.path());
  sys::path::append(beside, "config.json");
  if (sys::fs::is_regular_file(beside))
    return resolve(loadModelConfig(beside), "config.json beside the file");
  return fieldError(file.path(), "config",
                    "no " + kFooterMagic + " footer (a cut file loses it) and no config.json beside the file",
                    "one of them; or give the model's config with --config FILE");
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
