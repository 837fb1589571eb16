//===- ProgramUses.cpp - Who reads and writes a buffer of a program -------===//
#include "ProgramUses.h"

using namespace mlir;
using namespace ckjit::ck;

static bool writes(OpOperand &use) { return llvm::is_contained(writtenOperands(use.getOwner()), &use); }

Operation *ckjit::ck::soleWriter(Value buffer) {
  auto op = buffer.getDefiningOp<BufferOp>();
  if (!op || op.getSpace() != Space::Scratch)
    return nullptr;
  Operation *writer = nullptr;
  for (OpOperand &use : buffer.getUses()) {
    if (!writes(use))
      continue;
    if (writer)
      return nullptr;
    writer = use.getOwner();
  }
  return writer;
}

bool ckjit::ck::usedOnlyBy(Value buffer, Operation *writer, Operation *reader) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) { return user == writer || user == reader; });
}

bool ckjit::ck::completeBefore(Value buffer, Operation *op) {
  for (OpOperand &use : buffer.getUses())
    if (writes(use) && !use.getOwner()->isBeforeInBlock(op))
      return false;
  return true;
}

bool ckjit::ck::isLayerOp(Operation *op) { return !writtenOperands(op).empty(); }

template <typename Attr> static Attr moduleAttr(Operation *op, StringRef name, StringRef remedy) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto attr = module ? module->getAttrOfType<Attr>(name) : Attr();
  if (!attr)
    op->emitError() << "the module has no " << name << "; " << remedy;
  return attr;
}

ModelAttr ckjit::ck::modelOf(Operation *op) {
  return moduleAttr<ModelAttr>(op, kModelAttr, "import a graph or write #ck.model<...> on the module");
}

TargetAttr ckjit::ck::targetOf(Operation *op) {
  return moduleAttr<TargetAttr>(op, kTargetAttr, "write #ck.target<...> on the module");
}
