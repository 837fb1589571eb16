//===- ModelPlan.h - The arena plan of a module's #ck.model -----*- C++ -*-===//
#ifndef CKJIT_LIB_TRANSFORMS_MODELPLAN_H
#define CKJIT_LIB_TRANSFORMS_MODELPLAN_H

#include "ckjit/Dialect/CK/CKDialect.h"
#include "ckjit/Layout/ArenaPlan.h"

namespace ckjit::ck {

/// Lays out the arena of the module around `op`; emits an error when it has no model or the plan overflows.
mlir::FailureOr<ArenaPlan> planOf(mlir::Operation *op, bool training);

} // namespace ckjit::ck
#endif
