//===- EngineApi.cpp - ckjit_engine ---------------------------------------===//
#include "Handles.h"
#include "ckjit/Runtime/ThreadTeam.h"
#include <unistd.h>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::capi;

static ckjit_engine_options engineDefaults() {
  ckjit_engine_options options = {};
  options.target_cpu = "native";
  options.cache = 1;
  return options;
}

Error Progress::tell(const char *stage, uint64_t done, uint64_t total) const {
  if (function && function(stage, done, total, user) != 0)
    return fail(CKJIT_CANCELLED, "cancelled by the progress callback in stage " + Twine(stage) + ", " + Twine(done) +
                                     " of " + Twine(total) + " done");
  return Error::success();
}

Error EngineState::log(ckjit_log_level level, const Twine &message) const {
  if (options.log && options.log(level, message.str().c_str(), options.log_user) != 0)
    return fail(CKJIT_CANCELLED, "cancelled by the log callback at: " + message);
  return Error::success();
}

Error EngineState::checkProcess(StringRef what) const {
  pid_t here = getpid();
  if (here == process)
    return Error::success();
  return fail(CKJIT_FORKED, what + " was made by process " + Twine(process) + ", and this is its child " +
                                Twine(here) + ": threads don't survive fork(); make an engine here");
}

static Expected<std::unique_ptr<ckjit_engine>> createEngine(const ckjit_engine_options *given) {
  auto options = readOptions(given, engineDefaults(), "ckjit_engine");
  if (!options)
    return options.takeError();
  if (options->threads > ThreadTeam::kMaxThreads)
    return fail(CKJIT_INVALID_ARGUMENT, "threads is " + Twine(options->threads) + ", expected at most " +
                                            Twine(ThreadTeam::kMaxThreads));
  if (options->activations < CKJIT_ACTIVATIONS_AUTO || options->activations > CKJIT_ACTIVATIONS_FP32)
    return fail(CKJIT_INVALID_ARGUMENT, "activations is " + Twine(options->activations) +
                                            ", expected a ckjit_activations, 0 to 2");
  if (options->strict && options->activations == CKJIT_ACTIVATIONS_INT8)
    return fail(CKJIT_INVALID_ARGUMENT, "strict is set and activations is CKJIT_ACTIVATIONS_INT8, expected one of them: "
                                        "sums of codes aren't double");
  if (Error error = notEmpty(options->cache_dir, "cache_dir"))
    return error;
  StringRef cpu = options->target_cpu ? options->target_cpu : engineDefaults().target_cpu;
  auto target = describeTarget(cpu);
  if (!target)
    return withStatus(cpu == "native" ? CKJIT_FAILED : CKJIT_INVALID_ARGUMENT, target.takeError());
  if (Error error = checkRunsHere(*target))
    return withStatus(CKJIT_UNSUPPORTED, std::move(error));
  auto state = std::make_shared<EngineState>();
  state->options = *options;
  state->options.target_cpu = state->options.cache_dir = nullptr;
  if (options->cache) {
    std::string folder = options->cache_dir ? options->cache_dir : ObjectCache::defaultFolder();
    if (!folder.empty())
      state->cache.emplace(std::move(folder));
  } else if (options->cache_dir) {
    return fail(CKJIT_INVALID_ARGUMENT, "cache_dir is given and cache is 0, expected one of them");
  }
  state->target = std::move(*target);
  state->process = getpid();
  const unsigned cores = usableCores();
  if (options->threads > cores)
    if (Error error = state->log(CKJIT_LOG_WARNING, "threads is " + Twine(options->threads) +
                                                        ", more than the " + Twine(cores) + " usable cores"))
      return error;
  if (Error error = state->log(CKJIT_LOG_DEBUG, "engine for " + state->target.cpu + ", " +
                                                    Twine(state->target.vectorBits) + " bits a vector"))
    return error;
  return std::unique_ptr<ckjit_engine>(new ckjit_engine{.state = std::move(state)});
}

extern "C" {

int ckjit_engine_options_init(ckjit_engine_options *options, size_t struct_size) {
  return initOptions(options, struct_size, engineDefaults(), "ckjit_engine_options");
}

int ckjit_engine_create(const ckjit_engine_options *options, ckjit_engine **engine) {
  return create<ckjit_engine>(engine, "engine", [&] { return createEngine(options); });
}

void ckjit_engine_destroy(ckjit_engine *engine) { destroy(engine, "engine"); }

} // extern "C"
