//===- Passes.h - All passes of the pipeline --------------------*- C++ -*-===//
#ifndef CKJIT_TRANSFORMS_PASSES_H
#define CKJIT_TRANSFORMS_PASSES_H

#include "ckjit/Dialect/CK/CKDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace ckjit::ck {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ckjit/Transforms/Passes.h.inc"
} // namespace ckjit::ck
#endif
