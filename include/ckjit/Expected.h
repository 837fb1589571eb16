//===- Expected.h - Results of the C++ interface ----------------*- C++ -*-===//
//
// Header-only over ckjit.h; C++17. Nothing here throws but what a callback threw, std::bad_alloc, and value() of an
// Expected without one.
//
//===----------------------------------------------------------------------===//
#ifndef CKJIT_API_EXPECTED_H
#define CKJIT_API_EXPECTED_H

#include <ckjit/ckjit.h>

#include <cxxabi.h>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace ckjit {
// An inline namespace: the names are ckjit::Model and so on, the symbols are no one else's.
inline namespace api {

/// How something went: true if well, else a ckjit_status and a message.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(int code, std::string message) : statusCode(code), text(std::move(message)) {}

  explicit operator bool() const { return statusCode == CKJIT_OK; }
  int code() const { return statusCode; }
  const std::string &message() const { return text; }

private:
  int statusCode = CKJIT_OK;
  std::string text;
};

/// A T, or the Status that tells why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::move(value)) {}
  Expected(Status failure) : content(std::move(failure)) {}

  explicit operator bool() const { return std::holds_alternative<T>(content); }
  T &operator*() { return *std::get_if<T>(&content); }
  const T &operator*() const { return *std::get_if<T>(&content); }
  T *operator->() { return std::get_if<T>(&content); }
  const T *operator->() const { return std::get_if<T>(&content); }

  /// The value, moved out; throws std::runtime_error with the message if there is none.
  T value() && {
    if (!*this)
      throw std::runtime_error(message());
    return std::move(**this);
  }
  Status status() const { return *this ? Status() : std::get<Status>(content); }
  int code() const { return *this ? int(CKJIT_OK) : std::get<Status>(content).code(); }
  std::string message() const { return *this ? std::string() : std::get<Status>(content).message(); }

private:
  std::variant<T, Status> content;
};

/// `size` elements that belong to someone else.
template <typename T> struct Span {
  const T *data = nullptr;
  size_t size = 0;
  const T *begin() const { return data; }
  const T *end() const { return data + size; }
  const T &operator[](size_t index) const { return data[index]; }
  bool empty() const { return size == 0; }
};

/// Hears that `done` of `total` units of a stage are done (ckjit.h lists the stages); false cancels.
using Progress = std::function<bool(const char *stage, uint64_t done, uint64_t total)>;
/// Hears a line; false cancels.
using Log = std::function<bool(ckjit_log_level level, const char *message)>;

namespace detail {
/// What a callback of this thread threw: it can't cross the C interface, so it waits here.
inline std::exception_ptr &thrown() {
  static thread_local std::exception_ptr exception;
  return exception;
}

/// Calls `function`; an exception cancels. What pthread_exit() throws has no object, which UBSan would take for a mistake
/// where it is caught.
template <typename Function, typename... Arguments>
__attribute__((no_sanitize("null"))) int callBack(const Function &function, Arguments... arguments) {
  try {
    return function(arguments...) ? 0 : 1;
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind &) { // pthread_exit() ends the thread
    throw;
#endif
  } catch (...) {
    thrown() = std::current_exception();
    return 1;
  }
}

inline int progress(const char *stage, uint64_t done, uint64_t total, void *user) {
  return callBack(*static_cast<const Progress *>(user), stage, done, total);
}
inline int log(ckjit_log_level level, const char *message, void *user) {
  return callBack(*static_cast<const Log *>(user), level, message);
}

/// The result of a C function; what a callback threw meanwhile goes on from here.
inline Status finish(int code) {
  if (code == CKJIT_OK)
    return {};
  Status status(code, ckjit_last_error());
  if (thrown())
    std::rethrow_exception(std::exchange(thrown(), nullptr));
  return status;
}

/// Owns a handle of the C interface.
template <typename Handle, void (*Destroy)(Handle *)> struct Deleter {
  void operator()(Handle *handle) const { Destroy(handle); }
};
template <typename Handle, void (*Destroy)(Handle *)> using Owner = std::unique_ptr<Handle, Deleter<Handle, Destroy>>;
} // namespace detail

} // namespace api
} // namespace ckjit
#endif
