//===- LoopDialects.h - The dialects of loops and vectors -------*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_LOOPDIALECTS_H
#define CKJIT_LIB_TRANSFORMS_LOOPDIALECTS_H

// Apart from Passes.h: passes on the program don't pay for these headers.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#endif
