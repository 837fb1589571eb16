//===- BenchVerb.cpp - ck-jit bench: speed beside the machine's limits ----===//
#include "Bench.h"
#include "CompileFlags.h"
#include "Verbs.h"
#include "ckjit/Runtime/UsableCores.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand benchCommand(
    "bench", "Measure kernels or a whole model beside the machine's limits\n\n"
             "  `kernels` times the matrix products of a named shape, `model` its whole prefill (logits of the\n"
             "  last row), with random weights. The FMA peak and the read bandwidth are measured in the same run.\n"
             "  Prints a Markdown table of medians, or JSON.\n\n"
             "  Examples:\n"
             "    ck-jit bench kernels --shape smollm-135m --tokens 4,32,128,512\n"
             "    ck-jit bench model --shape smollm-135m --threads 1,2 --decode 128 --json\n"
             "    ck-jit bench model --shape smollm-135m --threads 2 --overhead");

cl::opt<std::string> what(cl::Positional, cl::sub(benchCommand), cl::value_desc("kernels|model"), cl::desc("kernels|model"));
cl::opt<std::string> shape("shape", cl::sub(benchCommand), cl::value_desc("NAME"), cl::init("smollm-135m"),
                           cl::desc("smollm-135m (default), tinyllama-1.1b, llama3.2-1b or\nstories-260k"));
FormatFlags formats(benchCommand);
cl::list<int64_t> tokens("tokens", cl::sub(benchCommand), cl::CommaSeparated, cl::value_desc("N,..."),
                         cl::desc("Tokens a product or a prefill (default: kernels 4,16,32,128,512, model 512)"));
cl::opt<int64_t> decode("decode", cl::sub(benchCommand), cl::value_desc("N"), cl::init(0),
                        cl::desc("model: decode N tokens one by one too, and attention alone over a\nfull context, its GB/s those of the cache (default 0)"));
cl::opt<bool> overhead("overhead", cl::sub(benchCommand),
                       cl::desc("model: instead, what a decoded token costs outside the kernels, part by part"));
cl::list<unsigned> threads("threads", cl::sub(benchCommand), cl::CommaSeparated, cl::value_desc("N,..."),
                           cl::desc("Threads (default: 1 and all usable cores)"));
cl::opt<unsigned> runs("runs", cl::sub(benchCommand), cl::value_desc("N"), cl::init(9), cl::desc("Runs a median (default 9)"));
cl::opt<bool> jsonFlag("json", cl::sub(benchCommand), cl::desc("Print JSON for programs"));
CompileFlags flags(benchCommand);
LinkFlags link(benchCommand);

Expected<BenchOptions> options(bool kernels) {
  auto compile = flags.options();
  if (!compile)
    return compile.takeError();
  BenchOptions result;
  result.compile = std::move(*compile);
  result.link = link.options();
  result.threads.assign(threads.begin(), threads.end());
  if (result.threads.empty()) {
    result.threads = {1};
    if (usableCores() > 1)
      result.threads.push_back(usableCores());
  }
  result.tokens.assign(tokens.begin(), tokens.end());
  if (result.tokens.empty())
    result.tokens = kernels ? std::vector<int64_t>{4, 16, 32, 128, 512} : std::vector<int64_t>{512};
  if (auto known = shapeOf(shape); !known)
    return usageError("--shape: " + toString(known.takeError()));
  result.shape = shape;
  auto request = formats.request();
  if (!request)
    return request.takeError();
  result.formats = std::move(*request);
  result.runs = runs;
  result.decode = decode;
  for (int64_t count : result.tokens)
    if (count < 1 || count > 2048)
      return usageError("--tokens has " + Twine(count) + ", expected 1 to 2048");
  for (unsigned count : result.threads)
    if (count < 1 || count > ThreadTeam::kMaxThreads)
      return usageError("--threads has " + Twine(count) + ", expected 1 to " + Twine(ThreadTeam::kMaxThreads));
  if (decode < 0 || decode > 2048)
    return usageError("--decode is " + Twine(decode) + ", expected 0 to 2048");
  if (runs < 1)
    return usageError("--runs is 0, expected at least 1");
  return result;
}

Error run() {
  if (what != "kernels" && what != "model")
    return usageError("bench '" + what + "': expected kernels or model");
  bool kernels = what == "kernels";
  if (kernels && overhead)
    return usageError("--overhead is for bench model");
  if (kernels && decode.getNumOccurrences())
    return usageError("--decode is for bench model");
  if (kernels && (!formats.embed.empty() || !formats.layers.empty()))
    return usageError("--embed and --layers are for bench model; kernels are of --type");
  if (overhead && (decode.getNumOccurrences() || !tokens.empty()))
    return usageError("--overhead is measured instead of what --tokens and --decode ask for; give it without them");
  auto parsed = options(kernels);
  if (!parsed)
    return parsed.takeError();
  auto table = kernels ? benchKernels(*parsed) : overhead ? benchOverhead(*parsed) : benchModel(*parsed);
  if (!table)
    return table.takeError();
  if (jsonFlag)
    outs() << formatv("{0:2}", json::Value(std::move(table->json))) << "\n";
  else
    outs() << table->markdown();
  return Error::success();
}

} // namespace

Verb benchVerb() { return {&benchCommand, run}; }

} // namespace ckjit::tool
