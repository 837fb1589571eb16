//===- main.cpp - The ck-jit tool -----------------------------------------===//
#include "Verbs.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

using namespace llvm;
using namespace ckjit::tool;

/// Every verb, in the order in which a newcomer meets them. A new one stands here, in Verbs.h and in CMakeLists.txt.
static std::vector<Verb> allVerbs() {
  return {generateVerb(), runVerb(),     initVerb(),   inspectVerb(), quantizeVerb(), irVerb(),
          emitVerb(),     compileVerb(), layoutVerb(), benchVerb(),   cacheVerb()};
}

namespace {
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

struct UsageError : ErrorInfo<UsageError> {
  static char ID;
  std::string message;
  explicit UsageError(std::string m) : message(std::move(m)) {}
  void log(raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return inconvertibleErrorCode(); }
};
char UsageError::ID = 0;

void printError(const Twine &message) { errs() << "ck-jit: error: " << message << "\n"; }

/// Prints every error of `error` and returns the exit code.
int report(Error error) {
  int code = kExitFailure;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    if (info.isA<UsageError>())
      code = kExitUsage;
    printError(info.message());
  });
  return code;
}

void printVerbs(raw_ostream &out) {
  out << "ck-jit compiles a decoder-only transformer for this CPU and runs it.\n\n"
         "Usage: ck-jit VERB [options]\n\n"
         "Verbs:\n";
  // A subcommand's description starts with its one-line summary.
  for (const Verb &verb : allVerbs())
    out << fmt::format("  {:<9} {}\n", verb.command->getName().str(),
                       verb.command->getDescription().split('\n').first.str());
  out << "\n`ck-jit VERB --help` explains a verb, `ck-jit --version` prints the version.\n"
         "Exit code: 0 done, 1 failed, 2 wrong usage (whatever the files hold).\n";
}

/// LLVM's own options stand in every subcommand; in a verb's help they would hide its few.
void hideForeignOptions() {
  for (const Verb &verb : allVerbs())
    for (auto &entry : cl::getRegisteredOptions(*verb.command))
      if (entry.second->Subs.contains(&cl::SubCommand::getAll()))
        entry.second->setHiddenFlag(cl::ReallyHidden);
}

bool asksForHelp(StringRef argument) { return is_contained({"--help", "-help", "--h", "-h"}, argument); }
bool asksForVersion(StringRef argument) { return is_contained({"--version", "-version"}, argument); }

/// Parses the command line; false after printing what is wrong with it.
bool parse(ArrayRef<const char *> arguments) {
  return cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data(), "", &errs());
}

/// Parses a verb's options under its own name, which the parser's messages give: "Try: 'ck-jit run --help'".
bool parseVerb(ArrayRef<const char *> arguments) {
  std::string name = (sys::path::filename(arguments[0]) + " " + arguments[1]).str();
  std::vector<const char *> renamed(arguments.begin(), arguments.end());
  renamed[0] = name.c_str();
  return parse(renamed);
}

/// LLVM's own --help would exit from inside the parser, so it gets to see the verb alone.
int explain(const char *program, const char *verb) {
  if (!parse({program, verb}))
    return kExitUsage;
  cl::PrintHelpMessage();
  return 0;
}

/// Parses the options behind a verb and runs it. `arguments` start with program and verb.
int parseAndRun(ArrayRef<const char *> arguments) {
  for (const Verb &verb : allVerbs()) {
    if (verb.command->getName() != arguments[1])
      continue;
    if (any_of(arguments.drop_front(2), asksForHelp))
      return explain(arguments[0], arguments[1]);
    if (!parseVerb(arguments))
      return kExitUsage;
    Error error = verb.run();
    return error ? report(std::move(error)) : 0;
  }
  printError("'" + Twine(arguments[1]) + "' is not a verb; `ck-jit --help` lists them");
  return kExitUsage;
}

int dispatch(ArrayRef<const char *> arguments) {
  if (arguments.size() < 2) {
    printVerbs(errs());
    return kExitUsage;
  }
  if (any_of(arguments.drop_front(), asksForVersion)) {
    outs() << "ck-jit " CKJIT_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
    return 0;
  }
  bool help = StringRef(arguments[1]) == "help";
  if (help && arguments.size() > 2)
    return parseAndRun({arguments[0], arguments[2], "--help"});
  if (help || asksForHelp(arguments[1])) {
    printVerbs(outs());
    return 0;
  }
  return parseAndRun(arguments);
}

/// Writes out what is still buffered. A stream that is destroyed with an error aborts the program, so errors end here.
int finish(int code) {
  outs().flush();
  if (std::error_code lost = outs().error()) {
    outs().clear_error();
    printError("standard output: " + lost.message() + "; what was printed is incomplete");
    code = code ? code : kExitFailure;
  }
  errs().clear_error();
  return code;
}
} // namespace

Error ckjit::tool::usageError(const Twine &message) { return make_error<UsageError>(message.str()); }

/// LLVM's handlers remove temporary files when a signal ends the program. One that the program's parent ignores (a
/// background job, nohup) doesn't end it, so it stays ignored.
class IgnoredSignals {
public:
  IgnoredSignals() {
    for (int signal : {SIGHUP, SIGINT, SIGTERM})
      if (struct sigaction now; sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN)
        ignored.push_back(signal);
  }
  void restore() const {
    for (int signal : ignored)
      (void)std::signal(signal, SIG_IGN);
  }

private:
  SmallVector<int, 3> ignored;
};

/// The next files opened would take the places of standard streams that the program's parent closed, and what is
/// printed would go into them. These take the places, the wrong way round, so that printing fails as it did.
static void takeClosedStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
  takeClosedStreams();
  IgnoredSignals ignored;
  InitLLVM init(argc, argv);
  ignored.restore();
  ckjit::removeTemporaryFilesOnSignals();
  // A file that grows beyond a limit is a failed write: an error with its path, or only a warning, and no crash.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  hideForeignOptions();
  return finish(dispatch(ArrayRef<const char *>(argv, argc)));
}
