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
#define GET_TYPEDEF_CLASSES
#include "ckjit/Dialect/CK/CKTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ckjit/Dialect/CK/CKAttrs.h.inc"
#define GET_OP_CLASSES
#include "ckjit/Dialect/CK/CKOps.h.inc"

namespace ckjit::ck {

/// Names of the attributes that passes leave on modules and functions.
inline constexpr llvm::StringLiteral kModelAttr = "ck.model";
/// dtype codes of the weights in the file's order (SPEC 2.1), as an array of i8; absent: all are fp32.
inline constexpr llvm::StringLiteral kWeightsAttr = "ck.weights";
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

/// The block that a memref is made of, or null.
inline BlockType blockOf(mlir::Type type) {
  return llvm::dyn_cast<BlockType>(llvm::cast<mlir::MemRefType>(type).getElementType());
}
inline PanelBlockType panelBlockOf(mlir::Type type) {
  return llvm::dyn_cast<PanelBlockType>(llvm::cast<mlir::MemRefType>(type).getElementType());
}

/// True for an activation in panels, memref<P x F x L> or memref<P x B x !ck.panel_block>.
inline bool isPanels(mlir::Type type) {
  return llvm::cast<mlir::MemRefType>(type).getRank() == 3 || panelBlockOf(type);
}

/// Weights in a row of a weight of any type: its last extent, in weights.
int64_t rowLength(mlir::MemRefType weight);

/// What ck.unpack_row and the micro-kernels know of a format beside its bytes.
struct FormatTraits {
  int64_t elements, bytes; ///< of a block
  int64_t group;           ///< weights that share a scale
  int64_t zeroPoint;       ///< weight = scale * (code - zeroPoint), codes unsigned
  bool minima;             ///< weight = scale * code + offset
};
FormatTraits traitsOf(Format format);

/// Bytes of a buffer of that type; none when it has a dynamic dimension or 2^63 bits or more.
std::optional<int64_t> bytesOf(mlir::MemRefType type);

/// Operands an op of the layer writes (its `outs` or `inout`).
llvm::SmallVector<mlir::OpOperand *> writtenOperands(mlir::Operation *op);

} // namespace ckjit::ck
#endif
