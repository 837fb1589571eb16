//===- Boundary.h - What every C function does at its border ----*- C++ -*-===//
#ifndef CKJIT_LIB_API_BOUNDARY_H
#define CKJIT_LIB_API_BOUNDARY_H

#define CKJIT_WITHOUT_CODEGEN // the seed's structs have the names of the Graph room's
#include "ckjit/ckjit.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace ckjit::capi {

/// An error with the status that the C function returns for it.
class StatusError : public llvm::ErrorInfo<StatusError> {
public:
  static char ID;
  StatusError(ckjit_status status, std::string message) : status(status), message(std::move(message)) {}
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  const ckjit_status status;

private:
  std::string message;
};

llvm::Error fail(ckjit_status status, const llvm::Twine &message);
/// `error` with a status, unless it has one.
llvm::Error withStatus(ckjit_status status, llvm::Error error);

/// Error that names the function's argument if it is NULL.
llvm::Error notNull(const void *argument, llvm::StringRef name);
/// Error that names the path if it is "": NULL means none.
llvm::Error notEmpty(const char *path, llvm::StringRef name);

/// Runs the body of a C function: its error, or what it throws, becomes the thread's last error and the status.
int guard(llvm::function_ref<llvm::Error()> body);

/// Bytes of a struct in the first version that had it. Fields that came later stand behind them.
template <typename Options> inline constexpr size_t kFirstBytes = sizeof(Options);
template <> inline constexpr size_t kFirstBytes<ckjit_engine_options> = offsetof(ckjit_engine_options, activations);
template <> inline constexpr size_t kFirstBytes<ckjit_model_options> = offsetof(ckjit_model_options, weight_type);
template <> inline constexpr size_t kFirstBytes<ckjit_model_info> = offsetof(ckjit_model_info, weight_types);

/// How long a struct was and is.
struct StructBytes {
  size_t first, known;
};

/// Copies the options of a caller over `defaults`: as many bytes as the caller's header knew. Error for a size that no
/// version had, or for bytes that this version doesn't know and that aren't zero.
llvm::Error readOptionBytes(void *defaults, StructBytes bytes, const void *given, llvm::StringRef name);

/// Those of a caller, or the defaults if NULL.
template <typename Options>
llvm::Expected<Options> readOptions(const Options *given, const Options &defaults, llvm::StringRef name) {
  Options options = defaults;
  if (given)
    if (llvm::Error error = readOptionBytes(&options, {kFirstBytes<Options>, sizeof(Options)}, given, name))
      return error;
  options.struct_size = sizeof(Options);
  return options;
}

/// The body of the ckjit_..._options_init functions.
int writeOptionBytes(void *options, size_t size, const void *defaults, StructBytes bytes, llvm::StringRef name);

template <typename Options>
int initOptions(Options *options, size_t size, Options defaults, llvm::StringRef name) {
  defaults.struct_size = size;
  return writeOptionBytes(options, size, &defaults, {kFirstBytes<Options>, sizeof(Options)}, name);
}

} // namespace ckjit::capi
#endif
