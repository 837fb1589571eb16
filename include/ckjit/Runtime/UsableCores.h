//===- UsableCores.h - How many cores this process may use ------*- C++ -*-===//
#ifndef CKJIT_RUNTIME_USABLECORES_H
#define CKJIT_RUNTIME_USABLECORES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace ckjit {

/// Numbers of the CPUs that the calling thread may run on, ascending. Empty if the
/// system can't tell.
std::vector<unsigned> allowedCpus();

/// Number of threads that can run at once: the calling thread's affinity, cut to the
/// cgroup's CPU quota. At least 1.
unsigned usableCores();

/// CPUs' worth of time granted by the text of cgroup v2's cpu.max ("150000 100000" is
/// 1.5); nothing if unlimited ("max 100000") or malformed.
std::optional<double> parseCpuMax(llvm::StringRef text);

/// The same for cgroup v1, from cpu.cfs_quota_us (-1: unlimited) and cpu.cfs_period_us.
std::optional<double> parseCfsQuota(llvm::StringRef quotaText, llvm::StringRef periodText);

/// Where a process stands in the cgroup trees, e.g. "/user.slice/a".
struct CgroupPaths {
  std::optional<std::string> unified; ///< v2
  std::optional<std::string> cpu;     ///< v1's tree with the cpu controller
};

/// Reads the text of /proc/self/cgroup; malformed lines are passed over.
CgroupPaths parseProcCgroup(llvm::StringRef text);

/// The least quota of the process's cgroup and all above it. `mount` stands for
/// /sys/fs/cgroup; groups that aren't visible below it (as in a container) are passed over.
std::optional<double> cgroupQuota(llvm::StringRef mount, const CgroupPaths &paths);

/// Threads for `cpus` allowed CPUs and a quota: part of a CPU counts as one; at least 1.
unsigned coresWithin(unsigned cpus, std::optional<double> quota);

} // namespace ckjit
#endif
