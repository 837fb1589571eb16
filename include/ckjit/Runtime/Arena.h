//===- Arena.h - The one allocation that holds a model ----------*- C++ -*-===//
#ifndef CKJIT_RUNTIME_ARENA_H
#define CKJIT_RUNTIME_ARENA_H

#include "llvm/Support/Error.h"
#include <cstddef>
#include <cstdint>

namespace ckjit {

/// Reserved, zero-filled address space for the buffers of an ArenaPlan. A page costs
/// memory from the first touch on, and only that page: huge pages are off except where
/// adviseHuge() asks for them. Owns the mapping; movable, not copyable.
class Arena {
public:
  /// Start and size of an arena are multiples of this.
  static constexpr uint64_t kBlockBytes = uint64_t(2) << 20;

  /// Reserves at least `bytes` (rounded up to kBlockBytes). Error, with the size asked for
  /// and the limit it met, if `bytes` is 0, can't be rounded, or the system refuses.
  static llvm::Expected<Arena> reserve(uint64_t bytes);

  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena();

  /// First byte, aligned to kBlockBytes; null once moved from.
  std::byte *data() const { return base; }

  /// Reserved bytes, a multiple of kBlockBytes.
  uint64_t size() const { return reserved; }

  /// Asks for huge pages in the whole 2 MiB blocks that lie inside [offset, offset + bytes),
  /// so a neighbour's pages are never made resident. Returns the bytes so advised (0 when no
  /// block fits, or the kernel has no huge pages). Error if the range leaves the arena.
  llvm::Expected<uint64_t> adviseHuge(uint64_t offset, uint64_t bytes);

  /// Bytes of the arena that are in memory now (whole pages). Error if the system can't tell.
  llvm::Expected<uint64_t> residentBytes() const;

private:
  Arena(std::byte *base, uint64_t reserved) : base(base), reserved(reserved) {}
  void release();

  std::byte *base = nullptr;
  uint64_t reserved = 0;
};

} // namespace ckjit
#endif
