//===- AllocationProbe.cpp - The largest allocation of a stretch of code --===//
#include "AllocationProbe.h"
#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<size_t> largest{0};

void ckjit::test::resetLargestAllocation() { largest = 0; }
size_t ckjit::test::largestAllocation() { return largest; }

// Every form that pairs with a replaced delete, so that a sanitizer sees one allocator.
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  if (size > largest)
    largest = size;
  return std::malloc(size ? size : 1);
}
void *operator new(size_t size) {
  if (void *memory = operator new(size, std::nothrow))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
