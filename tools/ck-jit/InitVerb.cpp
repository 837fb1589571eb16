//===- InitVerb.cpp - ck-jit init: a model of random weights --------------===//
#include "GraphOptions.h"
#include "Verbs.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand initCommand("init", "Write a model of random weights\n\n"
                                   "  Writes a BUMPWGT3 weight file for the model that CONFIG describes, its weights random but\n"
                                   "  well-conditioned, with the config in its footer: everything runs on it, and it says nothing\n"
                                   "  sensible. The same seed gives the same file on every machine.\n\n"
                                   "  Example:\n"
                                   "    ck-jit init config.json -o model.bump --seed 7");

GraphOptions graphOptions(initCommand);
cl::opt<std::string> outputPath("o", cl::sub(initCommand), cl::value_desc("FILE"), cl::desc("The file to write"));
cl::opt<uint64_t> seed("seed", cl::sub(initCommand), cl::value_desc("N"), cl::init(0),
                       cl::desc("Seed of the random numbers (default 0)"));

/// One line on the terminal that counts up; silent when stderr is something else.
class Progress {
public:
  void show(int64_t done, int64_t total) {
    int64_t percent = total > 0 ? static_cast<int64_t>(100.0 * done / total) : 100;
    if (!onTerminal || percent == shown)
      return;
    shown = percent;
    errs() << fmt::format("\rwriting {}: {} %", outputPath.getValue(), percent);
  }
  ~Progress() {
    if (shown >= 0)
      errs() << "\r\033[K";
  }

private:
  bool onTerminal = sys::Process::StandardErrIsDisplayed();
  int64_t shown = -1;
};

Error run() {
  if (outputPath.empty())
    return usageError("no file to write: give -o FILE");
  Expected<CKIRGraph> graph = graphOptions.load();
  if (!graph)
    return graph.takeError();
  {
    Progress progress;
    auto show = [&](int64_t done, int64_t total) { progress.show(done, total); };
    if (Error error = writeRandomModel(outputPath, graph->config, seed, show))
      return error;
  }
  uint64_t bytes = 0;
  if (std::error_code code = sys::fs::file_size(outputPath, bytes))
    return createStringError(code, outputPath + ": its size cannot be read: " + code.message());
  outs() << fmt::format("wrote {} ({} bytes, seed {})\n", outputPath.getValue(), bytes, seed.getValue());
  return Error::success();
}

} // namespace

Verb initVerb() { return {&initCommand, run}; }

} // namespace ckjit::tool
