//===- BumpTensors.h - Where each tensor stands in the file -----*- C++ -*-===//
#ifndef CKJIT_LIB_WEIGHTS_BUMPTENSORS_H
#define CKJIT_LIB_WEIGHTS_BUMPTENSORS_H

#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/ArrayRef.h"

namespace ckjit::weights {

/// Bytes [start, end) of the file that hold the tensors.
struct Payload {
  uint64_t start, end;
};

/// Checks the dtype table (one code a tensor; empty: all fp32) and that the
/// tensors of `config` fill `payload` exactly, then lists them. Nothing is
/// allocated that the payload's size doesn't warrant.
llvm::Expected<std::vector<BumpTensor>> placeTensors(llvm::StringRef path, const ModelConfig &config,
                                                     llvm::ArrayRef<uint8_t> dtypes, Payload payload);

} // namespace ckjit::weights
#endif
