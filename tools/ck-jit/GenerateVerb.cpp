//===- GenerateVerb.cpp - ck-jit generate: continue a prompt --------------===//
#include "CompileFlags.h"
#include "ModelFlags.h"
#include "Verbs.h"
#include "ckjit/Engine/Sampler.h"
#include "ckjit/Text/Vocabulary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

cl::SubCommand generateCommand(
    "generate", "Continue a prompt, token by token\n\n"
                "  Runs the prompt through the model in one go, then chooses the next token from the logits, appends\n"
                "  it and goes on. The likeliest token is taken unless --temp says otherwise; the same --seed gives\n"
                "  the same ids for any number of threads. Ids go to stdout as they come, or the text if the model\n"
                "  has a vocabulary (tokenizer.bin or tok<V>.bin beside it, in llama2.c's form) and the prompt is\n"
                "  text; the speed goes to stderr.\n\n"
                "  Examples:\n"
                "    ck-jit generate --weights model.bump --prompt \"Once upon a time\" -n 100\n"
                "    ck-jit generate --weights model.bump --ids 1,403,407 -n 20 --temp 0.8 --top-p 0.9 --seed 7\n"
                "    ck-jit generate --weights model.bump --tokens t.bin -n 20 --print-ids");

template <typename T, typename Parser = cl::parser<T>> struct Flag : cl::opt<T, false, Parser> {
  template <size_t N, typename... Mods>
  explicit Flag(const char (&name)[N], const Mods &...mods)
      : cl::opt<T, false, Parser>(name, cl::sub(generateCommand), mods...) {}
};
using PathFlag = Flag<std::string, PathParser>;
PathFlag tokensPath("tokens", cl::value_desc("FILE"), cl::desc("The prompt as ids, int32 little-endian"));
cl::list<int32_t> idList("ids", cl::sub(generateCommand), cl::CommaSeparated, cl::value_desc("N,..."),
                         cl::desc("The prompt as ids"));
Flag<std::string> prompt("prompt", cl::value_desc("TEXT"), cl::desc("The prompt as text; needs a vocabulary"));
PathFlag vocabularyPath("vocabulary", cl::value_desc("FILE"),
                        cl::desc("The vocabulary (default: beside the weight file)"));
Flag<int64_t> count("n", cl::value_desc("N"), cl::init(0), cl::desc("Tokens to generate (default: until the context is full)"));
Flag<double> temperature("temp", cl::value_desc("T"), cl::init(0), cl::desc("Temperature (default 0: the likeliest token)"));
Flag<int64_t> topK("top-k", cl::value_desc("K"), cl::init(0), cl::desc("Draw from the K likeliest (default 0: all)"));
Flag<double> topP("top-p", cl::value_desc("P"), cl::init(1),
                  cl::desc("Draw from the likeliest that together reach probability P (default 1)"));
Flag<double> minP("min-p", cl::value_desc("P"), cl::init(0),
                  cl::desc("Draw from tokens at least P times as likely as the likeliest (default 0)"));
Flag<double> repeatPenalty("repeat-penalty", cl::value_desc("R"), cl::init(1),
                           cl::desc("Make the last 64 ids less likely (default 1: no)"));
Flag<uint64_t> seed("seed", cl::value_desc("S"), cl::init(0), cl::desc("Seed of the draws (default 0)"));
cl::list<int32_t> stopIds("stop", cl::sub(generateCommand), cl::CommaSeparated, cl::value_desc("N,..."),
                          cl::desc("End before any of these ids"));
Flag<bool> printIds("print-ids", cl::desc("Print ids, also where there is text"));
Flag<bool> clampIds("clamp-ids", cl::desc("Take an id of a token file out of range as 0 instead of refusing it"));
ModelFlags source(generateCommand);
CompileFlags flags(generateCommand, Slots::Hide);

SamplerOptions samplerOptions() {
  SamplerOptions options;
  options.repeatPenalty = repeatPenalty;
  options.topK = topK;
  options.topP = topP;
  options.minP = minP;
  options.temperature = temperature;
  options.seed = seed;
  return options;
}

/// Whether each id may be one of a model's `vocab`; before there is a model, of any.
Error checkIds(ArrayRef<int32_t> ids, StringRef option, std::optional<int64_t> vocab) {
  for (auto [place, id] : enumerate(ids)) {
    std::string wrong = ("--" + option + ": id " + Twine(id) + " at place " + Twine(place) + ", expected ").str();
    if (id < 0)
      return usageError(wrong + "0 or more");
    if (vocab && id >= *vocab)
      return createStringError(wrong + "0 to " + Twine(*vocab - 1) + ", the vocabulary of " + source.weights);
  }
  return Error::success();
}

Error checkUsage() {
  if (Error error = source.check())
    return error;
  int prompts = tokensPath.getNumOccurrences() + (idList.empty() ? 0 : 1) + prompt.getNumOccurrences();
  if (prompts != 1)
    return usageError("give one of --prompt TEXT, --ids N,... and --tokens FILE");
  if (!vocabularyPath.empty() && !prompt.getNumOccurrences())
    return usageError("--vocabulary is for --prompt: a prompt of ids is continued by ids");
  if (clampIds && !tokensPath.getNumOccurrences())
    return usageError("--clamp-ids is for --tokens: ids given by hand are checked");
  if (count.getNumOccurrences() && count < 1)
    return usageError("-n is " + Twine(count) + ", expected 1 or more");
  if (flags.materialize)
    return usageError("--materialize is for run: generate has no slots to show");
  if (Error error = checkIds(std::vector<int32_t>(idList), "ids", std::nullopt))
    return error;
  if (Error error = checkIds(std::vector<int32_t>(stopIds), "stop", std::nullopt))
    return error;
  if (Error error = checkSampler(samplerOptions()))
    return usageError("--" + toString(std::move(error)));
  return Error::success();
}

/// The vocabulary named or found; none for a prompt of ids, whatever stands beside the weights.
Expected<std::optional<Vocabulary>> findVocabulary(int64_t vocab) {
  if (!prompt.getNumOccurrences())
    return std::nullopt;
  std::string path = vocabularyPath.empty() ? Vocabulary::beside(source.weights, vocab) : vocabularyPath.getValue();
  if (path.empty())
    return createStringError(source.weights + ": --prompt needs a vocabulary, found neither tokenizer.bin nor tok" +
                             Twine(vocab) + ".bin beside the file; give --vocabulary FILE, or the prompt by --ids");
  auto vocabulary = Vocabulary::open(path, vocab);
  if (!vocabulary)
    return vocabulary.takeError();
  return std::move(*vocabulary);
}

Expected<std::vector<int32_t>> promptIds(const ModelConfig &config, const std::optional<Vocabulary> &vocabulary) {
  if (prompt.getNumOccurrences())
    return vocabulary->encode(prompt);
  if (!idList.empty()) {
    std::vector<int32_t> ids(idList.begin(), idList.end());
    if (Error error = checkIds(ids, "ids", config.vocabSize))
      return error;
    return ids;
  }
  return readTokens(tokensPath, config.vocabSize, config.contextWindow, clampIds);
}

/// How many tokens to generate. The last one is never run, so it needs no place in the cache.
Expected<int64_t> tokensToGenerate(int64_t prompt, int64_t context) {
  int64_t room = context - prompt + 1;
  if (prompt > context)
    return createStringError("the prompt has " + Twine(prompt) + " tokens, expected at most the context of " + Twine(context));
  if (count > room)
    return createStringError("-n is " + Twine(count) + " behind a prompt of " + Twine(prompt) +
                             " tokens, expected at most " + Twine(room) + ": the context has " + Twine(context));
  return count ? count.getValue() : room;
}

/// Writes tokens as they come: ids, or pieces of text.
class Output {
public:
  explicit Output(const Vocabulary *vocabulary) : vocabulary(vocabulary) {}
  /// False where nobody can read it any more.
  [[nodiscard]] bool write(int32_t previous, int32_t id) {
    if (vocabulary)
      outs() << vocabulary->decode(previous, id);
    else
      outs() << (written ? " " : "") << id;
    outs().flush();
    written = true;
    return !outs().has_error();
  }
  void end() {
    if (written)
      outs() << "\n";
    outs().flush();
  }

private:
  const Vocabulary *vocabulary; ///< null: ids
  bool written = false;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Generates up to `most` tokens behind `ids` and prints them, then the speed.
Error generate(Session &session, std::vector<int32_t> ids, int64_t most, Output &output) {
  Sampler sampler(samplerOptions());
  size_t promptLength = ids.size();
  auto start = std::chrono::steady_clock::now();
  if (Error error = session.append(ids))
    return error;
  double prefill = secondsSince(start);
  start = std::chrono::steady_clock::now();
  int64_t decoded = 0;
  for (int64_t made = 0; made < most; ++made) {
    if (made > 0) {
      if (Error error = session.append(ids.back()))
        return error;
      ++decoded;
    }
    auto next = sampler.next(session.lastLogits(), ids);
    if (!next)
      return next.takeError();
    if (is_contained(stopIds, *next))
      break;
    if (!output.write(ids.back(), *next))
      break;
    ids.push_back(*next);
  }
  double decode = secondsSince(start);
  output.end();
  errs() << fmt::format("prefill {} tokens in {:.1f} ms: {:.1f} tokens/s\n", promptLength, prefill * 1e3,
                        static_cast<double>(promptLength) / prefill);
  if (decoded > 0)
    errs() << fmt::format("decode  {} tokens in {:.1f} ms: {:.1f} tokens/s\n", decoded, decode * 1e3,
                          static_cast<double>(decoded) / decode);
  return Error::success();
}

Error run() {
  if (Error error = checkUsage())
    return error;
  auto options = flags.options();
  if (!options)
    return options.takeError();
  options->decode = true;
  auto opened = source.open();
  if (!opened)
    return opened.takeError();
  options->weightTypes = opened->file->weightTypes();
  const ModelConfig &config = opened->file->config;
  auto vocabulary = findVocabulary(config.vocabSize);
  if (!vocabulary)
    return vocabulary.takeError();
  auto ids = promptIds(config, *vocabulary);
  if (!ids)
    return ids.takeError();
  if (Error error = checkIds(stopIds, "stop", config.vocabSize))
    return error;
  auto most = tokensToGenerate(ids->size(), config.contextWindow);
  if (!most)
    return most.takeError();
  auto model = source.compile(opened->graph, *options, source.threads);
  if (!model)
    return model.takeError();
  if (Error error = source.load(**model, *opened->file))
    return error;
  auto session = Session::create(**model);
  if (!session)
    return session.takeError();
  bool text = *vocabulary && !printIds;
  Output output(text ? &**vocabulary : nullptr);
  if (text)
    outs() << prompt;
  return generate(**session, std::move(*ids), *most, output);
}

} // namespace

Verb generateVerb() { return {&generateCommand, run}; }

} // namespace ckjit::tool
