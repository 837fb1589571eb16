//===- UsableCoresTest.cpp - How many cores this process may use ----------===//
#include "ckjit/Runtime/UsableCores.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sched.h>
#include <thread>

using namespace ckjit;

namespace {

/// A tree like /sys/fs/cgroup, removed at the end of the test.
class FakeCgroups {
public:
  FakeCgroups() { REQUIRE(!llvm::sys::fs::createUniqueDirectory("ckjit-cgroup", root)); }
  ~FakeCgroups() { llvm::sys::fs::remove_directories(root); }

  void write(const std::string &file, const std::string &text) {
    const std::string path = root.str().str() + "/" + file;
    REQUIRE(!llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)));
    std::ofstream(path) << text;
  }

  std::optional<double> quota(const CgroupPaths &paths) const { return cgroupQuota(root, paths); }

private:
  llvm::SmallString<128> root;
};

CgroupPaths unified(const char *path) { return {path, std::nullopt}; }
CgroupPaths v1(const char *path) { return {std::nullopt, path}; }

} // namespace

TEST_CASE("cgroup v2: cpu.max") {
  CHECK(parseCpuMax("150000 100000\n") == 1.5);
  CHECK(parseCpuMax("50000 100000") == 0.5);
  CHECK(parseCpuMax("1000000000000 1000") == 1e9);
  for (const char *text : {"max 100000\n", "max", "", "\n", "150000", "150000 0", "-1 100000", "0 100000", "a b",
                           "150000 100000 7", "99999999999999999999 100000"}) {
    INFO(text);
    CHECK_FALSE(parseCpuMax(text));
  }
}

TEST_CASE("cgroup v1: quota and period") {
  CHECK(parseCfsQuota("200000\n", "100000\n") == 2.0);
  CHECK(parseCfsQuota("25000", "50000") == 0.5);
  for (auto [quota, period] : {std::pair{"-1\n", "100000\n"}, std::pair{"", ""}, std::pair{"200000", ""},
                               std::pair{"200000", "0"}, std::pair{"200000", "-5"}, std::pair{"x", "100000"}}) {
    INFO(quota << " / " << period);
    CHECK_FALSE(parseCfsQuota(quota, period));
  }
}

TEST_CASE("/proc/self/cgroup: unified, v1, and both together") {
  const CgroupPaths pure = parseProcCgroup("0::/user.slice/a.scope\n");
  CHECK(pure.unified == std::string("/user.slice/a.scope"));
  CHECK_FALSE(pure.cpu);
  const CgroupPaths hybrid =
      parseProcCgroup("9:name=systemd:/\n4:memory:/m\n3:cpuset:/no\n2:cpu,cpuacct:/x:y\n0::/u\n");
  CHECK(hybrid.cpu == std::string("/x:y"));
  CHECK(hybrid.unified == std::string("/u"));
}

TEST_CASE("/proc/self/cgroup: malformed lines are passed over") {
  for (const char *text : {"", "\n\n", "0", "0:", "0::", "0::relative", "::", "1:cpu", "1:cpu:",
                           "1:cpuset,cpuacct:/a"}) {
    INFO(text);
    const CgroupPaths paths = parseProcCgroup(text);
    CHECK_FALSE(paths.unified);
    CHECK_FALSE(paths.cpu);
  }
}

TEST_CASE("cgroup v2 tree: the least quota on the way down counts") {
  FakeCgroups tree;
  tree.write("a/cpu.max", "300000 100000\n");
  tree.write("a/b/cpu.max", "max 100000\n");
  tree.write("a/b/c/cpu.max", "400000 100000\n");
  tree.write("other/cpu.max", "100000 100000\n");
  CHECK(tree.quota(unified("/a/b/c")) == 3.0);
  CHECK(tree.quota(unified("/a")) == 3.0);
  CHECK_FALSE(tree.quota(unified("/")));
  CHECK_FALSE(tree.quota({}));
}

TEST_CASE("cgroup tree of a container: its own group is the root, the outer path isn't visible") {
  FakeCgroups tree;
  tree.write("cpu.max", "150000 100000\n");
  tree.write("inner/cpu.max", "50000 100000\n");
  CHECK(tree.quota(unified("/docker/0123abcd")) == 1.5);
  CHECK(tree.quota(unified("/")) == 1.5);
  CHECK(tree.quota(unified("/../inner")) == 1.5); // doesn't climb out, doesn't guess
}

TEST_CASE("cgroup v1 tree, under each name of the controller's folder") {
  for (const std::string folder : {"cpu", "cpu,cpuacct", "cpuacct,cpu"}) {
    FakeCgroups tree;
    tree.write(folder + "/cpu.cfs_quota_us", "-1\n");
    tree.write(folder + "/cpu.cfs_period_us", "100000\n");
    tree.write(folder + "/job/cpu.cfs_quota_us", "250000\n");
    tree.write(folder + "/job/cpu.cfs_period_us", "100000\n");
    CHECK(tree.quota(v1("/job")) == 2.5);
    CHECK_FALSE(tree.quota(v1("/")));
  }
}

TEST_CASE("cgroup hybrid tree: v2 below unified, and v1") {
  FakeCgroups tree;
  tree.write("unified/u/cpu.max", "700000 100000\n");
  tree.write("cpu/x/cpu.cfs_quota_us", "600000\n");
  tree.write("cpu/x/cpu.cfs_period_us", "100000\n");
  CHECK(tree.quota({"/u", "/x"}) == 6.0);
  CHECK(tree.quota({"/u", std::nullopt}) == 7.0);
}

TEST_CASE("cores within affinity and quota") {
  CHECK(coresWithin(8, std::nullopt) == 8u);
  CHECK(coresWithin(8, 3.0) == 3u);
  CHECK(coresWithin(8, 1.5) == 2u);
  CHECK(coresWithin(8, 0.1) == 1u);
  CHECK(coresWithin(2, 64.0) == 2u);
  CHECK(coresWithin(2, 1e300) == 2u);
  CHECK(coresWithin(0, std::nullopt) == 1u);
}

TEST_CASE("usable cores follow the affinity") {
  const std::vector<unsigned> cpus = allowedCpus();
  REQUIRE_FALSE(cpus.empty());
  CHECK(std::is_sorted(cpus.begin(), cpus.end()));
  CHECK(usableCores() >= 1u);
  CHECK(usableCores() <= cpus.size());
  std::vector<unsigned> inThread;
  unsigned cores = 0;
  std::thread([&] { // its own affinity, so that the other tests keep theirs
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus.back(), &set);
    if (cpus.back() < CPU_SETSIZE && sched_setaffinity(0, sizeof(set), &set) == 0) {
      inThread = allowedCpus();
      cores = usableCores();
    }
  }).join();
  CHECK(inThread == std::vector<unsigned>{cpus.back()});
  CHECK(cores == 1u);
}
