//===- Boundary.cpp - What every C function does at its border ------------===//
#include "Boundary.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include <cfenv>
#include <cstring>
#include <cxxabi.h>
#include <new>
#include <pthread.h>

using namespace llvm;
using namespace ckjit::capi;

char StatusError::ID = 0;
void StatusError::log(raw_ostream &stream) const { stream << message; }

Error ckjit::capi::fail(ckjit_status status, const Twine &message) {
  return make_error<StatusError>(status, message.str());
}

Error ckjit::capi::withStatus(ckjit_status status, Error error) {
  if (!error || error.isA<StatusError>())
    return error;
  return fail(status, toString(std::move(error)));
}

Error ckjit::capi::notNull(const void *argument, StringRef name) {
  return argument ? Error::success() : fail(CKJIT_INVALID_ARGUMENT, name + " is NULL");
}

Error ckjit::capi::notEmpty(const char *path, StringRef name) {
  return !path || *path ? Error::success() : fail(CKJIT_INVALID_ARGUMENT, name + " is empty, expected a path");
}

namespace {
/// A thread's last error. A message that there is no memory for is a constant one.
struct LastError {
  std::string text;
  const char *constant = "";

  void set(const char *message) noexcept { constant = message; }
  void set(std::string message) noexcept {
    text = std::move(message);
    constant = nullptr;
  }
  const char *get() const noexcept { return constant ? constant : text.c_str(); }
};
thread_local LastError lastError;

constexpr const char *kNoMemory = "out of memory";

int report(Error error) {
  int status = CKJIT_FAILED;
  // Of several, one that tells more than "failed"; the texts of all.
  std::string text;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    if (info.isA<StatusError>() && status == CKJIT_FAILED)
      status = static_cast<const StatusError &>(info).status;
    text += (text.empty() ? "" : "\n") + info.message();
  });
  lastError.set(std::move(text));
  return status;
}

/// Whoever cancels this thread (pthread_cancel) waits for the function's end: halfway, a destructor that closes a file
/// would end the process.
struct NotCancelled {
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); }
  ~NotCancelled() { pthread_setcancelstate(before, nullptr); }
  int before = PTHREAD_CANCEL_ENABLE;
};

/// Rounding to nearest, denormal numbers, no traps, whatever the host has set for its own sums: results are the same in
/// every host, and a thread team inherits what its maker has.
struct DefaultFloats {
  DefaultFloats() {
    std::fegetenv(&before);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&before); }
  std::fenv_t before;
};
} // namespace

// What pthread_exit() throws has no object, which UBSan would take for a mistake where it is caught.
__attribute__((no_sanitize("null"))) int ckjit::capi::guard(function_ref<Error()> body) {
  NotCancelled notCancelled;
  DefaultFloats defaultFloats;
  try {
    Error error = body();
    return error ? report(std::move(error)) : CKJIT_OK;
  } catch (const std::bad_alloc &) {
    lastError.set(kNoMemory);
    return CKJIT_OUT_OF_MEMORY;
  } catch (const std::exception &exception) {
    try {
      lastError.set(std::string("unexpected: ") + exception.what());
    } catch (...) {
      lastError.set(kNoMemory);
    }
    return CKJIT_FAILED;
  } catch (abi::__forced_unwind &) { // a callback that calls pthread_exit(): the thread ends, and nobody may stop it
    throw;
  } catch (...) {
    lastError.set("unexpected: an exception that is no std::exception; do callbacks throw?");
    return CKJIT_FAILED;
  }
}

Error ckjit::capi::readOptionBytes(void *defaults, StructBytes bytes, const void *given, StringRef name) {
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  const auto [first, known] = bytes;
  if (size < first)
    return fail(CKJIT_INVALID_ARGUMENT, name + ": struct_size is " + Twine(size) + ", expected at least " +
                                            Twine(first) + "; start from " + name + "_default_options()");
  // A newer caller's fields must ask for nothing. A size beyond reason is a struct that was never filled in.
  constexpr size_t kMostBytes = 4096;
  if (size > kMostBytes)
    return fail(CKJIT_INVALID_ARGUMENT, name + ": struct_size is " + Twine(size) + ", expected " + Twine(known) +
                                            "; start from " + name + "_default_options()");
  StringRef unknown(static_cast<const char *>(given) + std::min(size, known), size - std::min(size, known));
  if (unknown.find_first_not_of('\0') != StringRef::npos)
    return fail(CKJIT_UNSUPPORTED, name + ": an option is set that this version, " + ckjit_version_string() +
                                       ", doesn't know; use the ckjit.h that belongs to it");
  std::memcpy(defaults, given, std::min(size, known));
  return Error::success();
}

int ckjit::capi::writeOptionBytes(void *options, size_t size, const void *defaults, StructBytes bytes, StringRef name) {
  return guard([&]() -> Error {
    if (Error error = notNull(options, "options"))
      return error;
    if (size < bytes.first)
      return fail(CKJIT_INVALID_ARGUMENT,
                  name + ": struct_size is " + Twine(size) + ", expected at least " + Twine(bytes.first));
    std::memset(options, 0, size);
    std::memcpy(options, defaults, std::min(size, bytes.known));
    return Error::success();
  });
}

extern "C" {

const char *ckjit_last_error(void) { return lastError.get(); }

const char *ckjit_status_name(int status) {
  switch (status) {
  case CKJIT_OK: return "CKJIT_OK";
  case CKJIT_FAILED: return "CKJIT_FAILED";
  case CKJIT_INVALID_ARGUMENT: return "CKJIT_INVALID_ARGUMENT";
  case CKJIT_CACHE_FULL: return "CKJIT_CACHE_FULL";
  case CKJIT_CANCELLED: return "CKJIT_CANCELLED";
  case CKJIT_OUT_OF_MEMORY: return "CKJIT_OUT_OF_MEMORY";
  case CKJIT_FILE_ERROR: return "CKJIT_FILE_ERROR";
  case CKJIT_UNSUPPORTED: return "CKJIT_UNSUPPORTED";
  case CKJIT_BUFFER_TOO_SMALL: return "CKJIT_BUFFER_TOO_SMALL";
  case CKJIT_FORKED: return "CKJIT_FORKED";
  }
  return "unknown status";
}

int ckjit_version(void) { return CKJIT_VERSION_MAJOR * 10000 + CKJIT_VERSION_MINOR * 100 + CKJIT_VERSION_PATCH; }
const char *ckjit_version_string(void) { return CKJIT_VERSION; }
const char *ckjit_llvm_version_string(void) { return LLVM_VERSION_STRING; }

} // extern "C"
