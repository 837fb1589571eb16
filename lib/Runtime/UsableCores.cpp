//===- UsableCores.cpp - How many cores this process may use --------------===//
#include "ckjit/Runtime/UsableCores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <sched.h>
#include <thread>

using namespace llvm;

namespace ckjit {
namespace {

std::optional<double> quotaOf(StringRef quotaText, StringRef periodText) {
  int64_t quota = 0, period = 0;
  if (quotaText.trim().getAsInteger(10, quota) || periodText.trim().getAsInteger(10, period))
    return std::nullopt;
  if (quota <= 0 || period <= 0)
    return std::nullopt;
  return static_cast<double>(quota) / static_cast<double>(period);
}

/// The text of a file of /proc or /sys, whose size the system doesn't tell; empty if absent.
std::string readSystemFile(const Twine &path) {
  auto buffer = MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

std::optional<double> lesser(std::optional<double> a, std::optional<double> b) {
  if (!a || !b)
    return a ? a : b;
  return std::min(*a, *b);
}

std::optional<double> quotaOfGroup(const std::string &folder) {
  return lesser(parseCpuMax(readSystemFile(folder + "/cpu.max")),
                parseCfsQuota(readSystemFile(folder + "/cpu.cfs_quota_us"),
                              readSystemFile(folder + "/cpu.cfs_period_us")));
}

/// Least quota of root, root/a, root/a/b, ... for the group "/a/b".
std::optional<double> quotaAlong(const std::string &root, StringRef group) {
  SmallVector<StringRef, 8> names;
  group.split(names, '/', -1, /*KeepEmpty=*/false);
  // "/../x": the group lies outside the part of the tree that this process sees.
  if (is_contained(names, ".."))
    names.clear();
  std::string folder = root;
  std::optional<double> quota = quotaOfGroup(folder);
  for (StringRef name : names) {
    folder += '/';
    folder += name;
    quota = lesser(quota, quotaOfGroup(folder));
  }
  return quota;
}

struct FreeCpuSet {
  void operator()(cpu_set_t *set) const { CPU_FREE(set); }
};

} // namespace

std::vector<unsigned> allowedCpus() {
  // The kernel refuses a set smaller than its own, and doesn't tell that size.
  constexpr unsigned kFirstCpus = 1024, kMaxCpus = 1u << 20;
  for (unsigned cpus = kFirstCpus; cpus <= kMaxCpus; cpus *= 2) {
    std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(cpus));
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (!set)
      return {};
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<unsigned> allowed;
      for (unsigned cpu = 0; cpu < cpus; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, set.get()))
          allowed.push_back(cpu);
      return allowed;
    }
    if (errno != EINVAL)
      return {};
  }
  return {};
}

unsigned usableCores() {
  auto cpus = static_cast<unsigned>(allowedCpus().size());
  if (cpus == 0)
    cpus = std::max(1u, std::thread::hardware_concurrency());
  return coresWithin(cpus, cgroupQuota("/sys/fs/cgroup", parseProcCgroup(readSystemFile("/proc/self/cgroup"))));
}

std::optional<double> parseCpuMax(StringRef text) {
  auto [quota, period] = text.trim().split(' ');
  return quotaOf(quota, period);
}

std::optional<double> parseCfsQuota(StringRef quotaText, StringRef periodText) {
  return quotaOf(quotaText, periodText);
}

CgroupPaths parseProcCgroup(StringRef text) {
  CgroupPaths paths;
  SmallVector<StringRef, 16> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    // hierarchy:controllers:path, where the path may hold colons itself
    auto [hierarchy, rest] = line.split(':');
    auto [controllers, path] = rest.split(':');
    if (!path.starts_with("/"))
      continue;
    SmallVector<StringRef, 4> names;
    controllers.split(names, ',');
    if (hierarchy == "0" && controllers.empty())
      paths.unified = path.str();
    else if (is_contained(names, "cpu"))
      paths.cpu = path.str();
  }
  return paths;
}

std::optional<double> cgroupQuota(StringRef mount, const CgroupPaths &paths) {
  std::optional<double> quota;
  if (paths.unified)
    for (const char *tree : {"", "/unified"})
      quota = lesser(quota, quotaAlong(mount.str() + tree, *paths.unified));
  if (paths.cpu)
    for (const char *tree : {"/cpu", "/cpu,cpuacct", "/cpuacct,cpu"})
      quota = lesser(quota, quotaAlong(mount.str() + tree, *paths.cpu));
  return quota;
}

unsigned coresWithin(unsigned cpus, std::optional<double> quota) {
  double cores = std::max(1u, cpus);
  if (quota)
    cores = std::min(cores, std::max(1.0, std::ceil(*quota)));
  return static_cast<unsigned>(cores);
}

} // namespace ckjit
