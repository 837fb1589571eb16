//===- FormatFlags.cpp - The formats of weights that are written ----------===//
#include "FormatFlags.h"
#include "Verbs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>
#include <map>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

static std::string formatNames() {
  return join(map_range(weightFormats(), [](const WeightFormat &format) { return format.name.str(); }), ", ");
}

bool FormatParser::parse(cl::Option &option, StringRef, StringRef argument, std::string &value) {
  if (!findWeightFormat(argument))
    return option.error("is '" + argument + "', expected one of " + formatNames());
  value = argument.str();
  return false;
}

FormatFlags::FormatFlags(cl::SubCommand &command)
    : type("type", cl::sub(command), cl::value_desc("FORMAT"),
           cl::desc("Format of the matrices, and of the embedding without --embed")),
      embed("embed", cl::sub(command), cl::value_desc("FORMAT"),
            cl::desc("Format of the embedding, which is the output head too")),
      layers("layers", cl::sub(command), cl::value_desc("A-B=FORMAT"),
             cl::desc("Another format for the matrices of layers A to B, or of layer A alone (A=FORMAT); of several "
                      "the last counts")) {}

bool FormatFlags::given() const {
  return !type.empty() || !embed.empty() || !layers.empty();
}

Expected<FormatRequest> FormatFlags::request() const {
  FormatRequest request;
  if (!type.empty())
    request.matrices = findWeightFormat(type)->type;
  if (!embed.empty())
    request.embedding = findWeightFormat(embed)->type;
  for (const std::string &text : layers) {
    auto [range, name] = StringRef(text).split('=');
    auto [first, last] = range.split('-');
    const WeightFormat *format = findWeightFormat(name);
    FormatRequest::Layers layer{};
    if (!format || !to_integer(first, layer.first, 10) || first.starts_with("+") ||
        !to_integer(range.contains('-') ? last : first, layer.last, 10) || layer.first > layer.last)
      return usageError("--layers is '" + text + "', expected A-B=FORMAT or A=FORMAT with A up to B, as in 0-3=q6_k, and "
                        "a format of " + formatNames());
    layer.type = format->type;
    request.layers.push_back(layer);
  }
  return request;
}

void ckjit::tool::noteFallbacks(const ModelConfig &config, const FormatChoice &choice) {
  std::vector<TensorSpec> tensors = weightTensors(config);
  std::map<std::tuple<DType, DType, int64_t>, SmallSetVector<StringRef, 8>> groups;
  for (const FormatFallback &fallback : choice.fallbacks)
    groups[{fallback.wanted, choice.types[fallback.tensor], fallback.row}].insert(tensors[fallback.tensor].name);
  for (auto &[key, names] : groups) {
    auto [wanted, given, row] = key;
    errs() << fmt::format("ck-jit: note: {} instead of {} for {}: rows of {} aren't whole blocks of {}\n",
                          dtypeName(given).str(), dtypeName(wanted).str(), join(names, ", "), row,
                          formatOf(wanted).elements);
  }
}

ParallelFor ckjit::tool::onTeam(ThreadTeam &team) {
  return [&team](size_t tasks, function_ref<void(size_t)> task) {
    std::atomic<size_t> next = 0;
    team.run([&](unsigned, unsigned) {
      for (size_t i = next++; i < tasks; i = next++)
        task(i);
    });
  };
}
