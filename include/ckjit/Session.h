//===- Session.h - One conversation with a model ----------------*- C++ -*-===//
#ifndef CKJIT_API_SESSION_H
#define CKJIT_API_SESSION_H

#include <ckjit/Model.h>

#include <vector>

namespace ckjit {
inline namespace api {

struct AppendOptions {
  int64_t firstRow = -1;        ///< logits are computed from this of the appended tokens on; -1: for the last only
  std::vector<int32_t> targets; ///< none, or the id expected behind each token, for losses()
  Progress progress;            ///< stage append
};

/// Tokens, what they left in the cache, and the logits computed last. For one thread at a time.
class Session {
public:
  /// An empty session for up to `capacity` tokens; 0: the context.
  static Expected<Session> create(const Model &model, int64_t capacity = 0) {
    ckjit_model_info info = {};
    info.struct_size = sizeof info;
    Status status = detail::finish(ckjit_model_get_info(model.get(), &info));
    if (!status)
      return status;
    ckjit_session *made = nullptr;
    status = detail::finish(ckjit_session_create(model.get(), capacity, &made));
    if (!status)
      return status;
    return Session(made, info.vocabulary);
  }

  /// A session of its own with the same tokens, logits and losses.
  Expected<Session> copy() const {
    ckjit_session *made = nullptr;
    Status status = detail::finish(ckjit_session_copy(handle.get(), &made));
    if (!status)
      return status;
    return Session(made, vocabulary);
  }

  /// Runs `count` ids behind those the session holds. CKJIT_CACHE_FULL if they don't fit.
  Status append(const int32_t *ids, size_t count, const AppendOptions &options = {}) {
    if (!options.targets.empty() && options.targets.size() != count)
      return {CKJIT_INVALID_ARGUMENT, "got " + std::to_string(options.targets.size()) + " targets for " +
                                          std::to_string(count) + " tokens"};
    ckjit_append_options c = ckjit_append_default_options();
    c.first_row = options.firstRow;
    c.targets = options.targets.empty() ? nullptr : options.targets.data();
    if (options.progress) {
      c.progress = detail::progress;
      c.progress_user = const_cast<Progress *>(&options.progress);
    }
    return detail::finish(ckjit_session_append(handle.get(), ids, static_cast<int64_t>(count), &c));
  }
  Status append(const std::vector<int32_t> &ids, const AppendOptions &options = {}) {
    static const int32_t none = 0; // an empty vector has no address of its own
    return append(ids.empty() ? &none : ids.data(), ids.size(), options);
  }
  Status append(int32_t id) { return detail::finish(ckjit_session_append(handle.get(), &id, 1, nullptr)); }

  /// Logits [V] of row `row` of the last append, or of its last row; until the session changes.
  Expected<Span<float>> logits(int64_t row) const {
    const float *data = nullptr;
    int code = ckjit_session_logits(handle.get(), row, &data);
    return wrap(code, data, vocabulary);
  }
  Expected<Span<float>> lastLogits() const {
    const float *data = nullptr;
    int code = ckjit_session_last_logits(handle.get(), &data);
    return wrap(code, data, vocabulary);
  }
  /// Cross entropies of the last append's rows from its first row on; none if it had no targets.
  Expected<Span<float>> losses() const {
    const float *data = nullptr;
    int64_t count = 0;
    int code = ckjit_session_losses(handle.get(), &data, &count);
    return wrap(code, data, count);
  }

  int64_t cached() const { return ckjit_session_cached(handle.get()); }
  int64_t capacity() const { return ckjit_session_capacity(handle.get()); }
  /// Forgets all but the first `count` tokens; or all.
  Status truncate(int64_t count) { return detail::finish(ckjit_session_truncate(handle.get(), count)); }
  Status reset() { return detail::finish(ckjit_session_reset(handle.get())); }

  ckjit_session *get() const { return handle.get(); }

private:
  Session(ckjit_session *session, int64_t size) : handle(session), vocabulary(size) {}
  static Expected<Span<float>> wrap(int code, const float *data, int64_t size) {
    Status status = detail::finish(code);
    if (!status)
      return status;
    return Span<float>{data, static_cast<size_t>(size)};
  }

  detail::Owner<ckjit_session, ckjit_session_destroy> handle;
  int64_t vocabulary; ///< V of the model
};

} // namespace api
} // namespace ckjit
#endif
