/*===- Team.h - Threads that run one program together --------------*- C -*-===*\
|* The counterpart of ckjit::ThreadTeam: every thread runs the same body at once, each on its share.
\*===----------------------------------------------------------------------===*/
#ifndef CKRT_TEAM_H
#define CKRT_TEAM_H

enum { CKRT_MAX_THREADS = 1024 };

struct ckrt_team;
typedef void ckrt_body(void *argument, unsigned tid, unsigned threads);

/** A team of `threads` (1 to CKRT_MAX_THREADS), the caller of ckrt_team_run counted; of fewer where the system
 *  starts no more, since results don't depend on the number. Null when memory is short. */
struct ckrt_team *ckrt_team_start(unsigned threads, unsigned cores);
/** Ends the threads. In a child of fork(), which has none of them, only the memory is given back. */
void ckrt_team_stop(struct ckrt_team *team);
/** Runs `body` on every thread, tid 0 on the calling one, and returns when all have finished. */
void ckrt_team_run(struct ckrt_team *team, ckrt_body *body, void *argument);
/** False in a child of fork(): its threads stayed behind. */
int ckrt_team_is_whole(const struct ckrt_team *team);

/** For generated code, inside a body: returns when every thread of the team has called it as often. */
void ckjit_barrier(void *team);

#endif
