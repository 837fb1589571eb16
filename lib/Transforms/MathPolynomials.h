//===- MathPolynomials.h - exp and log without a library --------*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_MATHPOLYNOMIALS_H
#define CKJIT_LIB_TRANSFORMS_MATHPOLYNOMIALS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace ckjit::ck {

/// exp(x) for fp32 or fp64 scalars and vectors: 2^n * p(r) with x = n ln 2 + r, |r| <= ln 2 / 2 and
/// p the Taylor polynomial of degree 7 (fp32) or 13 (fp64), below half an ulp of remainder. Overflow
/// gives inf, underflow 0 by way of the denormals, NaN stays NaN.
mlir::Value expandExp(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

/// log(x) for positive normal fp32, computed in double: e ln 2 + 2 atanh((m-1)/(m+1)), x = m 2^e.
mlir::Value expandLog(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

} // namespace ckjit::ck
#endif
