//===- Compiler.cpp - From a graph to an object file ----------------------===//
#include "ckjit/JIT/Compiler.h"
#include "Codegen.h"
#include "Stopwatch.h"
#include "ckjit/Dialect/CK/CKDialect.h"
#include "ckjit/Import/Import.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;

namespace {
constexpr std::pair<EmitStage, StringLiteral> kStageNames[] = {
    {EmitStage::Graph, "graph"},   {EmitStage::CK, "ck"},     {EmitStage::Loops, "loops"},
    {EmitStage::Vector, "vector"}, {EmitStage::LLVMDialect, "llvm-dialect"}, {EmitStage::LLVM, "llvm"},
    {EmitStage::Asm, "asm"},       {EmitStage::Obj, "obj"}};

/// One compilation: the context, the module as far as it has been lowered, and its times.
class Compilation {
public:
  explicit Compilation(StringRef where, const CompileOptions &options);
  Error import(const CKIRGraph &graph);
  Error parse(StringRef text);
  /// Lowers through all stages up to `last`; collects the buffers after the first.
  Error lower(Stage last);
  Expected<std::unique_ptr<Module>> toLLVM();
  Expected<SmallVector<char, 0>> generate(CodeGenFileType type);
  /// Everything from the ck program to the object.
  Expected<CompiledObject> compile();

  mlir::ModuleOp top() { return *module; }
  CompiledObject result;

private:
  Error runStage(Stage stage);
  /// Error, with its name, for a buffer whose size cannot be told.
  Error collect();
  /// Error when the kernel to break doesn't exist.
  Error checkFault();
  Error failed(StringRef what) {
    return createStringError(Twine(where) + ": " + what + (diagnostics.empty() ? "" : ": ") + diagnostics);
  }

  void setTarget();

  std::string where;
  const CompileOptions &options;
  mlir::MLIRContext context;
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  LLVMContext llvmContext;
};

Compilation::Compilation(StringRef where, const CompileOptions &options)
    : where(where), options(options), handler(&context, [this](mlir::Diagnostic &diagnostic) {
        raw_string_ostream(diagnostics) << (diagnostics.empty() ? "" : "\n") << diagnostic.str();
        return mlir::success();
      }) {
  context.loadDialect<ck::CKDialect, mlir::func::FuncDialect, mlir::memref::MemRefDialect, mlir::affine::AffineDialect,
                      mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
}

Error Compilation::parse(StringRef text) {
  Stopwatch watch(result.times.import);
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return failed("not a program of the ck dialect");
  if (!module->lookupSymbol<mlir::func::FuncOp>(kPrefillName))
    return failed("there is no function @prefill");
  setTarget();
  return Error::success();
}

Error Compilation::import(const CKIRGraph &graph) {
  Stopwatch watch(result.times.import);
  if (options.decode && options.pipeline.materialize)
    return createStringError(Twine(where) + ": decode and materialize are both asked for, expected one of them: the "
                                            "program for few tokens has no panels to fill slots from");
  auto imported = importGraph(context, graph, where, options.decode, options.weightTypes);
  if (!imported)
    return imported.takeError();
  module = std::move(*imported);
  setTarget();
  return Error::success();
}

void Compilation::setTarget() {
  const TargetDescription &target = options.target;
  mlir::Builder builder(&context);
  (*module)->setAttr(ck::kTargetAttr,
                     ck::TargetAttr::get(&context, builder.getStringAttr(target.cpu),
                                         builder.getStringAttr(target.features), target.vectorBits, target.fma,
                                         target.vectorRegisters, static_cast<int64_t>(target.l1dBytes),
                                         static_cast<int64_t>(target.l2Bytes)));
}

Error Compilation::runStage(Stage stage) {
  mlir::PassManager manager(&context);
#ifdef NDEBUG
  // Verified between passes by the lit tests; here it would be a third of the compile time.
  manager.enableVerifier(false);
#endif
  addStage(manager, options.pipeline, stage);
  return mlir::failed(manager.run(*module)) ? failed("a pass failed") : Error::success();
}

Error Compilation::lower(Stage last) {
  Stopwatch watch(result.times.passes);
  for (Stage stage : {Stage::CK, Stage::Loops, Stage::Vector, Stage::LLVMDialect}) {
    if (stage > last)
      break;
    if (Error error = runStage(stage))
      return error;
    if (stage != Stage::CK)
      continue;
    if (Error error = collect())
      return error;
    if (Error error = checkFault())
      return error;
  }
  return Error::success();
}

Error Compilation::checkFault() {
  StringRef name = options.pipeline.faultyKernel;
  auto matches = [&](mlir::func::FuncOp kernel) { return kernel->hasAttr(ck::kKernelAttr) && kernel.getName().starts_with(name); };
  if (name.empty() || any_of(module->getOps<mlir::func::FuncOp>(), matches))
    return Error::success();
  return failed(("no kernel's name starts with '" + name + "'").str());
}

Error Compilation::collect() {
  auto walked = module->walk([&](ck::BufferOp buffer) {
    if (buffer.getSpace() == ck::Space::Scratch || !buffer.getOffset())
      return mlir::WalkResult::advance();
    std::optional<int64_t> bytes = ck::bytesOf(cast<mlir::MemRefType>(buffer.getType()));
    if (!bytes) {
      buffer.emitOpError("\"") << buffer.getName() << "\" is " << buffer.getType() << ", expected less than 2^60 bytes";
      return mlir::WalkResult::interrupt();
    }
    int layer = buffer.getLayer() ? static_cast<int>(*buffer.getLayer()) : -1;
    // Another program of the module may have it too: the same place.
    if (!result.find(buffer.getName(), layer))
      result.buffers.push_back({buffer.getName().str(), layer, *buffer.getOffset(), static_cast<uint64_t>(*bytes)});
    return mlir::WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failed("the buffers of the program");
  for (auto function : module->getOps<mlir::func::FuncOp>())
    if (function->hasAttr(ck::kKernelAttr))
      result.kernels.push_back(function.getName().str());
  if (auto bytes = (*module)->getAttrOfType<mlir::IntegerAttr>(ck::kArenaBytesAttr))
    result.arenaBytes = bytes.getInt();
  return Error::success();
}

Expected<std::unique_ptr<Module>> Compilation::toLLVM() {
  Stopwatch watch(result.times.translate);
  auto translated = translate(*module, llvmContext, options.target);
  if (!translated)
    return failed(toString(translated.takeError()));
  return translated;
}

Expected<SmallVector<char, 0>> Compilation::generate(CodeGenFileType type) {
  auto translated = toLLVM();
  if (!translated)
    return translated.takeError();
  Stopwatch watch(result.times.codegen);
  return ckjit::generate(**translated, options.target, type);
}

template <typename Op> std::string textOf(Op &&print) {
  std::string text;
  raw_string_ostream stream(text);
  print(stream);
  return text;
}

Stage lastPassStage(EmitStage stage) {
  switch (stage) {
  case EmitStage::Graph:
  case EmitStage::CK: return Stage::CK;
  case EmitStage::Loops: return Stage::Loops;
  case EmitStage::Vector: return Stage::Vector;
  default: return Stage::LLVMDialect;
  }
}
} // namespace

bool ckjit::usesInt8Activations(const CompileOptions &options) {
  return options.pipeline.quantize && !options.pipeline.strict &&
         any_of(options.weightTypes, [](DType type) { return formatOf(type).isQuantized(); });
}

StringRef ckjit::emitStageName(EmitStage stage) {
  for (auto &[value, name] : kStageNames)
    if (value == stage)
      return name;
  llvm_unreachable("every stage has a name");
}

std::optional<EmitStage> ckjit::parseEmitStage(StringRef name) {
  for (auto &[value, known] : kStageNames)
    if (known == name)
      return value;
  return std::nullopt;
}

const ProgramBuffer *CompiledObject::find(StringRef name, int layer) const {
  for (const ProgramBuffer &buffer : buffers)
    if (buffer.name == name && buffer.layer == layer)
      return &buffer;
  return nullptr;
}

ByteRange CompiledObject::scratch() const {
  uint64_t begin = 0;
  for (const ProgramBuffer &buffer : buffers)
    begin = std::max(begin, buffer.offset + buffer.bytes);
  begin = std::min(begin, arenaBytes);
  return {begin, arenaBytes - begin};
}

Expected<CompiledObject> Compilation::compile() {
  if (Error error = lower(Stage::LLVMDialect))
    return error;
  auto object = generate(CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  result.object = std::move(*object);
  result.target = options.target;
  result.decode = module->lookupSymbol(kDecodeName) != nullptr;
  return std::move(result);
}

Expected<CompiledObject> ckjit::compileGraph(const CKIRGraph &graph, StringRef where, const CompileOptions &options) {
  Compilation compilation(where, options);
  if (Error error = compilation.import(graph))
    return error;
  return compilation.compile();
}

Expected<SmallVector<char, 0>> ckjit::makeDataObject(StringRef symbol, ArrayRef<char> bytes,
                                                     const TargetDescription &target) {
  LLVMContext context;
  Module module("ckjit", context);
  Constant *value = ConstantDataArray::get(context, bytes);
  auto *data = new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, value,
                                  symbol);
  constexpr uint64_t kLineBytes = 64;
  data->setAlignment(Align(kLineBytes));
  data->setVisibility(GlobalValue::HiddenVisibility);
  return ckjit::generate(module, target, CodeGenFileType::ObjectFile);
}

Expected<CompiledObject> ckjit::compileText(StringRef text, StringRef where, const CompileOptions &options) {
  Compilation compilation(where, options);
  if (Error error = compilation.parse(text))
    return error;
  return compilation.compile();
}

Expected<std::string> ckjit::emitGraph(const CKIRGraph &graph, StringRef where, const CompileOptions &options,
                                       EmitStage stage) {
  if (stage == EmitStage::Graph) {
    auto kinds = validateGraph(graph, where);
    return kinds ? Expected<std::string>(dumpGraph(graph)) : kinds.takeError();
  }
  Compilation compilation(where, options);
  if (Error error = compilation.import(graph))
    return error;
  if (Error error = compilation.lower(lastPassStage(stage)))
    return error;
  if (stage <= EmitStage::LLVMDialect)
    return textOf([&](raw_ostream &stream) { compilation.top().print(stream); });
  if (stage == EmitStage::LLVM) {
    auto module = compilation.toLLVM();
    if (!module)
      return module.takeError();
    return textOf([&](raw_ostream &stream) { (*module)->print(stream, nullptr); });
  }
  auto bytes = compilation.generate(stage == EmitStage::Asm ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeError();
  return std::string(bytes->begin(), bytes->end());
}
