//===- Disk.h - What host and payload tell each other by a disk -*- C++ -*-===//
//
// C and C++. The disk image: boot sector and payload, then from sector kTableSector on a table of runs, then the code and
// the arenas that they name.
//
//===----------------------------------------------------------------------===//
#ifndef CKJIT_TEST_EMULATOR_DISK_H
#define CKJIT_TEST_EMULATOR_DISK_H

#include <stdint.h>

enum {
  kSectorBytes = 512,
  kTableSector = 64,      /* the payload is shorter than this */
  kMostRuns = 1024,
  kTableSectors = kMostRuns * 64 / kSectorBytes,
  kCodeAddress = 16 << 20, /* of every run, one after the other; its first 8 bytes are the entry's address */
  kArenaAddress = 32 << 20,
  kMostBytes = 16 << 20, /* of code, of an arena */
  kMemoryMiB = 64,
  kUntouched = 0, /* DiskRun::state */
  kStarted = 1,
  kDone = 2,
};

/* A program and its arena: sectors of the disk, and what the entry is called with. The table ends with one of no code. */
struct DiskRun {
  uint32_t codeSector, codeSectors;
  uint32_t arenaSector, arenaSectors;
  uint64_t tokens, firstRow, position;
  uint64_t state;
  uint64_t reserved[2];
};

#endif
