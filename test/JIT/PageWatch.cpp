//===- PageWatch.cpp - What pages a stretch of code asks for --------------===//
#include "PageWatch.h"
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<unsigned> executable{0}, both{0};

void ckjit::test::resetPageCalls() { executable = both = 0; }
ckjit::test::PageCalls ckjit::test::pageCalls() { return {executable, both}; }

static void count(int rights) {
  if (!(rights & PROT_EXEC))
    return;
  ++executable;
  if (rights & PROT_WRITE)
    ++both;
}

// The program's own functions of these names come before the C library's, also for the shared libraries it loads.
extern "C" {
void *mmap(void *address, size_t length, int rights, int flags, int file, off_t offset) noexcept {
  count(rights);
  return reinterpret_cast<void *>(syscall(SYS_mmap, address, length, rights, flags, file, offset));
}
void *mmap64(void *address, size_t length, int rights, int flags, int file, off_t offset) noexcept {
  return mmap(address, length, rights, flags, file, offset);
}
int mprotect(void *address, size_t length, int rights) noexcept {
  count(rights);
  return static_cast<int>(syscall(SYS_mprotect, address, length, rights));
}
int pkey_mprotect(void *address, size_t length, int rights, int key) noexcept {
  count(rights);
  return static_cast<int>(syscall(SYS_pkey_mprotect, address, length, rights, key));
}
}

std::vector<ckjit::test::Mapping> ckjit::test::mappings() {
  std::vector<Mapping> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, end = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &end, rights) == 3)
      all.push_back({first, end, rights, line});
  }
  return all;
}
