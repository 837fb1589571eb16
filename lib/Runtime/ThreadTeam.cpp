//===- ThreadTeam.cpp - Threads that run one program together -------------===//
#include "ckjit/Runtime/ThreadTeam.h"

#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <utility>
#include <unistd.h>

using namespace llvm;

namespace ckjit {
namespace {

using Clock = std::chrono::steady_clock;

void pauseCore() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Number of the running thread in the team whose body it is in.
thread_local unsigned currentTid = 0;

Error refused(const char *what, unsigned tid, unsigned threads, const std::error_code &code) {
  return createStringError(formatv("thread team: cannot {0} thread {1} of {2}: {3}; ask for fewer threads", what,
                                   tid, threads, code.message()));
}

Error tieToCpu(std::thread &thread, unsigned cpu, unsigned tid, unsigned threads) {
  const unsigned cpus = cpu + 1;
  cpu_set_t *set = CPU_ALLOC(cpus);
  const size_t bytes = CPU_ALLOC_SIZE(cpus);
  int result = ENOMEM;
  if (set) {
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    result = pthread_setaffinity_np(thread.native_handle(), bytes, set);
    CPU_FREE(set);
  }
  if (result != 0)
    return refused("tie to a CPU", tid, threads, std::error_code(result, std::generic_category()));
  return Error::success();
}

} // namespace

ThreadTeam::ThreadTeam(unsigned threads, bool oversubscribed, BarrierKind barrier)
    : threads(threads), process(getpid()),
      barrierPatience(oversubscribed ? Patience{0, 20'000} : Patience{30'000, 1'000'000}),
      idlePatience(oversubscribed ? Patience{0, 20'000} : Patience{60'000, 100'000}),
      arrivals(barrier == BarrierKind::Meet ? new Arrival[threads] : nullptr) {}

Expected<std::unique_ptr<ThreadTeam>> ThreadTeam::create(unsigned threads, const ThreadTeamOptions &options) {
  const unsigned cores = usableCores();
  if (threads == 0)
    threads = std::min(cores, kMaxThreads);
  if (threads > kMaxThreads)
    return createStringError(
        formatv("thread team: asked for {0} threads, expected 0 (all usable cores, here {1}) to {2}", threads, cores,
                kMaxThreads));
  BarrierKind barrier = options.barrier;
  if (barrier == BarrierKind::Choose)
    barrier = threads <= kMostMeeting ? BarrierKind::Meet : BarrierKind::Count;
  std::unique_ptr<ThreadTeam> team(new ThreadTeam(threads, threads > cores, barrier));
  if (Error error = team->start(options))
    return error;
  return team;
}

Error ThreadTeam::start(const ThreadTeamOptions &options) {
  const std::vector<unsigned> cpus = options.pin ? allowedCpus() : std::vector<unsigned>();
  workers.reserve(threads - 1);
  for (unsigned tid = 1; tid < threads; ++tid) {
    try {
      workers.emplace_back([this, tid] { work(tid); });
    } catch (const std::system_error &error) {
      return refused("start", tid, threads, error.code());
    }
    if (!cpus.empty())
      if (Error error = tieToCpu(workers.back(), cpus[tid % cpus.size()], tid, threads))
        return error;
  }
  return Error::success();
}

ThreadTeam::~ThreadTeam() {
  if (getpid() != process) {
    // The workers are the parent's: there is nothing here to wait for. Forget them without a destructor, which would
    // end the process for a thread that wasn't joined.
    for (std::thread &worker : workers)
      std::construct_at(&worker);
    return;
  }
  stopping = true;
  jobEpoch.fetch_add(1);
  jobEpoch.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadTeam::run(function_ref<void(unsigned, unsigned)> body) {
  if (threads == 1)
    return body(0, 1);
  const unsigned outside = std::exchange(currentTid, 0); // the caller may be a thread of another team
  job = body;
  unfinished.store(threads - 1, std::memory_order_relaxed);
  // Sequentially consistent like every write that is followed by a notify: the notify skips
  // its system call if it sees no sleeper, so the write must not be delayed behind that look.
  jobEpoch.fetch_add(1);
  jobEpoch.notify_all();
  body(0, threads);
  while (uint32_t left = unfinished.load(std::memory_order_acquire))
    waitWhileEqual(unfinished, left, barrierPatience);
  currentTid = outside;
}

void ThreadTeam::work(unsigned tid) {
  currentTid = tid;
  for (uint32_t seen = 0;; ++seen) {
    waitWhileEqual(jobEpoch, seen, idlePatience);
    if (stopping)
      return;
    job(tid, threads);
    if (unfinished.fetch_sub(1) == 1)
      unfinished.notify_all();
  }
}

void ThreadTeam::barrier() {
  if (threads == 1)
    return;
  if (arrivals)
    return meet();
  // Can't change before this thread arrives, and was seen at the last barrier or at run().
  const uint32_t epoch = barrierEpoch.load(std::memory_order_relaxed);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < threads)
    return waitWhileEqual(barrierEpoch, epoch, barrierPatience);
  arrived.store(0, std::memory_order_relaxed);
  barrierEpoch.fetch_add(1);
  barrierEpoch.notify_all();
}

/// Each thread writes a line of its own and reads those of the others: one way through the caches, where a common
/// counter takes one for each thread and one for the answer.
void ThreadTeam::meet() {
  std::atomic<uint32_t> &own = arrivals[currentTid].epoch;
  const uint32_t before = own.load(std::memory_order_relaxed);
  own.store(before + 1, std::memory_order_release);
  // Another thread is here (before + 1), or even at the next barrier, as soon as it isn't at `before`.
  for (unsigned tid = 0; tid < threads; ++tid)
    if (tid != currentTid)
      waitWhileEqual(arrivals[tid].epoch, before, barrierPatience);
  // Only now who sleeps is woken: the write has long left this core, so it costs next to nothing to make sure that it
  // stands before the notify's look for sleepers. The last to come passes without sleep, so nobody sleeps for ever.
#ifdef __SANITIZE_THREAD__
  own.fetch_add(0); // doesn't know fences
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  own.notify_all();
}

void ThreadTeam::waitWhileEqual(std::atomic<uint32_t> &word, uint32_t value, const Patience &patience) {
  constexpr unsigned kPausesPerLook = 32; // at the clock
  const auto changed = [&] { return word.load(std::memory_order_acquire) != value; };
  // Looking at the clock takes as long as many a wait.
  for (unsigned i = 0; i < (patience.spinNanoseconds ? kPausesPerLook : 1); ++i) {
    if (changed())
      return;
    pauseCore();
  }
  const Clock::time_point start = Clock::now();
  const auto within = [&](unsigned nanoseconds) {
    return Clock::now() - start < std::chrono::nanoseconds(nanoseconds);
  };
  while (within(patience.spinNanoseconds))
    for (unsigned i = 0; i < kPausesPerLook; ++i) {
      if (changed())
        return;
      pauseCore();
    }
  while (within(patience.yieldNanoseconds)) {
    if (changed())
      return;
    sched_yield();
  }
  while (!changed())
    word.wait(value, std::memory_order_acquire);
}

} // namespace ckjit

extern "C" void ckjit_barrier(void *team) { static_cast<ckjit::ThreadTeam *>(team)->barrier(); }
