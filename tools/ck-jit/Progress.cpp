//===- Progress.cpp - What a long step is at ------------------------------===//
#include "Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <fmt/format.h>

using namespace llvm;
using namespace ckjit::tool;
using namespace std::chrono_literals;

static constexpr auto kSilence = 1s;
static constexpr auto kInterval = 200ms;

Progress::Progress(std::string step) : step(std::move(step)) {
  if (sys::Process::StandardErrIsDisplayed())
    watcher = std::thread([this] { watch(); });
}

Progress::~Progress() {
  if (!watcher.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    over = true;
  }
  ended.notify_one();
  watcher.join();
}

void Progress::show(uint64_t done, uint64_t total) {
  percent = total ? static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total)) : 100;
}

void Progress::watch() {
  auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  if (ended.wait_for(lock, kSilence, [this] { return over; }))
    return;
  do {
    int now = percent;
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    errs() << "\r" << step << (now < 0 ? fmt::format(": {} s", seconds.count()) : fmt::format(": {} %", now))
           << "\033[K";
  } while (!ended.wait_for(lock, kInterval, [this] { return over; }));
  errs() << "\r\033[K";
}
