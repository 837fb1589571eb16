//===- Engine.h - How models are compiled and run ---------------*- C++ -*-===//
#ifndef CKJIT_API_ENGINE_H
#define CKJIT_API_ENGINE_H

#include <ckjit/Expected.h>

namespace ckjit {
inline namespace api {

struct EngineOptions {
  uint32_t threads = 0;           ///< of each model; 0: as many as the process may use cores
  bool strict = false;            ///< sum in double and round once, exact exp
  std::string targetCpu = "native"; ///< or the name of an x86-64 CPU whose instructions this machine has
  bool cache = true;              ///< keep compiled code on disk
  std::string cacheDir;           ///< where; empty: $XDG_CACHE_HOME/ck-jit, else ~/.cache/ck-jit
  bool perf = false;              ///< tell perf of kernels, by a jitdump file
  bool gdb = false;               ///< tell debuggers of kernels
  ckjit_activations activations = CKJIT_ACTIVATIONS_AUTO; ///< what quantized weights multiply
  Log log;                        ///< none: silence. Called by the threads that open models
};

/// Opens models. May be used by several threads at once, and destroyed before its models.
class Engine {
public:
  static Expected<Engine> create(EngineOptions options = {}) {
    Engine engine;
    ckjit_engine_options c = ckjit_engine_default_options();
    c.threads = options.threads;
    c.strict = options.strict;
    c.target_cpu = options.targetCpu.c_str();
    c.cache = options.cache;
    c.cache_dir = options.cacheDir.empty() ? nullptr : options.cacheDir.c_str();
    c.perf = options.perf;
    c.gdb = options.gdb;
    c.activations = options.activations;
    if (options.log) {
      engine.log = std::make_unique<Log>(std::move(options.log));
      c.log = detail::log;
      c.log_user = engine.log.get();
    }
    ckjit_engine *made = nullptr;
    Status status = detail::finish(ckjit_engine_create(&c, &made));
    engine.handle.reset(made);
    if (!status)
      return status;
    return engine;
  }

  ckjit_engine *get() const { return handle.get(); }

private:
  Engine() = default;
  std::unique_ptr<Log> log; ///< outlives the handle
  detail::Owner<ckjit_engine, ckjit_engine_destroy> handle;
};

} // namespace api
} // namespace ckjit
#endif
