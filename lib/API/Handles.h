//===- Handles.h - What the C interface's handles hold ----------*- C++ -*-===//
#ifndef CKJIT_LIB_API_HANDLES_H
#define CKJIT_LIB_API_HANDLES_H

#include "Boundary.h"
#include "ckjit/Engine/Model.h"
#include "ckjit/Engine/Sampler.h"
#include "ckjit/Engine/Session.h"
#include "ckjit/Text/Vocabulary.h"
#include <memory>
#include <sys/types.h>

namespace ckjit::capi {

/// The callbacks of one call; none of them if NULL. An error means that the host cancelled.
struct Progress {
  ckjit_progress_fn function = nullptr;
  void *user = nullptr;
  llvm::Error tell(const char *stage, uint64_t done, uint64_t total) const;
};

struct EngineState {
  ckjit_engine_options options = {}; ///< without the strings
  TargetDescription target;
  std::optional<ObjectCache> cache; ///< none: every model is compiled
  pid_t process = 0; ///< that made it
  llvm::Error log(ckjit_log_level level, const llvm::Twine &message) const;
  /// Error in a child of the process that made it.
  llvm::Error checkProcess(llvm::StringRef what) const;
};

struct ModelState {
  std::shared_ptr<const EngineState> engine;
  std::string weights; ///< path of the file; empty for random ones
  std::string weightTypes; ///< describeTypes
  std::unique_ptr<Model> model;
  double loadMilliseconds = 0;
};

/// In front of every handle: tells whether a pointer is one, and of which kind. A handle that was destroyed is told
/// apart as long as its memory isn't used again.
enum class Kind : uint32_t {
  Engine = 0x434b4501,
  Model = 0x434b4d02,
  Session = 0x434b5303,
  Sampler = 0x434b4104,
  Vocabulary = 0x434b5605,
  Destroyed = 0x434bdead,
};

/// Error if `handle`, an argument called `name`, is NULL or not of its kind.
template <typename Handle> llvm::Error check(const Handle *handle, llvm::StringRef name) {
  if (llvm::Error error = notNull(handle, name))
    return error;
  if (handle->kind == Handle::kKind)
    return llvm::Error::success();
  return fail(CKJIT_INVALID_ARGUMENT, name + " is not a ckjit_" + name + ", or was destroyed");
}

/// The body of the ckjit_..._destroy functions.
template <typename Handle> void destroy(Handle *handle, llvm::StringRef name) {
  if (!handle)
    return;
  guard([&]() -> llvm::Error {
    if (llvm::Error error = check(handle, name))
      return error;
    // Through a volatile, or the compiler drops a store to what is freed next.
    const_cast<volatile Kind &>(handle->kind) = Kind::Destroyed;
    delete handle;
    return llvm::Error::success();
  });
}

/// The body of the functions that make a handle: `*result` is what `make` returns, or NULL.
template <typename Handle>
int create(Handle **result, llvm::StringRef name, llvm::function_ref<llvm::Expected<std::unique_ptr<Handle>>()> make) {
  if (result)
    *result = nullptr;
  return guard([&]() -> llvm::Error {
    if (llvm::Error error = notNull(result, name))
      return error;
    auto made = make();
    if (!made)
      return made.takeError();
    *result = made->release();
    return llvm::Error::success();
  });
}

} // namespace ckjit::capi

struct ckjit_engine {
  static constexpr auto kKind = ckjit::capi::Kind::Engine;
  ckjit::capi::Kind kind = kKind;
  std::shared_ptr<const ckjit::capi::EngineState> state;
};

struct ckjit_model {
  static constexpr auto kKind = ckjit::capi::Kind::Model;
  ckjit::capi::Kind kind = kKind;
  std::shared_ptr<ckjit::capi::ModelState> state;
};

struct ckjit_session {
  static constexpr auto kKind = ckjit::capi::Kind::Session;
  ckjit::capi::Kind kind = kKind;
  std::shared_ptr<ckjit::capi::ModelState> model; ///< outlives `session`
  std::unique_ptr<ckjit::Session> session;
  bool hasLosses = false; ///< the last append had targets
  int64_t firstRow = 0;   ///< of the last append
};

struct ckjit_sampler {
  static constexpr auto kKind = ckjit::capi::Kind::Sampler;
  ckjit::capi::Kind kind = kKind;
  ckjit::Sampler sampler;
};

struct ckjit_vocabulary {
  static constexpr auto kKind = ckjit::capi::Kind::Vocabulary;
  ckjit::capi::Kind kind = kKind;
  ckjit::Vocabulary vocabulary;
};

#endif
