//===- SessionApi.cpp - ckjit_session -------------------------------------===//
#include "Handles.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::capi;

static_assert(CKJIT_IGNORED_TARGET == kIgnoredTarget);

namespace {

constexpr int64_t kLastRow = -1;

ckjit_append_options appendDefaults() {
  ckjit_append_options options = {};
  options.first_row = kLastRow;
  return options;
}

Error checkUsable(const ckjit_session *session) {
  if (Error error = check(session, "session"))
    return error;
  return session->model->engine->checkProcess("the session");
}

Error append(ckjit_session &session, const int32_t *ids, int64_t count, const ckjit_append_options *given) {
  auto read = readOptions(given, appendDefaults(), "ckjit_append");
  if (!read)
    return read.takeError();
  const ckjit_append_options &options = *read;
  if (count < 0)
    return fail(CKJIT_INVALID_ARGUMENT, "count is " + Twine(count) + ", expected 1 or more");
  Session &to = *session.session;
  ArrayRef<int32_t> tokens(ids, static_cast<size_t>(count)), targets;
  if (options.targets)
    targets = ArrayRef(options.targets, static_cast<size_t>(count));
  int64_t firstRow = options.first_row == kLastRow ? std::max<int64_t>(count - 1, 0) : options.first_row;
  // Everything but this is a fault of the arguments.
  bool full = count > to.capacity() - to.cached();
  Progress progress{options.progress, options.progress_user};
  auto tell = [&](int64_t done, int64_t total) {
    return progress.tell("append", static_cast<uint64_t>(done), static_cast<uint64_t>(total));
  };
  if (Error error = to.append(tokens, firstRow, targets, tell))
    return withStatus(full ? CKJIT_CACHE_FULL : CKJIT_INVALID_ARGUMENT, std::move(error));
  session.hasLosses = options.targets != nullptr;
  session.firstRow = firstRow;
  return Error::success();
}

Error logits(const ckjit_session &session, int64_t row, const float **result) {
  ArrayRef<float> found = session.session->logits(row);
  if (found.empty())
    return fail(CKJIT_INVALID_ARGUMENT, "row " + Twine(row) + " has no logits: " + session.session->describeRows());
  *result = found.data();
  return Error::success();
}

/// The body of the functions that give something out of a session through `result`.
template <typename T, typename Function>
int give(const ckjit_session *session, T *result, StringRef name, Function function) {
  if (result)
    *result = {};
  return guard([&]() -> Error {
    if (Error error = checkUsable(session))
      return error;
    if (Error error = notNull(result, name))
      return error;
    return function();
  });
}

int64_t number(const ckjit_session *session, function_ref<int64_t(const Session &)> get) {
  int status = guard([&] { return check(session, "session"); });
  return status == CKJIT_OK ? get(*session->session) : status;
}
} // namespace

extern "C" {

int ckjit_append_options_init(ckjit_append_options *options, size_t struct_size) {
  return initOptions(options, struct_size, appendDefaults(), "ckjit_append_options");
}

int ckjit_session_create(ckjit_model *model, int64_t capacity, ckjit_session **session) {
  return create<ckjit_session>(session, "session", [&]() -> Expected<std::unique_ptr<ckjit_session>> {
    if (Error error = check(model, "model"))
      return error;
    if (Error error = model->state->engine->checkProcess("the model"))
      return error;
    int64_t context = model->state->model->config().contextWindow;
    bool fits = capacity >= 0 && capacity <= context;
    auto made = Session::create(*model->state->model, capacity);
    if (!made)
      return withStatus(fits ? CKJIT_OUT_OF_MEMORY : CKJIT_INVALID_ARGUMENT, made.takeError());
    return std::unique_ptr<ckjit_session>(new ckjit_session{.model = model->state, .session = std::move(*made)});
  });
}

void ckjit_session_destroy(ckjit_session *session) { destroy(session, "session"); }

int ckjit_session_copy(const ckjit_session *session, ckjit_session **copy) {
  return create<ckjit_session>(copy, "copy", [&]() -> Expected<std::unique_ptr<ckjit_session>> {
    if (Error error = checkUsable(session))
      return error;
    auto copied = session->session->copy();
    if (!copied)
      return withStatus(CKJIT_OUT_OF_MEMORY, copied.takeError());
    return std::unique_ptr<ckjit_session>(new ckjit_session{.model = session->model,
                                                            .session = std::move(*copied),
                                                            .hasLosses = session->hasLosses,
                                                            .firstRow = session->firstRow});
  });
}

int ckjit_session_append(ckjit_session *session, const int32_t *ids, int64_t count,
                         const ckjit_append_options *options) {
  return guard([&]() -> Error {
    if (Error error = checkUsable(session))
      return error;
    if (Error error = notNull(ids, "ids"))
      return error;
    return append(*session, ids, count, options);
  });
}

int ckjit_session_logits(const ckjit_session *session, int64_t row, const float **result) {
  return give(session, result, "logits", [&] { return logits(*session, row, result); });
}

int ckjit_session_last_logits(const ckjit_session *session, const float **result) {
  return give(session, result, "logits", [&]() -> Error {
    ArrayRef<float> last = session->session->lastLogits();
    if (last.empty())
      return fail(CKJIT_INVALID_ARGUMENT, "the session has no logits: nothing was appended yet");
    *result = last.data();
    return Error::success();
  });
}

int ckjit_session_losses(const ckjit_session *session, const float **losses, int64_t *count) {
  if (count)
    *count = 0;
  return give(session, losses, "losses", [&]() -> Error {
    if (Error error = notNull(count, "count"))
      return error;
    if (!session->hasLosses)
      return Error::success();
    ArrayRef<float> found = session->session->losses().drop_front(static_cast<size_t>(session->firstRow));
    *losses = found.data();
    *count = static_cast<int64_t>(found.size());
    return Error::success();
  });
}

int64_t ckjit_session_cached(const ckjit_session *session) {
  return number(session, [](const Session &s) { return s.cached(); });
}

int64_t ckjit_session_capacity(const ckjit_session *session) {
  return number(session, [](const Session &s) { return s.capacity(); });
}

int ckjit_session_truncate(ckjit_session *session, int64_t count) {
  return guard([&]() -> Error {
    if (Error error = check(session, "session"))
      return error;
    return withStatus(CKJIT_INVALID_ARGUMENT, session->session->truncate(count));
  });
}

int ckjit_session_reset(ckjit_session *session) {
  return guard([&]() -> Error {
    if (Error error = check(session, "session"))
      return error;
    session->session->reset();
    return Error::success();
  });
}

} // extern "C"
