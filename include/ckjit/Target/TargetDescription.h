//===- TargetDescription.h - The CPU that code is generated for -*- C++ -*-===//
#ifndef CKJIT_TARGET_TARGETDESCRIPTION_H
#define CKJIT_TARGET_TARGETDESCRIPTION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ckjit {

/// All that the compiler may know of a CPU. Passes read it from the module's
/// target attribute and never ask the host.
struct TargetDescription {
  std::string cpu;              ///< LLVM's name, e.g. "znver3"; never "native"
  std::string features;         ///< complete list "+adx,-aes,...", sorted by name
  unsigned vectorBits = 128;    ///< 512 (AVX-512 F, BW, DQ and VL), 256 (AVX) or 128 (SSE2)
  bool fma = false;             ///< FMA3; without it vector.fma would become a library call
  unsigned vectorRegisters = 16;///< of vectorBits each: 32 if 512 bits wide, else 16
  uint64_t l1dBytes = 0;        ///< data cache of a core
  uint64_t l2Bytes = 0;         ///< second level cache of a core
  uint64_t l3Bytes = 0;         ///< third level cache that a core shares with its cluster

  bool operator==(const TargetDescription &) const = default;
  /// True if the list holds "+feature" (LLVM's spelling, e.g. "avx512vnni").
  bool has(llvm::StringRef feature) const;
};

/// Describes `cpu`: "native" is this machine, its features and caches as CPUID and
/// the system report them; any other must be an x86-64 name of LLVM 22 ("x86-64-v2",
/// "haswell", "znver4", "sapphirerapids", ...) and gives the same answer on every machine,
/// with the features that the name implies (and minus for all others LLVM knows of any
/// x86-64 CPU) and assumed cache sizes (CacheSizes.h). Error for another name: tells valid ones.
llvm::Expected<TargetDescription> describeTarget(llvm::StringRef cpu);

/// Features of `target` that code made for it may use, as LLVM spells them; what checkRunsHere looks for.
std::vector<std::string> generatedFeatures(const TargetDescription &target);

/// Success if this machine runs code made for `target`. Otherwise an error that names the instruction sets
/// it lacks, of those that the code generator uses by itself.
llvm::Error checkRunsHere(const TargetDescription &target);

} // namespace ckjit
#endif
