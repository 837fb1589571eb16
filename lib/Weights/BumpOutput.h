//===- BumpOutput.h - A weight file as it is written ------------*- C++ -*-===//
#ifndef CKJIT_LIB_WEIGHTS_BUMPOUTPUT_H
#define CKJIT_LIB_WEIGHTS_BUMPOUTPUT_H

#include "AtomicFile.h"
#include "Sha256.h"
#include "ckjit/Weights/Bump.h"

namespace ckjit::weights {

/// Header and table first, then the tensors' bytes as they come, footer and checksum last. Without commit() the file at
/// its path is as it was before.
class BumpOutput {
public:
  /// `types` are those of BUMPWGT3's table; empty: all fp32. Errors: a config or types that cannot be, no space.
  static llvm::Expected<std::unique_ptr<BumpOutput>> create(llvm::StringRef path, const ModelConfig &config,
                                                            BumpKind kind, const WeightTypes &types = {});
  llvm::Error append(llvm::ArrayRef<uint8_t> bytes);
  llvm::Error commit();

private:
  BumpOutput(std::unique_ptr<AtomicFile> file, const ModelConfig &config, BumpKind kind);
  llvm::Error begin(const WeightTypes &types);

  std::unique_ptr<AtomicFile> file;
  ModelConfig config;
  BumpKind kind;
  BumpHeader header;
  Sha256 hash;
};

} // namespace ckjit::weights
#endif
