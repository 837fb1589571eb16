//===- BumpConfig.h - The config that belongs to a weight file --*- C++ -*-===//
#ifndef CKJIT_LIB_WEIGHTS_BUMPCONFIG_H
#define CKJIT_LIB_WEIGHTS_BUMPCONFIG_H

#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Bump.h"

namespace ckjit::weights {

/// The metadata footer: the config's JSON, which ends `kFooterBytes` before the file does.
struct Footer {
  std::string json;
  uint64_t payloadEnd = 0; ///< where the JSON starts, i.e. the tensors must end
};

/// The footer of `file`, or none when its last bytes aren't one. Error when
/// they claim to be one and its length or SHA-256 is wrong. Payload starts at `payloadStart`.
llvm::Expected<std::optional<Footer>> readFooter(const RegularFile &file, uint64_t payloadStart);

struct ResolvedConfig {
  ModelConfig config;
  std::string source;
};

/// SPEC 0.3: --config FILE, then the footer, then config.json beside the file, else an error. What is given must say
/// the same as the footer, when there is one.
llvm::Expected<ResolvedConfig> resolveConfig(const RegularFile &file, uint64_t payloadStart,
                                             const std::optional<Footer> &footer, const BumpOpenOptions &options);

/// Compares each dim of the header with the config.
llvm::Error checkHeaderDims(llvm::StringRef path, const BumpHeader &header, const ResolvedConfig &resolved);

/// Checks the overrides that are given; a smaller context window is taken over into `config`.
llvm::Error applyOverrides(llvm::StringRef path, const ModelConfig &overrides, ModelConfig &config);

} // namespace ckjit::weights
#endif
