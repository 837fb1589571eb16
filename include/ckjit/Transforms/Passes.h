//===- Passes.h - All passes of the pipeline --------------------*- C++ -*-===//
#ifndef CKJIT_TRANSFORMS_PASSES_H
#define CKJIT_TRANSFORMS_PASSES_H

#include "ckjit/Dialect/CK/CKDialect.h"
#include "mlir/Pass/Pass.h"

namespace ckjit::ck {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ckjit/Transforms/Passes.h.inc"
} // namespace ckjit::ck
#endif
