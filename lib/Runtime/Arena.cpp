//===- Arena.cpp - The one allocation that holds a model ------------------===//
#include "ckjit/Runtime/Arena.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cerrno>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace llvm;

namespace ckjit {
namespace {

/// `bytes` rounded up to whole blocks, and that plus the one block lost to alignment.
struct ReservationSizes {
  uint64_t arena = 0;
  uint64_t mapping = 0;
};

std::optional<ReservationSizes> reservationSizes(uint64_t bytes) {
  const std::optional<uint64_t> padded = checkedAddUnsigned(bytes, Arena::kBlockBytes - 1);
  if (!padded)
    return std::nullopt;
  const uint64_t arena = *padded / Arena::kBlockBytes * Arena::kBlockBytes;
  const std::optional<uint64_t> mapping = checkedAddUnsigned(arena, Arena::kBlockBytes);
  if (!mapping)
    return std::nullopt;
  return ReservationSizes{arena, *mapping};
}

std::string addressSpaceLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "unlimited";
  return formatv("{0} bytes", static_cast<uint64_t>(limit.rlim_cur)).str();
}

Error reservationRefused(uint64_t bytes, uint64_t mapping, int errorNumber) {
  return createStringError(formatv(
      "arena: cannot reserve {0} bytes of address space ({1} with alignment): {2}; the process limit "
      "(ulimit -v) is {3}, an x86-64 process has 2^47 bytes at most, and vm.overcommit_memory=2 counts "
      "reservations as memory; choose a shorter context or a smaller model, or raise the limit",
      bytes, mapping, std::generic_category().message(errorNumber), addressSpaceLimit()));
}

/// Gives back what lies before and behind the aligned part of a mapping.
std::byte *trimToAlignment(std::byte *mapping, const ReservationSizes &sizes) {
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  const uint64_t head = alignTo(address, Arena::kBlockBytes) - address;
  const uint64_t tail = sizes.mapping - sizes.arena - head;
  std::byte *base = mapping + head;
  if (head)
    munmap(mapping, head);
  if (tail)
    munmap(base + sizes.arena, tail);
  return base;
}

} // namespace

Expected<Arena> Arena::reserve(uint64_t bytes) {
  if (bytes == 0)
    return createStringError("arena: asked to reserve 0 bytes, expected at least 1");
  const std::optional<ReservationSizes> sizes = reservationSizes(bytes);
  if (!sizes)
    return createStringError(formatv("arena: asked to reserve {0} bytes, which exceeds 64 bits when rounded to {1}; "
                                     "choose a shorter context or a smaller model",
                                     bytes, kBlockBytes));
  void *mapping = mmap(nullptr, sizes->mapping, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return reservationRefused(bytes, sizes->mapping, errno);
  Arena arena(trimToAlignment(static_cast<std::byte *>(mapping), *sizes), sizes->arena);
  // Refused only by kernels without huge pages, where nothing needs turning off.
  (void)madvise(arena.base, arena.reserved, MADV_NOHUGEPAGE);
  return arena;
}

Arena::Arena(Arena &&other) noexcept
    : base(std::exchange(other.base, nullptr)), reserved(std::exchange(other.reserved, 0)) {}

Arena &Arena::operator=(Arena &&other) noexcept {
  if (this != &other) {
    release();
    base = std::exchange(other.base, nullptr);
    reserved = std::exchange(other.reserved, 0);
  }
  return *this;
}

Arena::~Arena() { release(); }

void Arena::release() {
  if (base)
    munmap(base, reserved);
}

Expected<uint64_t> Arena::adviseHuge(uint64_t offset, uint64_t bytes) {
  if (offset > reserved || bytes > reserved - offset)
    return createStringError(formatv("arena: huge pages asked for {0} bytes at offset {1}, expected a range inside "
                                     "the arena's {2} bytes",
                                     bytes, offset, reserved));
  const uint64_t first = alignTo(offset, kBlockBytes);
  const uint64_t end = alignDown(offset + bytes, kBlockBytes);
  if (first >= end)
    return 0;
  const bool advised = madvise(base + first, end - first, MADV_HUGEPAGE) == 0;
  return advised ? end - first : 0;
}

Expected<uint64_t> Arena::residentBytes() const {
  // In portions: a reservation of a TiB has a state byte for each of its 2^28 pages.
  constexpr uint64_t kPortionBytes = 32 * kBlockBytes;
  const auto pageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> states(kPortionBytes / pageBytes);
  uint64_t pages = 0;
  for (uint64_t offset = 0; offset < reserved; offset += kPortionBytes) {
    const uint64_t length = std::min(kPortionBytes, reserved - offset);
    if (mincore(base + offset, length, states.data()) != 0)
      return createStringError(formatv("arena: cannot ask which pages are resident at offset {0}: {1}", offset,
                                       std::generic_category().message(errno)));
    pages += static_cast<uint64_t>(std::count_if(states.begin(), states.begin() + length / pageBytes,
                                                 [](unsigned char state) { return state & 1; }));
  }
  return pages * pageBytes;
}

} // namespace ckjit
