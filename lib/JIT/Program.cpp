//===- Program.cpp - An in-memory program ---------------------------------===//
#include "ckjit/JIT/Program.h"
#include "DebuggerEntries.h"
#include "PerfDump.h"
#include "ckjit/Import/Import.h"
#include "ckjit/JIT/Symbols.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <optional>

using namespace llvm;
using namespace llvm::orc;
using namespace ckjit;

/// The ORC session of one program. Linking needs no IR layer, so none is made.
struct Program::State {
  std::unique_ptr<ExecutionSession> session;
  std::unique_ptr<ObjectLinkingLayer> linker;
  std::optional<DebuggerEntries> debugger;
  Error reported = Error::success(); ///< told to the session's reporter

  /// Links what the symbol needs; the address of the symbol.
  Expected<Entry> find(JITDylib &library, StringRef name);

  ~State() {
    consumeError(std::move(reported));
    debugger.reset();
    if (!session)
      return;
    session->setErrorReporter([](Error error) { consumeError(std::move(error)); });
    // Nothing is left to run when a session is torn down; errors here have no reader.
    consumeError(session->endSession());
  }
};

Program::Program() = default;
Program::~Program() = default;

Expected<Program::Entry> Program::State::find(JITDylib &library, StringRef name) {
  std::optional<Expected<ExecutorSymbolDef>> symbol;
  auto lookUp = [&] { symbol.emplace(session->lookup({&library}, session->intern(name))); };
  debugger ? debugger->collect(lookUp) : lookUp();
  if (!*symbol) {
    Error missing = symbol->takeError(), reason = std::exchange(reported, Error::success());
    if (!reason)
      return missing;
    // What was reported says why; that a symbol can't be had is all that the lookup knows.
    consumeError(std::move(missing));
    return reason;
  }
  return (*symbol)->getAddress().toPtr<Entry>();
}

/// Defines the symbols that generated code may call.
static Error allowSymbols(ExecutionSession &session, JITDylib &library) {
  SymbolMap symbols;
  for (auto [name, address] : allowedSymbols())
    symbols[session.intern(name)] = {ExecutorAddr::fromPtr(address),
                                     JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return library.define(absoluteSymbols(std::move(symbols)));
}

/// Lets perf and debuggers see what `linker` links.
static Error tell(ExecutionSession &session, ObjectLinkingLayer &linker, const LinkOptions &options) {
  if (options.perf) {
    auto dump = PerfDump::create();
    if (!dump)
      return dump.takeError();
    linker.addPlugin(std::move(*dump));
  }
  if (options.gdb) {
    // Names are all that there is to show: no lines.
    Error failed = Error::success();
    auto debugger = std::make_shared<ELFDebugObjectPlugin>(session, /*RequireDebugSections=*/false,
                                                           /*AutoRegisterCode=*/true, failed);
    if (failed)
      return failed;
    linker.addPlugin(std::move(debugger));
  }
  return Error::success();
}

Expected<std::unique_ptr<Program>> Program::link(CompiledObject compiled, const LinkOptions &options) {
  if (Error error = checkRunsHere(compiled.target))
    return error;
  auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Program> program(new Program());
  program->object = std::move(compiled);
  StringRef bytes(program->object.object.data(), program->object.object.size());
  if (Error error = checkSymbols(bytes))
    return error;
  program->state = std::make_unique<State>();
  // Link on this thread: tasks handed to detached threads could outlive the session.
  auto control = SelfExecutorProcessControl::Create(nullptr, std::make_unique<InPlaceTaskDispatcher>());
  if (!control)
    return control.takeError();
  State &state = *program->state;
  state.session = std::make_unique<ExecutionSession>(std::move(*control));
  // The session itself must not print: what it reports (a symbol not found, say) joins the lookup's error.
  state.session->setErrorReporter(
      [&state](Error error) { state.reported = joinErrors(std::move(state.reported), std::move(error)); });
  state.linker = std::make_unique<ObjectLinkingLayer>(*state.session);
  JITDylib &library = state.session->createBareJITDylib("program");
  if (Error error = allowSymbols(*state.session, library))
    return error;
  if (Error error = tell(*state.session, *state.linker, options))
    return error;
  if (Error error = state.linker->add(library, MemoryBuffer::getMemBufferCopy(bytes, "ckjit")))
    return error;
  if (options.gdb)
    state.debugger.emplace();
  auto prefill = state.find(library, kPrefillName);
  if (!prefill)
    return prefill.takeError();
  program->prefillEntry = *prefill;
  if (program->object.decode) {
    auto decode = state.find(library, kDecodeName);
    if (!decode)
      return decode.takeError();
    program->decodeEntry = *decode;
  }
  std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  program->object.times.link += passed.count();
  return program;
}
