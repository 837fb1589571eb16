//===- main.cpp - The ck-jit tool -----------------------------------------===//
#include "Verbs.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit::tool;

namespace {
struct UsageError : ErrorInfo<UsageError> {
  static char ID;
  std::string message;
  explicit UsageError(std::string m) : message(std::move(m)) {}
  void log(raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return inconvertibleErrorCode(); }
};
char UsageError::ID = 0;

/// Prints every error of `error` and returns the exit code: 2 for wrong usage, else 1.
int report(Error error) {
  int code = 1;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    if (info.isA<UsageError>())
      code = 2;
    errs() << "ck-jit: error: " << info.message() << "\n";
  });
  return code;
}
} // namespace

Error ckjit::tool::usageError(const Twine &message) { return make_error<UsageError>(message.str()); }

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  const Verb verbs[] = {irVerb(), layoutVerb(), inspectVerb(), initVerb()};
  const char *overview = "ck-jit: compiles a decoder-only transformer for this CPU and runs it\n\n"
                         "  ck-jit VERB --help explains a verb.\n";
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errs()))
    return 2;
  for (const Verb &verb : verbs) {
    if (!*verb.command)
      continue;
    if (Error error = verb.run())
      return report(std::move(error));
    outs().flush();
    return 0;
  }
  errs() << "ck-jit: error: no verb given; `ck-jit --help` lists them\n";
  return 2;
}
