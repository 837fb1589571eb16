//===- TargetDescription.cpp - The CPU that code is generated for ---------===//
#include "ckjit/Target/TargetDescription.h"

#include "ckjit/Target/CacheSizes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <map>

using namespace llvm;

namespace ckjit {
namespace {

using FeatureMap = std::map<std::string, bool>; // sorted: the list is part of cache keys

/// Part of every x86-64 CPU. LLVM's lists leave some of them out where 64-bit mode implies them.
constexpr StringLiteral kArchitectural[] = {"cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "x87"};

SmallVector<StringRef, 0> cpuNames() {
  SmallVector<StringRef, 0> names;
  X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  return names;
}

/// What `cpu` has. The list by name holds e.g. avx2 without avx, so it is closed over implications.
StringMap<bool> enabledFeatures(StringRef cpu) {
  SmallVector<StringRef, 64> named;
  X86::getFeaturesForCPU(cpu, named);
  StringMap<bool> enabled;
  for (StringRef feature : named) {
    enabled[feature] = true;
    X86::updateImpliedFeatures(feature, /*Enabled=*/true, enabled);
  }
  for (StringRef feature : kArchitectural)
    enabled[feature] = true;
  return enabled;
}

/// Each feature of any x86-64 CPU, with false. Independent of the host. Put together once: it takes most of a
/// description's time, and the host is described twice on the way to a running program.
const FeatureMap &allFeatures() {
  static const FeatureMap all = [] {
    FeatureMap features;
    for (StringRef cpu : cpuNames())
      for (const auto &entry : enabledFeatures(cpu))
        features[entry.first().str()] = false;
    return features;
  }();
  return all;
}

FeatureMap featuresOfName(StringRef cpu) {
  FeatureMap features = allFeatures();
  for (const auto &entry : enabledFeatures(cpu))
    features[entry.first().str()] = true;
  return features;
}

FeatureMap featuresOfHost() {
  FeatureMap features = allFeatures();
  for (StringRef feature : kArchitectural)
    features[feature.str()] = true;
  for (const auto &entry : sys::getHostCPUFeatures())
    features[entry.first().str()] = entry.second;
  return features;
}

std::string joinFeatures(const FeatureMap &features) {
  std::string list;
  for (const auto &[name, enabled] : features) {
    if (!list.empty())
      list += ',';
    list += enabled ? '+' : '-';
    list += name;
  }
  return list;
}

TargetDescription fromFeatures(StringRef cpu, const FeatureMap &features) {
  TargetDescription target;
  target.cpu = cpu.str();
  target.features = joinFeatures(features);
  const bool wide = target.has("avx512f") && target.has("avx512bw") && target.has("avx512dq") &&
                    target.has("avx512vl");
  target.vectorBits = wide ? 512 : target.has("avx") ? 256 : 128;
  // Registers 16 to 31 of narrower vectors need AVX512VL, which Knights Landing lacks.
  target.vectorRegisters = wide ? 32 : 16;
  target.fma = target.has("fma");
  return target;
}

void setCaches(TargetDescription &target, const CacheSizes &caches) {
  target.l1dBytes = caches.l1dBytes;
  target.l2Bytes = caches.l2Bytes;
  target.l3Bytes = caches.l3Bytes;
}

Error unknownCpu(StringRef cpu) {
  const SmallVector<StringRef, 0> names = cpuNames();
  StringRef nearest = names.front();
  for (StringRef name : names)
    if (cpu.edit_distance(name) < cpu.edit_distance(nearest))
      nearest = name;
  return createStringError(
      formatv("target CPU: found '{0}', expected 'native' or an x86-64 name of LLVM such as x86-64-v2, "
              "x86-64-v3, x86-64-v4, haswell, alderlake, sapphirerapids, znver3, znver4, znver5 "
              "(nearest name: {1})",
              cpu, nearest));
}

/// This machine, but for its caches.
Expected<TargetDescription> describeHostCpu() {
  const Triple triple(sys::getProcessTriple());
  if (triple.getArch() != Triple::x86_64)
    return createStringError(
        formatv("target CPU: 'native' is a {0} machine, expected x86_64; name an x86-64 CPU "
                "(such as x86-64-v3) to generate code for another machine",
                triple.getArchName()));
  return fromFeatures(sys::getHostCPUName(), featuresOfHost());
}

Expected<TargetDescription> describeHost() {
  auto target = describeHostCpu();
  if (target)
    setCaches(*target, hostCacheSizes(defaultCacheSizes(target->cpu, target->vectorBits)));
  return target;
}

/// Instruction sets that generated code may use once the target has them. Others (sgx, clwb, mwaitx, ...) belong
/// to systems; virtual machines hide them, and code runs all the same.
constexpr StringLiteral kGenerated[] = {
    "sse3",       "ssse3",      "sse4.1",       "sse4.2",          "popcnt",  "cx16",    "avx",         "avx2",
    "fma",        "fma4",       "xop",          "f16c",            "bmi",     "bmi2",    "lzcnt",       "movbe",
    "sse4a",      "adx",        "avx512f",      "avx512cd",        "avx512bw", "avx512dq", "avx512vl",  "avx512vnni",
    "avx512bf16", "avx512fp16", "avx512vbmi",   "avx512vbmi2",     "avx512ifma", "avx512bitalg", "avx512vpopcntdq",
    "avxvnni",    "avxifma",    "avxneconvert", "avxvnniint8",     "avxvnniint16", "gfni", "vpclmulqdq", "vaes",
    "pclmul",     "aes",        "tbm",          "avx512vp2intersect", "avx10.1", "avx10.2",
    "egpr",       "ndd",          "push2pop2",       "ppx",     "ccmp",    "nf",          "cf",
    "zu"};

} // namespace

std::vector<std::string> generatedFeatures(const TargetDescription &target) {
  std::vector<std::string> features;
  for (StringRef feature : kGenerated)
    if (target.has(feature))
      features.push_back(feature.str());
  return features;
}

Error checkRunsHere(const TargetDescription &target) {
  auto host = describeHostCpu();
  if (!host)
    return host.takeError();
  std::string missing;
  for (const std::string &feature : generatedFeatures(target))
    if (!host->has(feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (missing.empty())
    return Error::success();
  return createStringError(formatv("code for {0} does not run on this machine ({1}): it lacks {2}; compile for "
                                   "'native' or for a CPU with fewer instruction sets",
                                   target.cpu, host->cpu, missing));
}

bool TargetDescription::has(StringRef feature) const {
  StringRef rest = features;
  while (!rest.empty()) {
    auto [entry, tail] = rest.split(',');
    if (entry.consume_front("+") && entry == feature)
      return true;
    rest = tail;
  }
  return false;
}

Expected<TargetDescription> describeTarget(StringRef cpu) {
  if (cpu == "native")
    return describeHost();
  if (X86::parseArchX86(cpu, /*Only64Bit=*/true) == X86::CK_None)
    return unknownCpu(cpu);
  TargetDescription target = fromFeatures(cpu, featuresOfName(cpu));
  setCaches(target, defaultCacheSizes(cpu, target.vectorBits));
  return target;
}

} // namespace ckjit
