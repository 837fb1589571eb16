/*===- Arena.c - The one allocation that holds a model --------------------===*/
#include "Arena.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static const uint64_t block_bytes = UINT64_C(2) << 20;

int ckrt_arena_reserve(struct ckrt_arena *arena, uint64_t bytes, struct ckrt_error *error) {
  /* One block more, to be able to start on a boundary. An x86-64 process has 2^47 bytes. */
  if (bytes == 0 || bytes > UINT64_C(1) << 47)
    return ckrt_fail(error, -1, "memory: cannot reserve %llu bytes", (unsigned long long)bytes);
  uint64_t reserved = (bytes + block_bytes - 1) / block_bytes * block_bytes, mapped = reserved + block_bytes;
  void *mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return ckrt_fail(error, -1, "memory: cannot reserve %llu bytes: %s", (unsigned long long)mapped, strerror(errno));
  uint64_t address = (uint64_t)(uintptr_t)mapping;
  uint64_t head = (address + block_bytes - 1) / block_bytes * block_bytes - address, tail = block_bytes - head;
  arena->base = (unsigned char *)mapping + head;
  arena->reserved = reserved;
  if (head)
    munmap(mapping, head);
  if (tail)
    munmap(arena->base + reserved, tail);
  /* Slots that no kernel writes must not become resident with their neighbours. */
  (void)madvise(arena->base, reserved, MADV_NOHUGEPAGE);
  return 0;
}

void ckrt_arena_advise_huge(struct ckrt_arena *arena, uint64_t offset, uint64_t bytes) {
  if (offset > arena->reserved || bytes > arena->reserved - offset)
    return;
  uint64_t first = (offset + block_bytes - 1) / block_bytes * block_bytes;
  uint64_t end = (offset + bytes) / block_bytes * block_bytes;
  if (first < end)
    (void)madvise(arena->base + first, end - first, MADV_HUGEPAGE);
}

void ckrt_arena_release(struct ckrt_arena *arena) {
  if (arena->base)
    munmap(arena->base, arena->reserved);
  arena->base = NULL;
  arena->reserved = 0;
}
