//===- CKDialect.h - The ck dialect, its attributes and ops -----*- C++ -*-===//
#ifndef CKJIT_DIALECT_CK_CKDIALECT_H
#define CKJIT_DIALECT_CK_CKDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace ckjit::ck {

/// Error unless the memrefs of a layer op have no layout and bytes that can be counted, and what it writes is none of
/// its other operands. In panels, norms, adds and SwiGLU may write what they read.
llvm::LogicalResult verifyLayerOperands(mlir::Operation *op);

/// An op of the forward pass.
template <typename Concrete> class LayerOperands : public mlir::OpTrait::TraitBase<Concrete, LayerOperands> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyLayerOperands(op); }
};

} // namespace ckjit::ck

#include "ckjit/Dialect/CK/CKEnums.h.inc"

#include "ckjit/Dialect/CK/CKDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ckjit/Dialect/CK/CKAttrs.h.inc"
#define GET_OP_CLASSES
#include "ckjit/Dialect/CK/CKOps.h.inc"

namespace ckjit::ck {

/// Names of the attributes that passes leave on modules and functions.
inline constexpr llvm::StringLiteral kModelAttr = "ck.model";
inline constexpr llvm::StringLiteral kTargetAttr = "ck.target";
inline constexpr llvm::StringLiteral kArenaBytesAttr = "ck.arena_bytes";
/// A function that ck.launch runs: (tid, threads, T, first row, position, buffers...).
inline constexpr llvm::StringLiteral kKernelAttr = "ck.kernel";
/// A program for few tokens, whose activations stay in rows.
inline constexpr llvm::StringLiteral kRowsAttr = "ck.rows";
/// An affine.for over the lanes of a vector, to be widened by vectorize-lanes.
inline constexpr llvm::StringLiteral kLanesAttr = "ck.lanes";
/// An affine.for to be unrolled and jammed by the given factor.
inline constexpr llvm::StringLiteral kJamAttr = "ck.jam";
/// A loop over panels to be tiled by the given number of panels.
inline constexpr llvm::StringLiteral kBlockAttr = "ck.block";

/// Floats behind the weighted sum in a part of ck.attention_part: the maximum and the sum, on a cache line of their own.
inline constexpr int64_t kPartState = 16;

/// Leading arguments of a kernel.
enum KernelArg : unsigned { kTid = 0, kThreads = 1, kTokens = 2, kFirstRow = 3, kPosition = 4, kFirstBuffer = 5 };

/// True for a panel activation, memref<P x F x L>.
inline bool isPanels(mlir::Type type) { return llvm::cast<mlir::MemRefType>(type).getRank() == 3; }

/// Bytes of a buffer of that type; none when it has a dynamic dimension or 2^63 bits or more.
std::optional<int64_t> bytesOf(mlir::MemRefType type);

/// Operands an op of the layer writes (its `outs` or `inout`).
llvm::SmallVector<mlir::OpOperand *> writtenOperands(mlir::Operation *op);

} // namespace ckjit::ck
#endif
