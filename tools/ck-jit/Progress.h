//===- Progress.h - What a long step is at ----------------------*- C++ -*-===//
#ifndef CKJIT_TOOLS_PROGRESS_H
#define CKJIT_TOOLS_PROGRESS_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace ckjit::tool {

/// A line on the terminal that tells what is being done, as long as this object lives: nothing before a second has
/// passed, then the share done or, where none is known, the seconds. Silent when stderr is no terminal.
class Progress {
public:
  /// `step` as in "loading".
  explicit Progress(std::string step);
  ~Progress();
  Progress(const Progress &) = delete;

  /// From any thread.
  void show(uint64_t done, uint64_t total);

private:
  void watch();

  std::string step;
  std::atomic<int> percent = -1;
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::thread watcher; ///< a step may tell nothing on its way; only on a terminal
};

} // namespace ckjit::tool
#endif
