//===- ThreadTeam.h - Threads that run one program together -----*- C++ -*-===//
#ifndef CKJIT_RUNTIME_THREADTEAM_H
#define CKJIT_RUNTIME_THREADTEAM_H

#include "ckjit/Runtime/UsableCores.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace ckjit {

/// How the threads of a team wait for each other.
enum class BarrierKind : uint8_t {
  Choose, ///< Meet in a small team, else Count
  Meet,   ///< each writes a line of its own and reads the others'
  Count   ///< on one counter, and the last wakes all
};

struct ThreadTeamOptions {
  /// Ties worker i to the i-th CPU that the creating thread may run on. The caller of
  /// run() (thread 0) is never tied.
  bool pin = false;
  BarrierKind barrier = BarrierKind::Choose;
};

/// A fixed team for SPMD programs (DESIGN 2.3): all threads run the same body at once,
/// each on its share, with barriers between the parts. One thread at a time may call
/// run(), and not from inside a body. After fork() the child has none of the team's
/// threads: there a team can be destroyed, and not run.
class ThreadTeam {
public:
  static constexpr unsigned kMaxThreads = 1024;

  /// Starts a team of `threads` (0: usableCores()), the caller counted. Error if that is
  /// over kMaxThreads or the system refuses to start or to tie a thread.
  static llvm::Expected<std::unique_ptr<ThreadTeam>> create(unsigned threads,
                                                            const ThreadTeamOptions &options = {});

  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;
  ~ThreadTeam();

  /// Number of threads, the caller of run() included.
  unsigned size() const { return threads; }

  /// Runs body(tid, threads) on every thread of the team, tid 0 on the calling one, and
  /// returns when all have finished. What was written before is seen by the body, what
  /// the body wrote is seen afterwards. The body must not throw.
  void run(llvm::function_ref<void(unsigned tid, unsigned threads)> body);

  /// Inside a body: returns when every thread of the team has called it as often. Each
  /// thread then sees what all wrote before.
  void barrier();

private:
  /// How long to keep the core while waiting. Sleeping costs tens of microseconds at
  /// wake-up; spinning takes the core from whoever is waited for if cores are short.
  struct Patience {
    unsigned spinNanoseconds;  ///< busy, nothing given away
    unsigned yieldNanoseconds; ///< from then on offering the core to others, then sleep
  };

  // Apart, so that arriving at a barrier doesn't disturb those who watch its epoch
  // (two lines: the hardware fetches them in pairs).
  static constexpr size_t kLinePairBytes = 128;

  /// Teams up to this size meet all to all: reading so many lines is faster than taking turns at one.
  static constexpr unsigned kMostMeeting = 8;
  struct alignas(kLinePairBytes) Arrival {
    std::atomic<uint32_t> epoch{0}; ///< barriers that its thread has come to
  };

  ThreadTeam(unsigned threads, bool oversubscribed, BarrierKind barrier);
  llvm::Error start(const ThreadTeamOptions &options);
  void work(unsigned tid);
  void meet();
  static void waitWhileEqual(std::atomic<uint32_t> &word, uint32_t value, const Patience &patience);

  const unsigned threads;
  const pid_t process; ///< that has the workers
  const Patience barrierPatience;
  const Patience idlePatience;
  std::vector<std::thread> workers;
  llvm::function_ref<void(unsigned, unsigned)> job; ///< published by jobEpoch
  bool stopping = false;                            ///< published by jobEpoch

  std::unique_ptr<Arrival[]> arrivals; ///< of a small team, one a thread

  alignas(kLinePairBytes) std::atomic<uint32_t> jobEpoch{0};
  alignas(kLinePairBytes) std::atomic<uint32_t> unfinished{0};
  alignas(kLinePairBytes) std::atomic<uint32_t> arrived{0};
  alignas(kLinePairBytes) std::atomic<uint32_t> barrierEpoch{0};
};

} // namespace ckjit

/// ThreadTeam::barrier() for generated code; `team` is the ThreadTeam that runs it.
extern "C" void ckjit_barrier(void *team);

#endif
