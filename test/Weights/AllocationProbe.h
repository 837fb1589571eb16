//===- AllocationProbe.h - The largest allocation of a stretch of code ----===//
#ifndef CKJIT_TEST_WEIGHTS_ALLOCATIONPROBE_H
#define CKJIT_TEST_WEIGHTS_ALLOCATIONPROBE_H

#include <cstddef>

namespace ckjit::test {

/// Forgets what was allocated so far.
void resetLargestAllocation();
/// Bytes of the largest single `operator new` since then.
size_t largestAllocation();

} // namespace ckjit::test
#endif
