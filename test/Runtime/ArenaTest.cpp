//===- ArenaTest.cpp - The one allocation that holds a model --------------===//
#include "ckjit/Runtime/Arena.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

using namespace ckjit;

// An address space limit would stop the sanitizers' own mappings.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CKJIT_TEST_LIMITS 0
#else
#define CKJIT_TEST_LIMITS 1
#endif

namespace {

constexpr uint64_t kMiB = uint64_t(1) << 20;
constexpr uint64_t kGiB = uint64_t(1) << 30;

Arena reserved(uint64_t bytes) {
  llvm::Expected<Arena> arena = Arena::reserve(bytes);
  if (!arena)
    FAIL(llvm::toString(arena.takeError()));
  return std::move(*arena);
}

std::string reserveError(uint64_t bytes) {
  llvm::Expected<Arena> arena = Arena::reserve(bytes);
  return arena ? std::string() : llvm::toString(arena.takeError());
}

uint64_t resident(const Arena &arena) {
  llvm::Expected<uint64_t> bytes = arena.residentBytes();
  if (!bytes)
    FAIL(llvm::toString(bytes.takeError()));
  return *bytes;
}

uint64_t advised(Arena &arena, uint64_t offset, uint64_t bytes) {
  llvm::Expected<uint64_t> count = arena.adviseHuge(offset, bytes);
  if (!count)
    FAIL(llvm::toString(count.takeError()));
  return *count;
}

uint64_t pageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

/// With strict accounting even untouched reservations count as memory.
bool systemCountsReservations() {
  int mode = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> mode;
  return mode == 2;
}

/// Kernels without huge pages refuse the advice.
bool kernelHasHugePages() { return access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0; }

} // namespace

static_assert(!std::is_copy_constructible_v<Arena> && !std::is_copy_assignable_v<Arena>);
static_assert(std::is_nothrow_move_constructible_v<Arena> && std::is_nothrow_move_assignable_v<Arena>);

TEST_CASE("arena: size is rounded to 2 MiB, base is 2 MiB aligned") {
  for (auto [asked, expected] : {std::pair{uint64_t(1), 2 * kMiB}, std::pair{2 * kMiB, 2 * kMiB},
                                 std::pair{2 * kMiB + 1, 4 * kMiB}, std::pair{7 * kMiB, 8 * kMiB}}) {
    const Arena arena = reserved(asked);
    CHECK(arena.size() == expected);
    CHECK(reinterpret_cast<uintptr_t>(arena.data()) % (2 * kMiB) == 0u);
  }
}

TEST_CASE("arena: zero-filled and writable to its last byte") {
  const Arena arena = reserved(3 * kMiB);
  CHECK(std::all_of(arena.data(), arena.data() + arena.size(), [](std::byte b) { return b == std::byte{0}; }));
  arena.data()[0] = std::byte{1};
  arena.data()[arena.size() - 1] = std::byte{2};
  CHECK(arena.data()[0] == std::byte{1});
  CHECK(arena.data()[arena.size() - 1] == std::byte{2});
}

TEST_CASE("arena: 64 GiB cost nothing until they are touched") {
  if (systemCountsReservations()) {
    WARN("skipped: vm.overcommit_memory is 2");
    return;
  }
  const Arena arena = reserved(64 * kGiB);
  CHECK(resident(arena) == 0u);
  arena.data()[63 * kGiB] = std::byte{1};
  CHECK(resident(arena) == pageBytes());
}

TEST_CASE("arena: touching interleaved slots makes only their pages resident") {
  const Arena arena = reserved(64 * kMiB);
  const uint64_t slots = 64 * kMiB / (256 * 1024);
  for (uint64_t slot = 0; slot < slots; ++slot)
    arena.data()[slot * 256 * 1024] = std::byte{1};
  CHECK(resident(arena) == slots * pageBytes());
}

TEST_CASE("arena: huge pages only in whole 2 MiB blocks inside the range") {
  if (!kernelHasHugePages()) {
    WARN("skipped: this kernel has no transparent huge pages");
    return;
  }
  Arena arena = reserved(16 * kMiB);
  CHECK(advised(arena, 0, 0) == 0u);
  CHECK(advised(arena, 64, 4 * kMiB - 128) == 0u);        // two parts of blocks
  CHECK(advised(arena, 64, 4 * kMiB) == 2 * kMiB);        // only the second is whole
  CHECK(advised(arena, 2 * kMiB, 4 * kMiB) == 4 * kMiB);  // exactly two
  CHECK(advised(arena, 16 * kMiB, 0) == 0u);              // empty, at the end
  CHECK(advised(arena, 0, 16 * kMiB) == 16 * kMiB);
}

TEST_CASE("arena: blocks outside the advised range keep small pages") {
  Arena arena = reserved(8 * kMiB);
  (void)advised(arena, 2 * kMiB, 2 * kMiB);
  arena.data()[0] = std::byte{1};
  arena.data()[4 * kMiB] = std::byte{1};
  CHECK(resident(arena) == 2 * pageBytes());
  arena.data()[2 * kMiB] = std::byte{1};
  CHECK(resident(arena) <= 2 * kMiB + 2 * pageBytes()); // a huge page, if the system grants it
}

TEST_CASE("arena: advice beyond the arena is refused with both numbers") {
  Arena arena = reserved(4 * kMiB);
  for (auto [offset, bytes] : {std::pair{4 * kMiB, uint64_t(1)}, std::pair{uint64_t(0), 4 * kMiB + 1},
                               std::pair{UINT64_MAX, uint64_t(2)}, std::pair{kMiB, UINT64_MAX}}) {
    llvm::Expected<uint64_t> result = arena.adviseHuge(offset, bytes);
    REQUIRE_FALSE(bool(result));
    CHECK_THAT(llvm::toString(result.takeError()), Catch::Contains(std::to_string(offset)) &&
                                                       Catch::Contains(std::to_string(bytes)) &&
                                                       Catch::Contains("4194304"));
  }
}

TEST_CASE("arena: moving hands over the mapping") {
  Arena first = reserved(2 * kMiB);
  std::byte *const base = first.data();
  base[5] = std::byte{7};
  Arena second = std::move(first);
  CHECK(first.data() == nullptr);
  CHECK(first.size() == 0u);
  CHECK(second.data() == base);
  second = reserved(4 * kMiB);
  CHECK(second.size() == 4 * kMiB);
  second.data()[4 * kMiB - 1] = std::byte{1};
  CHECK(resident(second) == pageBytes());
  CHECK(resident(first) == 0u);
}

TEST_CASE("arena: sizes that can't be reserved are errors naming the size") {
  CHECK_THAT(reserveError(0), Catch::Contains("0 bytes") && Catch::Contains("at least 1"));
  CHECK_THAT(reserveError(UINT64_MAX), Catch::Contains("18446744073709551615") && Catch::Contains("64 bits"));
  // Rounds up without overflow, but the block for alignment no longer fits.
  CHECK_THAT(reserveError(UINT64_MAX - 3 * kMiB), Catch::Contains("64 bits"));
  // More than any x86-64 process can map.
  CHECK_THAT(reserveError(uint64_t(1) << 60),
             Catch::Contains("1152921504606846976") && Catch::Contains("Cannot allocate memory") &&
                 Catch::Contains("ulimit -v"));
}

#if CKJIT_TEST_LIMITS
TEST_CASE("arena: the error tells the process limit it met") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const rlim_t limit = 8 * kGiB;
  if (before.rlim_max != RLIM_INFINITY && before.rlim_max < limit) {
    WARN("skipped: this process is limited already");
    return;
  }
  rlimit lowered{limit, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &lowered) == 0);
  const std::string message = reserveError(16 * kGiB);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK_THAT(message, Catch::Contains("17179869184") && Catch::Contains("8589934592"));
}
#endif
