//===- TargetDescriptionTest.cpp - The CPU that code is generated for -----===//
#include "ckjit/Target/TargetDescription.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <catch2/catch.hpp>
#include <memory>

using namespace ckjit;

namespace {

TargetDescription describe(llvm::StringRef cpu) {
  llvm::Expected<TargetDescription> target = describeTarget(cpu);
  if (!target)
    FAIL(llvm::toString(target.takeError()));
  return *target;
}

std::string errorFor(llvm::StringRef cpu) {
  llvm::Expected<TargetDescription> target = describeTarget(cpu);
  return target ? std::string() : llvm::toString(target.takeError());
}

llvm::SmallVector<llvm::StringRef, 0> entries(const TargetDescription &target) {
  llvm::SmallVector<llvm::StringRef, 0> list;
  llvm::StringRef(target.features).split(list, ',');
  return list;
}

/// LLVM's code generator's own view of CPU + features.
std::unique_ptr<llvm::MCSubtargetInfo> subtarget(llvm::StringRef cpu, llvm::StringRef features) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  REQUIRE(target);
  return std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple, cpu, features));
}

} // namespace

TEST_CASE("named CPUs: vector width, FMA, registers") {
  struct Row {
    const char *cpu;
    unsigned bits;
    bool fma;
    unsigned registers;
  };
  // By the instruction sets each vendor documents for the CPU.
  const Row row = GENERATE(
      Row{"x86-64", 128, false, 16}, Row{"x86-64-v2", 128, false, 16}, Row{"x86-64-v3", 256, true, 16},
      Row{"x86-64-v4", 512, true, 32}, Row{"nehalem", 128, false, 16}, Row{"sandybridge", 256, false, 16},
      Row{"haswell", 256, true, 16}, Row{"alderlake", 256, true, 16}, Row{"skylake-avx512", 512, true, 32},
      Row{"sapphirerapids", 512, true, 32}, Row{"knl", 256, true, 16}, Row{"znver3", 256, true, 16},
      Row{"znver4", 512, true, 32}, Row{"znver5", 512, true, 32});
  const TargetDescription target = describe(row.cpu);
  INFO(row.cpu << ": " << target.features);
  CHECK(target.cpu == row.cpu);
  CHECK(target.vectorBits == row.bits);
  CHECK(target.fma == row.fma);
  CHECK(target.vectorRegisters == row.registers);
  CHECK(target.l1dBytes > 0u);
  CHECK(target.l1dBytes < target.l2Bytes);
  CHECK(target.l2Bytes < target.l3Bytes);
}

TEST_CASE("features that a name implies only through another one are listed") {
  for (const char *feature : {"sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"})
    CHECK(describe("x86-64-v2").has(feature));
  for (const char *feature : {"avx", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"})
    CHECK(describe("x86-64-v4").has(feature));
  CHECK(describe("x86-64").has("sse2"));
  CHECK_FALSE(describe("x86-64").has("sse3"));
}

TEST_CASE("dot product and matrix features follow the name") {
  CHECK(describe("znver4").has("avx512vnni"));
  CHECK_FALSE(describe("znver4").has("avxvnni"));
  CHECK(describe("alderlake").has("avxvnni"));
  CHECK(describe("sapphirerapids").has("amx-int8"));
  CHECK_FALSE(describe("haswell").has("avx512vnni"));
}

TEST_CASE("has() compares whole names") {
  TargetDescription target;
  target.features = "+avx2,-fma,+sse4.1";
  CHECK(target.has("avx2"));
  CHECK(target.has("sse4.1"));
  CHECK_FALSE(target.has("avx"));
  CHECK_FALSE(target.has("fma"));
  CHECK_FALSE(target.has(""));
}

TEST_CASE("every list is complete, sorted, without repetition, and the same features for each CPU") {
  llvm::SmallVector<llvm::StringRef, 0> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  const TargetDescription base = describe("x86-64");
  for (llvm::StringRef name : names) {
    const TargetDescription target = describe(name);
    const auto list = entries(target), baseList = entries(base);
    INFO(name.str());
    REQUIRE(list.size() == baseList.size());
    for (size_t i = 0; i < list.size(); ++i) {
      REQUIRE((list[i].front() == '+' || list[i].front() == '-'));
      REQUIRE(list[i].drop_front() == baseList[i].drop_front());
      REQUIRE((i == 0 || list[i - 1].drop_front() < list[i].drop_front()));
    }
  }
}

TEST_CASE("the code generator understands each list and ends with exactly its signs") {
  llvm::SmallVector<llvm::StringRef, 0> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  names.push_back("native");
  for (llvm::StringRef name : names) {
    const TargetDescription target = describe(name);
    const auto info = subtarget(target.cpu, target.features);
    CHECK(info->isCPUStringValid(target.cpu));
    llvm::StringMap<bool> enabled;
    for (const llvm::SubtargetFeatureKV &feature : info->getAllProcessorFeatures())
      enabled[feature.Key] = info->getFeatureBits()[feature.Value];
    for (llvm::StringRef entry : entries(target)) {
      INFO(name.str() << ": " << entry.str());
      REQUIRE(enabled.contains(entry.drop_front()));
      REQUIRE(enabled[entry.drop_front()] == (entry.front() == '+'));
    }
  }
}

TEST_CASE("no list takes from a CPU what the code generator knows it to have") {
  llvm::SmallVector<llvm::StringRef, 0> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  for (llvm::StringRef name : names) {
    const TargetDescription target = describe(name);
    const auto byName = subtarget(name, "");
    for (const char *feature : {"sse2", "ssse3", "sse4.1", "avx", "f16c", "fma", "avx2", "avx512f", "avx512bw",
                                "avx512dq", "avx512vl", "avx512vnni", "avx512bf16", "avxvnni", "amx-int8"}) {
      INFO(name.str() << ": " << feature);
      CHECK(target.has(feature) == byName->checkFeatures((llvm::Twine("+") + feature).str()));
    }
  }
}

TEST_CASE("unknown names: the error repeats the name and tells valid ones") {
  for (const char *name : {"bogus", "", "pentium4", "i686", "Native", "znver4 ", "x86_64-v3", "cortex-a72"}) {
    INFO(name);
    CHECK_THAT(errorFor(name), Catch::Contains((llvm::Twine("'") + name + "'").str()) && Catch::Contains("native") &&
                                   Catch::Contains("x86-64-v3") && Catch::Contains("znver4"));
  }
  CHECK_THAT(errorFor("saphirerapids"), Catch::Contains("nearest name: sapphirerapids"));
}

TEST_CASE("native agrees with the compiler's own CPUID check") {
  const TargetDescription target = describe("native");
  CHECK(target.cpu != "native");
  CHECK(target.cpu == llvm::sys::getHostCPUName());
  CHECK(target.has("sse2"));
  CHECK(target.has("ssse3") == !!__builtin_cpu_supports("ssse3"));
  CHECK(target.has("sse4.2") == !!__builtin_cpu_supports("sse4.2"));
  CHECK(target.has("avx") == !!__builtin_cpu_supports("avx"));
  CHECK(target.has("avx2") == !!__builtin_cpu_supports("avx2"));
  CHECK(target.has("avx512f") == !!__builtin_cpu_supports("avx512f"));
  CHECK(target.has("avx512bw") == !!__builtin_cpu_supports("avx512bw"));
  CHECK(target.has("avx512vl") == !!__builtin_cpu_supports("avx512vl"));
  CHECK(target.has("avx512vnni") == !!__builtin_cpu_supports("avx512vnni"));
  CHECK(target.fma == !!__builtin_cpu_supports("fma"));
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  CHECK(target.vectorBits == (wide ? 512u : __builtin_cpu_supports("avx") ? 256u : 128u));
  CHECK(target.vectorRegisters == (wide ? 32u : 16u));
  CHECK(entries(target).size() >= entries(describe("x86-64")).size());
  CHECK(target.l1dBytes > 0u);
}

TEST_CASE("code runs here when this machine has what the code may use") {
  CHECK_FALSE(static_cast<bool>(checkRunsHere(describe("native"))));
  CHECK_FALSE(static_cast<bool>(checkRunsHere(describe("x86-64"))));
  // AMD's XOP ended before Intel's AVX512-VP2INTERSECT began.
  TargetDescription both = describe("x86-64");
  both.cpu = "chimera";
  both.features += ",+avx512vp2intersect,+xop";
  const std::string message = llvm::toString(checkRunsHere(both));
  CHECK_THAT(message, Catch::Contains("chimera") && Catch::Contains("xop") && Catch::Contains("native"));
}

TEST_CASE("every instruction set that a CPU's list adds to APX and AVX10 keeps its code from running elsewhere") {
  for (const char *feature : {"egpr", "ndd", "push2pop2", "ppx", "ccmp", "nf", "cf", "zu", "avx10.1", "avx10.2"}) {
    INFO(feature);
    TargetDescription target = describe("x86-64");
    target.features += std::string(",+") + feature;
    if (!describe("native").has(feature))
      CHECK_THAT(llvm::toString(checkRunsHere(target)), Catch::Contains(std::string("it lacks ") + feature + ";"));
    // LLVM 22 knows no CPU with cf, but a host may report it.
    CHECK(describe("diamondrapids").has(feature) == (llvm::StringRef(feature) != "cf"));
  }
}

TEST_CASE("features of systems, which virtual machines hide, don't keep code from running") {
  TargetDescription target = describe("x86-64");
  target.features += ",+sgx,+mwaitx,+wbnoinvd,+pku";
  CHECK_FALSE(static_cast<bool>(checkRunsHere(target)));
}
