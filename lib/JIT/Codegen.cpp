//===- Codegen.cpp - From the LLVM dialect to machine code ----------------===//
#include "Codegen.h"
#include "ckjit/Import/Import.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;
using namespace ckjit;

static const char *const kTriple = "x86_64-unknown-linux-gnu";

static Expected<std::unique_ptr<TargetMachine>> makeMachine(const TargetDescription &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  std::string message;
  Triple triple(kTriple);
  const Target *backend = TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return createStringError("no code generator for " + Twine(kTriple) + ": " + message);
  TargetOptions options;
  std::unique_ptr<TargetMachine> machine(backend->createTargetMachine(triple, target.cpu, target.features, options,
                                                                      Reloc::PIC_, CodeModel::Small,
                                                                      CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine)
    return createStringError("no code generator for " + Twine(kTriple) + " and CPU " + target.cpu);
  return machine;
}

Expected<std::unique_ptr<Module>> ckjit::translate(mlir::ModuleOp module, LLVMContext &context,
                                                   const TargetDescription &target) {
  mlir::registerBuiltinDialectTranslation(*module->getContext());
  mlir::registerLLVMDialectTranslation(*module->getContext());
  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(module, context, "ckjit");
  if (!result)
    return createStringError("translation to LLVM IR failed");
  std::string bits = std::to_string(target.vectorBits);
  for (Function &function : *result) {
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    // Some CPUs are tuned for 256 bits even where 512 are written: say that they are meant.
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
    function.addFnAttr(Attribute::NoUnwind);
    // No exception passes, but debuggers and profilers walk the stack.
    function.setUWTableKind(UWTableKind::Sync);
    // Kernels are called by the programs alone: no detour through the linkage table.
    if (!function.isDeclaration() && function.getName() != kPrefillName &&
        function.getName() != kDecodeName)
      function.setLinkage(GlobalValue::InternalLinkage);
  }
  return result;
}

Expected<SmallVector<char, 0>> ckjit::generate(Module &module, const TargetDescription &target, CodeGenFileType type) {
  auto machine = makeMachine(target);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("the code generator can't emit this kind of file");
  passes.run(module);
  return bytes;
}
