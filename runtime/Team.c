/*===- Team.c - Threads that run one program together ---------------------===*/
#include "Team.h"
#include <fenv.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** How long to keep the core while waiting: spinning, then offering the core to others, then asleep. */
struct patience {
  int64_t spin_ns, yield_ns;
};

/** A word that threads wait for. Two lines each: the hardware fetches them in pairs. */
struct word {
  _Alignas(128) _Atomic uint32_t value;
  _Atomic uint32_t sleepers;
};

struct ckrt_team {
  unsigned threads;
  struct patience at_barrier, idle;
  pid_t owner;
  pthread_t *workers; /**< threads - 1 */
  ckrt_body *body;    /**< published, like the two below, by `job` */
  void *argument;
  int stopping;
  _Atomic unsigned next_tid;
  struct word job, unfinished, arrived, epoch;
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int changed(struct word *word, uint32_t value) {
  return atomic_load_explicit(&word->value, memory_order_acquire) != value;
}

/** A waker skips its system call if it sees no sleeper: the sleeper counts itself before it looks at the value a last
 *  time, the waker writes the value before it looks at the count (both sequentially consistent). */
static void sleep_while_equal(struct word *word, uint32_t value) {
  atomic_fetch_add(&word->sleepers, 1);
  while (atomic_load(&word->value) == value)
    syscall(SYS_futex, &word->value, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
  atomic_fetch_sub(&word->sleepers, 1);
}

static void wake_all(struct word *word) {
  if (atomic_load(&word->sleepers))
    syscall(SYS_futex, &word->value, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void wait_while_equal(struct word *word, uint32_t value, struct patience patience) {
  if (changed(word, value))
    return;
  int64_t start = now_ns();
  while (now_ns() - start < patience.spin_ns)
    for (int i = 0; i < 32; ++i) {
      if (changed(word, value))
        return;
      __builtin_ia32_pause();
    }
  while (now_ns() - start < patience.yield_ns) {
    if (changed(word, value))
      return;
    sched_yield();
  }
  sleep_while_equal(word, value);
}

static void *work(void *argument) {
  struct ckrt_team *team = argument;
  unsigned tid = atomic_fetch_add(&team->next_tid, 1);
  for (uint32_t seen = 0;; ++seen) {
    wait_while_equal(&team->job, seen, team->idle);
    if (team->stopping)
      return NULL;
    team->body(team->argument, tid, team->threads);
    if (atomic_fetch_sub(&team->unfinished.value, 1) == 1)
      wake_all(&team->unfinished);
  }
}

/** The host's signals are its own threads' affair, and so are its roundings. */
static unsigned start_workers(struct ckrt_team *team, unsigned threads) {
  sigset_t all, before;
  fenv_t floats;
  fegetenv(&floats);
  fesetenv(FE_DFL_ENV);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  unsigned started = 1;
  while (started < threads && pthread_create(&team->workers[started - 1], NULL, work, team) == 0)
    ++started;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  fesetenv(&floats);
  return started;
}

struct ckrt_team *ckrt_team_start(unsigned threads, unsigned cores) {
  struct ckrt_team *team = aligned_alloc(_Alignof(struct ckrt_team), sizeof *team);
  if (!team)
    return NULL;
  *team = (struct ckrt_team){.owner = getpid(), .next_tid = 1};
  team->workers = calloc(threads, sizeof *team->workers);
  if (!team->workers) {
    free(team);
    return NULL;
  }
  int crowded = threads > cores;
  team->at_barrier = crowded ? (struct patience){0, 20000} : (struct patience){30000, 1000000};
  team->idle = crowded ? (struct patience){0, 20000} : (struct patience){60000, 100000};
  /* Read by the workers only after the first job. */
  team->threads = start_workers(team, threads);
  return team;
}

void ckrt_team_stop(struct ckrt_team *team) {
  if (!team)
    return;
  if (ckrt_team_is_whole(team)) {
    team->stopping = 1;
    atomic_fetch_add(&team->job.value, 1);
    wake_all(&team->job);
    for (unsigned i = 0; i + 1 < team->threads; ++i)
      pthread_join(team->workers[i], NULL);
  }
  free(team->workers);
  free(team);
}

int ckrt_team_is_whole(const struct ckrt_team *team) { return team->owner == getpid(); }

void ckrt_team_run(struct ckrt_team *team, ckrt_body *body, void *argument) {
  if (team->threads == 1) {
    body(argument, 0, 1);
    return;
  }
  team->body = body;
  team->argument = argument;
  atomic_store_explicit(&team->unfinished.value, team->threads - 1, memory_order_relaxed);
  atomic_fetch_add(&team->job.value, 1);
  wake_all(&team->job);
  body(argument, 0, team->threads);
  uint32_t left;
  while ((left = atomic_load_explicit(&team->unfinished.value, memory_order_acquire)) != 0)
    wait_while_equal(&team->unfinished, left, team->at_barrier);
}

void ckjit_barrier(void *pointer) {
  struct ckrt_team *team = pointer;
  if (team->threads == 1)
    return;
  /* Can't change before this thread arrives. */
  uint32_t epoch = atomic_load_explicit(&team->epoch.value, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&team->arrived.value, 1, memory_order_acq_rel) + 1 < team->threads) {
    wait_while_equal(&team->epoch, epoch, team->at_barrier);
    return;
  }
  atomic_store_explicit(&team->arrived.value, 0, memory_order_relaxed);
  atomic_fetch_add(&team->epoch.value, 1);
  wake_all(&team->epoch);
}
