/*===- Cores.h - How many threads to run with ----------------------*- C -*-===*/
#ifndef CKRT_CORES_H
#define CKRT_CORES_H

/** Cores that this process may use: the affinity of the calling thread, cut to the cgroup's CPU quota. At least 1. */
unsigned ckrt_usable_cores(void);

#endif
