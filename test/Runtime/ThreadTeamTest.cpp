//===- ThreadTeamTest.cpp - Threads that run one program together ---------===//
#include "ckjit/Runtime/ThreadTeam.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <sched.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace ckjit;

namespace {

using Clock = std::chrono::steady_clock;

std::unique_ptr<ThreadTeam> teamOf(unsigned threads, const ThreadTeamOptions &options = {}) {
  llvm::Expected<std::unique_ptr<ThreadTeam>> team = ThreadTeam::create(threads, options);
  if (!team)
    FAIL(llvm::toString(team.takeError()));
  return std::move(*team);
}

double nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double barrierNanoseconds(ThreadTeam &team, unsigned barriers) {
  const Clock::time_point start = Clock::now();
  team.run([&](unsigned, unsigned) {
    for (unsigned i = 0; i < barriers; ++i)
      ckjit_barrier(&team);
  });
  return nanosecondsSince(start) / barriers;
}

} // namespace

TEST_CASE("team: size 0 means the usable cores, too many is an error") {
  CHECK(teamOf(0)->size() == usableCores());
  CHECK(teamOf(3)->size() == 3u);
  auto team = ThreadTeam::create(ThreadTeam::kMaxThreads + 1);
  REQUIRE_FALSE(bool(team));
  CHECK_THAT(llvm::toString(team.takeError()), Catch::Contains("1025") && Catch::Contains("1024"));
}

TEST_CASE("team: every thread runs the body once a run, the caller as thread 0") {
  const unsigned threads = GENERATE(1u, 2u, 3u, 5u, 8u);
  const auto team = teamOf(threads);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<unsigned> runs(threads, 0); // not atomic: run() must order the accesses
  std::vector<std::thread::id> ids(threads);
  constexpr unsigned kRuns = 200;
  for (unsigned i = 0; i < kRuns; ++i) {
    team->run([&](unsigned tid, unsigned count) {
      if (count == threads)
        ++runs[tid];
      ids[tid] = std::this_thread::get_id();
    });
    REQUIRE(std::accumulate(runs.begin(), runs.end(), 0u) == threads * (i + 1));
  }
  for (unsigned tid = 0; tid < threads; ++tid)
    CHECK(runs[tid] == kRuns);
  CHECK(ids[0] == caller);
  CHECK(std::set<std::thread::id>(ids.begin(), ids.end()).size() == threads);
}

TEST_CASE("team: what a thread wrote before a barrier, all see after it") {
  const unsigned threads = GENERATE(1u, 2u, 3u, 5u, 8u);
  const auto team = teamOf(threads);
  std::vector<uint64_t> now(threads, 1), next(threads, 0);
  constexpr unsigned kSteps = 300;
  // now[i] of a step is the sum of all of the step before plus i, modulo 2^64.
  team->run([&](unsigned tid, unsigned) {
    for (unsigned step = 0; step < kSteps; ++step) {
      next[tid] = std::accumulate(now.begin(), now.end(), uint64_t(tid));
      ckjit_barrier(team.get());
      now[tid] = next[tid];
      team->barrier();
    }
  });
  std::vector<uint64_t> expected(threads, 1);
  for (unsigned step = 0; step < kSteps; ++step) {
    const uint64_t sum = std::accumulate(expected.begin(), expected.end(), uint64_t(0));
    std::iota(expected.begin(), expected.end(), sum);
  }
  CHECK(now == expected);
}

TEST_CASE("team: a late thread holds all others at the barrier, also those that fell asleep") {
  const auto team = teamOf(3);
  for (unsigned late = 0; late < 3; ++late) {
    bool arrived = false;
    std::vector<char> seen(3, 0);
    team->run([&](unsigned tid, unsigned) {
      if (tid == late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        arrived = true;
      }
      team->barrier();
      seen[tid] = arrived;
    });
    CHECK(seen == std::vector<char>(3, 1));
  }
}

TEST_CASE("team: run() waits for the slowest, and wakes workers that fell asleep") {
  const auto team = teamOf(3);
  unsigned finished = 0;
  for (unsigned i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    team->run([&](unsigned tid, unsigned) {
      if (tid != 2)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++finished;
    });
    REQUIRE(finished == i + 1);
  }
}

TEST_CASE("team: behind a barrier each thread sees what all others wrote before it, by either kind of barrier") {
  const BarrierKind kind = GENERATE(BarrierKind::Meet, BarrierKind::Count);
  const unsigned threads = GENERATE(1u, 2u, 3u, 5u, 8u, 9u, 12u);
  const auto team = teamOf(threads, {.barrier = kind});
  constexpr unsigned kRounds = 50;
  std::vector<unsigned> round(threads); // plain: only the barriers order reads and writes
  std::atomic<unsigned> wrong{0};
  team->run([&](unsigned tid, unsigned) {
    for (unsigned i = 1; i <= kRounds; ++i) {
      round[tid] = i;
      team->barrier();
      wrong += static_cast<unsigned>(std::count_if(round.begin(), round.end(), [i](unsigned r) { return r != i; }));
      if (tid == i % threads && i % 16 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // the others fall asleep
      team->barrier();
    }
  });
  CHECK(wrong == 0u);
}

TEST_CASE("team: runs of changing numbers of barriers don't mix") {
  const auto team = teamOf(4);
  std::atomic<unsigned> total{0};
  for (unsigned run = 0; run < 300; ++run)
    team->run([&, run](unsigned, unsigned) {
      for (unsigned i = 0; i < run % 4; ++i) {
        ++total;
        team->barrier();
      }
    });
  CHECK(total == 4u * 300 / 4 * (0 + 1 + 2 + 3));
}

TEST_CASE("team: made and destroyed without a run, and several side by side") {
  for (unsigned i = 0; i < 50; ++i)
    teamOf(1 + i % 4);
  const auto a = teamOf(2), b = teamOf(3);
  unsigned inner = 0;
  a->run([&](unsigned tid, unsigned) {
    if (tid == 1)
      b->run([&](unsigned innerTid, unsigned) {
        if (innerTid == 2)
          ++inner;
      });
  });
  CHECK(inner == 1u);
}

TEST_CASE("team: pinned workers have one CPU each, the caller keeps its own") {
  const std::vector<unsigned> before = allowedCpus();
  const auto team = teamOf(3, {.pin = true});
  std::vector<std::vector<unsigned>> cpus(3);
  team->run([&](unsigned tid, unsigned) { cpus[tid] = allowedCpus(); });
  CHECK(cpus[0] == before);
  CHECK(cpus[1] == std::vector<unsigned>{before[1 % before.size()]});
  CHECK(cpus[2] == std::vector<unsigned>{before[2 % before.size()]});
}

TEST_CASE("team: unpinned workers keep the creator's affinity") {
  const auto team = teamOf(2);
  std::vector<unsigned> cpus;
  team->run([&](unsigned tid, unsigned) {
    if (tid == 1)
      cpus = allowedCpus();
  });
  CHECK(cpus == allowedCpus());
}

TEST_CASE("team: barriers with more threads than cores don't take milliseconds") {
  const auto team = teamOf(8);
  // The best of short stretches: a time slice of another process isn't the team's.
  double best = 1e300;
  for (unsigned i = 0; i < 50 && best >= 1e6; ++i)
    best = std::min(best, barrierNanoseconds(*team, 20));
  CHECK(best < 1e6);
}

TEST_CASE("team: cost of a barrier", "[.benchmark]") {
  const unsigned threads = GENERATE(1u, 2u, 8u);
  const BarrierKind kind = GENERATE(BarrierKind::Meet, BarrierKind::Count);
  const auto team = teamOf(threads, {.barrier = kind});
  const unsigned barriers = threads > usableCores() ? 5'000 : 200'000;
  (void)barrierNanoseconds(*team, barriers / 10);
  WARN((kind == BarrierKind::Meet ? "meeting, " : "counting, ") << threads << " threads on " << usableCores() << " cores: " << barrierNanoseconds(*team, barriers) << " ns");
}

TEST_CASE("a child of fork() destroys a team without waiting for threads it doesn't have, and starts its own") {
  std::unique_ptr<ThreadTeam> team = teamOf(3);
  std::atomic<unsigned> ran = 0;
  team->run([&](unsigned, unsigned) { ++ran; });
  CHECK(ran == 3);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20); // a child that waits for ever ends by signal
    team.reset();
    ran = 0;
    llvm::Expected<std::unique_ptr<ThreadTeam>> own = ThreadTeam::create(3);
    if (own)
      (*own)->run([&](unsigned, unsigned) { ++ran; });
    own->reset();
    _exit(ran == 3 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  team->run([&](unsigned, unsigned) { ++ran; });
  CHECK(ran == 6);
}
