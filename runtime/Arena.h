/*===- Arena.h - The one allocation that holds a model -------------*- C -*-===*/
#ifndef CKRT_ARENA_H
#define CKRT_ARENA_H

#include "Error.h"
#include <stddef.h>
#include <stdint.h>

/** Reserved, zero-filled address space: a page costs memory from its first touch on. */
struct ckrt_arena {
  unsigned char *base; /**< on a 2 MiB boundary; null: none */
  size_t reserved;
};

/** Reserves at least `bytes`; 0, or -1 when the system refuses. */
int ckrt_arena_reserve(struct ckrt_arena *arena, uint64_t bytes, struct ckrt_error *error);
/** Asks for huge pages in the whole 2 MiB blocks inside a range of the arena. */
void ckrt_arena_advise_huge(struct ckrt_arena *arena, uint64_t offset, uint64_t bytes);
void ckrt_arena_release(struct ckrt_arena *arena);

#endif
