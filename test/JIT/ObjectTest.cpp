//===- ObjectTest.cpp - What a compilation gives, and its errors ----------===//
#include "KernelRun.h"
#include "Support/TestModel.h"
#include <catch2/catch.hpp>
#include <set>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;
using llvm::StringRef;

namespace {

CompileOptions optionsFor(StringRef cpu) {
  CompileOptions options;
  options.target = must(describeTarget(cpu));
  return options;
}

/// Two layers, grouped heads, nothing a multiple of 16.
ModelConfig tinyConfig(int64_t layers = 2) {
  ModelConfig c;
  c.numLayers = layers;
  c.hiddenSize = 24;
  c.intermediateSize = 20;
  c.numHeads = 4;
  c.numKVHeads = 2;
  c.vocabSize = 33;
  c.contextWindow = 20;
  c.ropeTheta = 10000.0f;
  return c;
}

StringRef bytesOf(const CompiledObject &compiled) { return {compiled.object.data(), compiled.object.size()}; }

std::string errorOf(llvm::Expected<CompiledObject> compiled) {
  return compiled ? "" : llvm::toString(compiled.takeError());
}

} // namespace

TEST_CASE("emit --stage=obj gives the bytes that the JIT links, on every compilation the same") {
  for (const char *cpu : {"native", "x86-64-v2", "haswell", "znver4"})
    for (bool strict : {false, true}) {
      INFO(cpu << ", strict " << strict);
      CompileOptions options = optionsFor(cpu);
      options.pipeline.strict = strict;
      const CKIRGraph graph = buildForwardGraph(tinyConfig());
      const CompiledObject compiled = must(compileGraph(graph, "tiny", options));
      const CompiledObject again = must(compileGraph(graph, "tiny", options));
      CHECK(bytesOf(compiled).starts_with(StringRef("\x7f"
                                                    "ELF",
                                                    4)));
      CHECK(bytesOf(compiled) == bytesOf(again));
      CHECK(bytesOf(compiled) == must(emitGraph(graph, "tiny", options, EmitStage::Obj)));
    }
}

TEST_CASE("linking doesn't change the object") {
  const CKIRGraph graph = buildForwardGraph(tinyConfig());
  const std::unique_ptr<Program> program = must(Program::link(must(compileGraph(graph, "tiny", optionsFor("native")))));
  CHECK(bytesOf(program->compiled()) == must(emitGraph(graph, "tiny", optionsFor("native"), EmitStage::Obj)));
}

TEST_CASE("the number of kernels doesn't grow with the layers") {
  const auto kernels = [](int64_t layers) {
    return must(compileGraph(buildForwardGraph(tinyConfig(layers)), "tiny", optionsFor("native"))).kernels.size();
  };
  const size_t one = kernels(1);
  CHECK(one >= 8); // embed, norm, q, k, v, attention, its projection, gate and up, down, head, loss: some may be equal
  CHECK(one <= 14);
  CHECK(kernels(2) == one);
  CHECK(kernels(30) == one);
}

TEST_CASE("buffers of a program have the arena's places, and apart") {
  const ModelConfig config = tinyConfig();
  const ArenaPlan plan = must(planArena(config));
  const CompiledObject compiled = must(compileGraph(buildForwardGraph(config), "tiny", optionsFor("native")));
  std::set<std::pair<uint64_t, uint64_t>> extra;
  for (const ProgramBuffer &buffer : compiled.buffers) {
    INFO(buffer.name << " of layer " << buffer.layer);
    CHECK(buffer.offset + buffer.bytes <= compiled.arenaBytes);
    CHECK(compiled.find(buffer.name, buffer.layer) == &buffer);
    const Buffer *planned = plan.find(buffer.name, buffer.layer);
    if (planned) {
      CHECK(buffer.offset == planned->offset);
      CHECK(buffer.bytes == planned->bytes);
    } else {
      CHECK(buffer.offset >= plan.totalBytes); // nothing of ours moves a seed offset
      extra.insert({buffer.offset, buffer.offset + buffer.bytes});
    }
  }
  uint64_t end = 0;
  for (auto [first, last] : extra) {
    CHECK(first >= end);
    end = last;
  }
  for (const char *name : {"tokens", "targets", "loss", "logits"})
    CHECK(compiled.find(name) != nullptr);
  CHECK(compiled.find("wq", 1) != nullptr);
  CHECK(compiled.find("wq", 2) == nullptr);
  CHECK(compiled.find("nothing") == nullptr);
}

TEST_CASE("every stage can be named and printed") {
  const CKIRGraph graph = buildForwardGraph(tinyConfig(1));
  for (EmitStage stage : {EmitStage::Graph, EmitStage::CK, EmitStage::Loops, EmitStage::Vector, EmitStage::LLVMDialect,
                          EmitStage::LLVM, EmitStage::Asm, EmitStage::Obj}) {
    INFO(emitStageName(stage).str());
    CHECK(parseEmitStage(emitStageName(stage)) == stage);
    CHECK_FALSE(must(emitGraph(graph, "tiny", optionsFor("haswell"), stage)).empty());
  }
  CHECK_FALSE(parseEmitStage("assembly").has_value());
  CHECK_FALSE(parseEmitStage("").has_value());
}

TEST_CASE("the time of each step is told") {
  const std::unique_ptr<Program> program =
      must(Program::link(must(compileGraph(buildForwardGraph(tinyConfig(1)), "tiny", optionsFor("native")))));
  const CompileTimes &times = program->compiled().times;
  for (double step : {times.import, times.passes, times.translate, times.codegen, times.link})
    CHECK(step > 0);
  CHECK(times.total() == Approx(times.import + times.passes + times.translate + times.codegen + times.link));
}

TEST_CASE("a graph that is no program is an error with its place") {
  CKIRGraph graph = buildForwardGraph(tinyConfig());
  graph.nodes[3].op = NodeOp::AddBwd;
  CHECK_THAT(errorOf(compileGraph(graph, "edited.json", optionsFor("native"))),
             Contains("edited.json") && Contains("L0:N3") && Contains("ADD_BWD"));
  for (EmitStage stage : {EmitStage::Graph, EmitStage::CK, EmitStage::Obj}) {
    llvm::Expected<std::string> text = emitGraph(graph, "edited.json", optionsFor("native"), stage);
    REQUIRE_FALSE(static_cast<bool>(text));
    CHECK_THAT(llvm::toString(text.takeError()), Contains("edited.json") && Contains("ADD_BWD"));
  }
  CHECK_THAT(errorOf(compileGraph(buildBackwardGraph(buildForwardGraph(tinyConfig())), "back", optionsFor("native"))),
             Contains("back") && Contains("_BWD"));
}

TEST_CASE("text that is no ck program is an error with its name") {
  const CompileOptions options = optionsFor("native");
  CHECK_THAT(errorOf(compileText("module {", "a.mlir", options)), Contains("a.mlir"));
  CHECK_THAT(errorOf(compileText("module { func.func @other() { return } }", "b.mlir", options)),
             Contains("b.mlir") && Contains("@prefill"));
  CHECK_THAT(errorOf(compileText("module { func.func @prefill() { ck.nonsense\n return } }", "c.mlir", options)),
             Contains("c.mlir") && Contains("nonsense"));
  KernelText shapes;
  shapes.in("x", {1, 5, hostLanes()}).in("g", {3}).out("y", {1, 5, hostLanes()});
  shapes.op("ck.rmsnorm ins(%x, %g : $x, $g) outs(%y : $y) eps 1.0e-5 features 5");
  CHECK_THAT(errorOf(compileText(shapes.text(), "d.mlir", options)), Contains("d.mlir") && Contains("gamma"));
}

TEST_CASE("an object that isn't one, or that calls anything but the barrier, doesn't link") {
  CompiledObject broken;
  const StringRef junk = "this is not an object file";
  broken.object.assign(junk.begin(), junk.end());
  llvm::Expected<std::unique_ptr<Program>> linked = Program::link(std::move(broken));
  REQUIRE_FALSE(static_cast<bool>(linked));
  CHECK_FALSE(llvm::toString(linked.takeError()).empty());

  const char *caller =
      "module { func.func private @malloc()\n func.func @prefill() { call @malloc() : () -> ()\n return } }";
  llvm::Expected<CompiledObject> compiled = compileText(caller, "caller", optionsFor("native"));
  REQUIRE(static_cast<bool>(compiled));
  linked = Program::link(std::move(*compiled));
  REQUIRE_FALSE(static_cast<bool>(linked));
  CHECK_FALSE(llvm::toString(linked.takeError()).empty());
}
