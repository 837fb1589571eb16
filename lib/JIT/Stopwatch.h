//===- Stopwatch.h - Milliseconds of a scope --------------------*- C++ -*-===//
#ifndef CKJIT_LIB_JIT_STOPWATCH_H
#define CKJIT_LIB_JIT_STOPWATCH_H

#include <chrono>

namespace ckjit {

/// Adds the time since its construction to a counter, in milliseconds.
class Stopwatch {
public:
  explicit Stopwatch(double &milliseconds) : milliseconds(milliseconds) {}
  ~Stopwatch() {
    std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
    milliseconds += passed.count();
  }

private:
  double &milliseconds;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace ckjit
#endif
