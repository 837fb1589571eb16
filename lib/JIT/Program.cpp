//===- Program.cpp - An in-memory program ---------------------------------===//
#include "ckjit/JIT/Program.h"
#include "ckjit/Import/Import.h"
#include "ckjit/Runtime/ThreadTeam.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>

using namespace llvm;
using namespace llvm::orc;
using namespace ckjit;

/// The ORC session of one program. Linking needs no IR layer, so none is made.
struct Program::State {
  std::unique_ptr<ExecutionSession> session;
  std::unique_ptr<ObjectLinkingLayer> linker;
  Error reported = Error::success(); ///< told to the session's reporter

  ~State() {
    consumeError(std::move(reported));
    if (!session)
      return;
    session->setErrorReporter([](Error error) { consumeError(std::move(error)); });
    // Nothing is left to run when a session is torn down; errors here have no reader.
    consumeError(session->endSession());
  }
};

Program::Program() = default;
Program::~Program() = default;

/// Defines the symbols that generated code may call.
static Error allowSymbols(ExecutionSession &session, JITDylib &library) {
  SymbolMap symbols;
  symbols[session.intern("ckjit_barrier")] = {ExecutorAddr::fromPtr(&ckjit_barrier),
                                              JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return library.define(absoluteSymbols(std::move(symbols)));
}

Expected<std::unique_ptr<Program>> Program::link(CompiledObject compiled) {
  if (Error error = checkRunsHere(compiled.target))
    return error;
  auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Program> program(new Program());
  program->object = std::move(compiled);
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
  StringRef bytes(program->object.object.data(), program->object.object.size());
  if (Error error = state.linker->add(library, MemoryBuffer::getMemBufferCopy(bytes, "ckjit")))
    return error;
  auto symbol = state.session->lookup({&library}, state.session->intern(kPrefillName));
  if (!symbol)
    return joinErrors(symbol.takeError(), std::exchange(state.reported, Error::success()));
  program->prefillEntry = symbol->getAddress().toPtr<Entry>();
  if (program->object.decode) {
    auto decode = state.session->lookup({&library}, state.session->intern(kDecodeName));
    if (!decode)
      return joinErrors(decode.takeError(), std::exchange(state.reported, Error::success()));
    program->decodeEntry = decode->getAddress().toPtr<Entry>();
  }
  std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  program->object.times.link += passed.count();
  return program;
}
