//===- LinkTest.cpp - Pages, symbols and names of linked code -------------===//
#include "ckjit/JIT/Symbols.h"
#include "JitDump.h"
#include "KernelRun.h"
#include "PageWatch.h"
#include "Support/RandomGraph.h"
#include "Support/TempDir.h"
#include "Support/TestModel.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Memory.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;
using llvm::StringRef;

extern "C" jit_descriptor __jit_debug_descriptor;

namespace {

CompileOptions optionsFor(StringRef cpu, bool strict = false, bool materialize = false, bool decode = false) {
  CompileOptions options;
  options.target = must(describeTarget(cpu));
  options.pipeline.strict = strict;
  options.pipeline.materialize = materialize;
  options.decode = decode;
  return options;
}

StringRef bytesOf(const CompiledObject &compiled) { return {compiled.object.data(), compiled.object.size()}; }

CompiledObject someModel() {
  return must(compileGraph(buildForwardGraph(goldenConfigs()[1].config), "test", optionsFor("native", false, false, true)));
}

std::unique_ptr<Program> linkModel(const LinkOptions &options) { return must(Program::link(someModel(), options)); }

std::string linkError(CompiledObject compiled, const LinkOptions &options = {}) {
  llvm::Expected<std::unique_ptr<Program>> linked = Program::link(std::move(compiled), options);
  return linked ? "" : llvm::toString(linked.takeError());
}

/// A program that calls `name`, which it doesn't define.
CompiledObject callerOf(const std::string &name) {
  const std::string text = "module { func.func private @" + name + "()\n func.func @prefill() { call @" + name +
                           "() : () -> ()\n return } }";
  return must(compileText(text, "caller", optionsFor("native")));
}

/// The environment variable while this lives.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name); }

private:
  const char *name;
};

const Mapping *mappingOf(llvm::ArrayRef<Mapping> all, const void *address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  for (const Mapping &mapping : all)
    if (mapping.first <= at && at < mapping.end)
      return &mapping;
  return nullptr;
}

std::set<std::string> programNames(const Program &program) {
  std::set<std::string> names(program.compiled().kernels.begin(), program.compiled().kernels.end());
  names.insert({"prefill", "decode"});
  return names;
}

} // namespace

TEST_CASE("no page is writable and executable at once, while linking and afterwards") {
  const TempDir dir;
  const Environment place("JITDUMPDIR", dir.path);
  for (const LinkOptions &options : {LinkOptions{}, LinkOptions{true, true}}) {
    CompiledObject compiled = someModel();
    resetPageCalls();
    const std::unique_ptr<Program> program = must(Program::link(std::move(compiled), options));
    CHECK(pageCalls().executable >= 1); // else the calls go past the watch
    CHECK(pageCalls().both == 0);
    const std::vector<Mapping> all = mappings();
    for (const Mapping &mapping : all) {
      INFO(mapping.line);
      CHECK_FALSE((mapping.rights[1] == 'w' && mapping.rights[2] == 'x'));
    }
    for (Program::Entry entry : {program->prefill(), program->decode()}) {
      const Mapping *code = mappingOf(all, reinterpret_cast<const void *>(entry));
      REQUIRE(code);
      CHECK(code->rights == "r-xp");
    }
  }
}

TEST_CASE("the watch sees pages that are both") {
  resetPageCalls();
  std::error_code code;
  llvm::sys::MemoryBlock block = llvm::sys::Memory::allocateMappedMemory(
      4096, nullptr, llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE | llvm::sys::Memory::MF_EXEC, code);
  REQUIRE_FALSE(code);
  CHECK(pageCalls().both >= 1);
  llvm::sys::Memory::releaseMappedMemory(block);
}

TEST_CASE("code that calls anything but the barrier doesn't link, and the error names it") {
  REQUIRE(allowedSymbols().size() == 1);
  CHECK(allowedSymbols()[0].name == "ckjit_barrier");
  for (const char *name : {"system", "malloc", "printf", "memcpy", "expf", "ckjit_barriers"})
    CHECK_THAT(linkError(callerOf(name)), Contains("'" + std::string(name) + "'") && Contains("ckjit_barrier"));
  CHECK_FALSE(llvm::toString(undefinedSymbols("not an object").takeError()).empty());
}

TEST_CASE("models of all kinds and targets call nothing but the barrier") {
  const std::vector<std::string> barrier = {"ckjit_barrier"};
  for (const char *cpu : {"native", "x86-64-v2", "haswell", "znver4"})
    for (const NamedConfig &named : {goldenConfigs()[1], goldenConfigs()[4], awkwardConfigs()[0], awkwardConfigs()[11]})
      for (bool strict : {false, true})
        for (bool materialize : {false, true}) {
          INFO(cpu << ", " << named.name << ", strict " << strict << ", materialize " << materialize);
          const CompiledObject compiled = must(compileGraph(buildForwardGraph(named.config), "test",
                                                            optionsFor(cpu, strict, materialize, !materialize)));
          CHECK(must(undefinedSymbols(bytesOf(compiled))) == barrier);
        }
}

TEST_CASE("random graphs call nothing but the barrier") {
  const char *cpus[] = {"native", "x86-64-v2", "haswell", "znver4"};
  int compiled = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const CKIRGraph graph = makeRandomGraph(goldenConfigs()[0].config, seed);
    if (!isProgram(graph))
      continue;
    const bool materialize = seed % 3 == 1;
    const CompiledObject object = must(
        compileGraph(graph, "random", optionsFor(cpus[seed % 4], seed % 3 == 2, materialize, !materialize)));
    INFO("seed " << seed);
    for (const std::string &name : must(undefinedSymbols(bytesOf(object))))
      CHECK(name == "ckjit_barrier");
    ++compiled;
  }
  CHECK(compiled >= 25);
}

TEST_CASE("kernel names are unique, whole and don't depend on the layer") {
  const CompiledObject compiled = someModel();
  CHECK(std::set<std::string>(compiled.kernels.begin(), compiled.kernels.end()).size() == compiled.kernels.size());
  ModelConfig deeper = goldenConfigs()[1].config;
  deeper.numLayers = 7;
  const CompiledObject other =
      must(compileGraph(buildForwardGraph(deeper), "test", optionsFor("native", false, false, true)));
  CHECK(other.kernels == compiled.kernels);
}

TEST_CASE("perf's jitdump holds every function's name and the code that stands in memory") {
  const TempDir dir;
  const Environment place("JITDUMPDIR", dir.file("100%"));
  const std::unique_ptr<Program> first = linkModel({.perf = true}), second = linkModel({.perf = true});
  const std::vector<std::string> dumps = findDumps(dir.file("100%"));
  REQUIRE(dumps.size() == 2); // one a program
  for (const std::string &path : dumps) {
    const JitDump dump = readDump(path);
    CHECK(dump.machine == 62);
    CHECK(dump.pid == static_cast<uint32_t>(getpid()));
    std::set<std::string> names;
    std::set<uint64_t> indices;
    for (const JitFunction &function : dump.functions) {
      INFO(function.name);
      names.insert(function.name);
      indices.insert(function.index);
      CHECK(std::memcmp(reinterpret_cast<const void *>(function.address), function.code.data(), function.code.size()) == 0);
      const std::vector<Mapping> all = mappings();
      const Mapping *mapping = mappingOf(all, reinterpret_cast<const void *>(function.address));
      REQUIRE(mapping);
      CHECK(mapping->rights == "r-xp");
    }
    CHECK(indices.size() == dump.functions.size());
    CHECK(names == programNames(*first));
    // Perf finds the file by a mapping of it that can be executed.
    bool mapped = false;
    for (const Mapping &mapping : mappings())
      mapped |= StringRef(mapping.line).ends_with(path) && mapping.rights == "r-xp";
    CHECK(mapped);
  }
}

TEST_CASE("a jitdump that can't be written is an error") {
  const TempDir dir;
  writeBytes(dir.file("file"), "");
  {
    const Environment place("JITDUMPDIR", dir.file("file"));
    CHECK_THAT(linkError(someModel(), {.perf = true}),
               Contains("perf: can't write " + dir.file("file")) && Contains("JITDUMPDIR"));
  }
  const Environment place("JITDUMPDIR", dir.path);
  for (rlim_t bytes : {0, 40, 1000}) { // no header, a header alone, some of the code
    std::string message;
    {
      const FileSizeLimit limit(bytes);
      message = linkError(someModel(), {.perf = true});
    }
    CHECK_THAT(message, Contains("perf: can't write " + dir.path) && Contains("File too large"));
    CHECK(findDumps(dir.path).empty()); // nothing half written stays
  }
}

TEST_CASE("debuggers are told of a program, and when it is gone") {
  REQUIRE(__jit_debug_descriptor.first_entry == nullptr);
  {
    const std::unique_ptr<Program> program = linkModel({.gdb = true});
    const jit_code_entry *entry = __jit_debug_descriptor.first_entry;
    REQUIRE(entry);
    const auto file = must(llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(StringRef(entry->symfile_addr, entry->symfile_size), "debug")));
    std::set<std::string> names;
    for (const llvm::object::SymbolRef &symbol : file->symbols())
      if (must(symbol.getType()) == llvm::object::SymbolRef::ST_Function)
        names.insert(must(symbol.getName()).str());
    CHECK(names == programNames(*program));
    for (const llvm::object::SectionRef &section : file->sections())
      if (section.isText())
        CHECK(mappingOf(mappings(), reinterpret_cast<const void *>(section.getAddress())) != nullptr);
  }
  CHECK(__jit_debug_descriptor.first_entry == nullptr);
}
