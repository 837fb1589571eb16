//===- OutlineKernels.cpp - One kernel of each distinct op ----------------===//
#include "ProgramUses.h"
#include "ckjit/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include <map>

using namespace mlir;

namespace ckjit::ck {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "ckjit/Transforms/Passes.h.inc"

namespace {
/// What makes two ops the same kernel.
using Key = std::tuple<OperationName, DictionaryAttr, Attribute, ArrayAttr>;

struct OutlineKernelsPass : impl::OutlineKernelsBase<OutlineKernelsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<Operation *> ops;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kKernelAttr))
        for (Operation &op : function.getBody().front())
          if (isLayerOp(&op))
            ops.push_back(&op);
    for (Operation *op : ops)
      launch(op, symbols);
  }

  void launch(Operation *op, SymbolTable &symbols) {
    Builder builder(&getContext());
    SmallVector<Attribute> types;
    for (Type type : op->getOperandTypes())
      types.push_back(TypeAttr::get(type));
    Key key{op->getName(), op->getDiscardableAttrDictionary(), op->getPropertiesAsAttribute(),
            builder.getArrayAttr(types)};
    func::FuncOp &kernel = kernelOf[key];
    if (!kernel)
      kernel = outline(op, symbols);
    OpBuilder at(op);
    LaunchOp::create(at, op->getLoc(), kernel.getSymName(), op->getOperands());
    op->erase();
    ++launches;
  }

  func::FuncOp outline(Operation *op, SymbolTable &symbols) {
    OpBuilder builder(&getContext());
    SmallVector<Type> inputs(kFirstBuffer, builder.getIndexType());
    llvm::append_range(inputs, op->getOperandTypes());
    auto kernel = func::FuncOp::create(op->getLoc(), nameOf(op), builder.getFunctionType(inputs, {}));
    kernel->setAttr(kKernelAttr, builder.getUnitAttr());
    kernel.setPrivate();
    symbols.insert(kernel);
    builder.setInsertionPointToStart(kernel.addEntryBlock());
    // One argument an operand, also where two are the same buffer: another op of this kernel may have two.
    builder.clone(*op)->setOperands(kernel.getArguments().drop_front(kFirstBuffer));
    func::ReturnOp::create(builder, op->getLoc());
    ++kernels;
    return kernel;
  }

  /// "linear.9x64x576.rope", "rmsnorm.576": the op, the shape that matters, what is fused.
  static std::string nameOf(Operation *op) {
    std::string name = op->getName().stripDialect().str();
    Value shaped = op->getNumOperands() > 1 && isa<LinearOp, GatedLinearOp, AttnProjectOp, LMHeadOp, EmbedOp>(op)
                       ? op->getOperand(1)
                       : op->getOperand(0);
    ArrayRef<int64_t> shape = cast<MemRefType>(shaped.getType()).getShape();
    if (isPanels(shaped.getType()) && shaped == op->getOperand(0))
      shape = shape.slice(1, 1);
    auto type = cast<MemRefType>(shaped.getType());
    for (auto [index, dim] : llvm::enumerate(shape))
      name += (index ? "x" : ".") + std::to_string(index + 1 == shape.size() && blockOf(type) ? rowLength(type) : dim);
    if (BlockType block = blockOf(type))
      name += "." + stringifyFormat(block.getFormat()).str();
    else if (!type.getElementType().isF32() && isa<FloatType>(type.getElementType()))
      name += type.getElementType().isBF16() ? ".bf16" : ".fp16";
    if (panelBlockOf(op->getOperand(0).getType()))
      name += ".int8";
    if (auto quantize = dyn_cast<QuantizeOp>(op))
      name += "." + std::to_string(panelBlockOf(quantize.getOut().getType()).getFeatures());
    if (auto linear = dyn_cast<LinearOp>(op))
      name += linear.getCos() ? ".rope" : linear.getResidual() ? ".residual" : "";
    if (auto project = dyn_cast<AttnProjectOp>(op))
      name += project.getResidual() ? ".residual" : "";
    if (op->getParentOp()->hasAttr(kRowsAttr))
      name += ".rows";
    return name;
  }

  std::map<Key, func::FuncOp, bool (*)(const Key &, const Key &)> kernelOf{[](const Key &a, const Key &b) {
    auto pointers = [](const Key &k) {
      return std::tuple{std::get<0>(k).getAsOpaquePointer(), std::get<1>(k).getAsOpaquePointer(),
                        std::get<2>(k).getAsOpaquePointer(), std::get<3>(k).getAsOpaquePointer()};
    };
    return pointers(a) < pointers(b);
  }};
};
} // namespace
} // namespace ckjit::ck
