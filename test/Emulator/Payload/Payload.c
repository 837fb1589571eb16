//===- Payload.c - Runs the programs of the disk, one after the other -----===//
//
// Called by Boot.S on a processor without an operating system: one thread, all memory at its physical address. Compiled
// for general registers alone, so that vectors are the kernels'.
//
//===----------------------------------------------------------------------===//
#include "Disk.h"

// Registers of the first ATA channel.
enum { kData = 0x1F0, kCount = 0x1F2, kSector = 0x1F3, kDrive = 0x1F6, kCommand = 0x1F7, kControl = 0x3F6 };
enum { kRead = 0x20, kWrite = 0x30, kFlush = 0xE7 };
enum { kBusy = 0x80, kFault = 0x21, kWantsData = 0x08 };
enum { kDebugPort = 0xE9, kShutdownPort = 0x8900 };
enum { kSectorWords = kSectorBytes / 2, kTableRuns = kTableSectors * kSectorBytes / sizeof(struct DiskRun) };

typedef void (*Entry)(void *team, uint64_t tid, uint64_t threads, uint64_t tokens, uint64_t firstRow, uint64_t position,
                      const void *weights, void *state);

static void out(uint16_t port, uint8_t value) { __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port)); }

static uint8_t in(uint16_t port) {
  uint8_t value;
  __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

static void send(uint16_t port, const char *text) {
  while (*text)
    out(port, (uint8_t)*text++);
}

/// Bochs ends at this word on this port.
static void shutDown(void) {
  send(kShutdownPort, "Shutdown");
  for (;;)
    __asm__ volatile("hlt");
}

/// Waits until the disk has done what it was told, and, if it `wantsData`, is ready to pass a sector.
static void waitForDisk(int wantsData) {
  uint8_t status;
  do
    status = in(kCommand);
  while ((status & kBusy) || (wantsData && !(status & (kWantsData | kFault))));
  if (!(status & kFault))
    return;
  send(kDebugPort, "payload: the disk reports a fault\n");
  shutDown();
}

static void command(uint8_t code, uint32_t sector, uint8_t count) {
  waitForDisk(0);
  out(kCount, count);
  for (int byte = 0; byte < 3; ++byte)
    out((uint16_t)(kSector + byte), (uint8_t)(sector >> 8 * byte));
  out(kDrive, (uint8_t)(0xE0 | sector >> 24)); // addressed by sector number, the first drive
  out(kCommand, code);
}

static void readDisk(uint32_t sector, uint32_t count, void *to) {
  while (count--) {
    command(kRead, sector++, 1);
    waitForDisk(1);
    uint64_t words = kSectorWords;
    __asm__ volatile("rep insw" : "+D"(to), "+c"(words) : "d"((uint16_t)kData) : "memory");
  }
}

static void writeDisk(uint32_t sector, uint32_t count, const void *from) {
  while (count--) {
    command(kWrite, sector++, 1);
    waitForDisk(1);
    uint64_t words = kSectorWords;
    __asm__ volatile("rep outsw" : "+S"(from), "+c"(words) : "d"((uint16_t)kData) : "memory");
  }
}

static struct DiskRun *const table = (struct DiskRun *)(8 << 20);

/// A program that ends the processor is seen by the state that it leaves.
static void setState(uint32_t index, uint64_t state) {
  const uint32_t perSector = kSectorBytes / sizeof(struct DiskRun), sector = index / perSector;
  table[index].state = state;
  writeDisk(kTableSector + sector, 1, &table[sector * perSector]);
}

void runAll(void) {
  out(kControl, 2); // no interrupts
  readDisk(kTableSector, kTableSectors, table);
  for (uint32_t i = 0; i < kTableRuns && table[i].codeSectors; ++i) {
    const struct DiskRun *run = &table[i];
    void *code = (void *)kCodeAddress, *arena = (void *)kArenaAddress;
    setState(i, kStarted);
    readDisk(run->codeSector, run->codeSectors, code);
    readDisk(run->arenaSector, run->arenaSectors, arena);
    const Entry entry = *(Entry *)code;
    entry(0, 0, 1, run->tokens, run->firstRow, run->position, arena, arena);
    writeDisk(run->arenaSector, run->arenaSectors, arena);
    setState(i, kDone);
  }
  command(kFlush, 0, 0);
  waitForDisk(0);
  shutDown();
}
