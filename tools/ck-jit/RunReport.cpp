//===- RunReport.cpp - What a run tells -----------------------------------===//
#include "RunReport.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <fmt/format.h>
#include <numeric>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

std::vector<NextToken> ckjit::tool::topTokens(ArrayRef<float> logits, int64_t count) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  count = std::min<int64_t>(count, ids.size());
  // A NaN would break the order; it counts as the smallest value.
  auto key = [&](int32_t id) { return std::isnan(logits[id]) ? -INFINITY : logits[id]; };
  std::partial_sort(ids.begin(), ids.begin() + count, ids.end(), [&](int32_t a, int32_t b) {
    return key(a) != key(b) ? key(a) > key(b) : a < b;
  });
  double top = count ? key(ids[0]) : 0, sum = 0;
  for (float logit : logits)
    sum += std::exp(static_cast<double>(logit) - top);
  std::vector<NextToken> result;
  for (int32_t id : ArrayRef(ids).take_front(count))
    result.push_back({id, logits[id], std::exp(static_cast<double>(logits[id]) - top) / sum});
  return result;
}

static std::string verifiedText(const VerifyResult &verified, bool int8) {
  if (!verified.agrees())
    return "differs: " + verified.message();
  if (int8)
    return fmt::format("{} results agree with the reference: op by op with fp32 activations (worst difference {:.2g} of "
                       "the op's largest value), the run's logits within what int8 costs ({:.2g})",
                       verified.values, verified.worstShare, verified.runShare);
  return fmt::format("{} results agree with the reference (worst difference {:.2g} of the op's largest value)",
                     verified.values, std::max(verified.worstShare, verified.runShare));
}

static std::string timingText(const CompileTimes &times) {
  return fmt::format("  import {:.1f}, passes {:.1f}, translate {:.1f}, codegen {:.1f}, link {:.1f}, cache {:.1f} ms\n",
                     times.import, times.passes, times.translate, times.codegen, times.link, times.cache);
}

std::string ckjit::tool::reportText(const RunReport &report) {
  const ModelConfig &c = report.config;
  std::string text = fmt::format("model    {}: {} layers, {} hidden, {} heads ({} kv), vocab {}, context {}, {:.1f} M "
                                 "parameters, {}\n",
                                 report.model, c.numLayers, c.hiddenSize, c.numHeads, c.numKVHeads, c.vocabSize,
                                 c.contextWindow, report.parameters / 1e6, report.types);
  text += fmt::format("target   {}, {}-bit vectors, {} thread{}, {} activations{}\n", report.target, report.vectorBits, report.threads,
                      report.threads == 1 ? "" : "s", report.int8 ? "int8" : "fp32", report.strict ? ", strict" : "");
  text += fmt::format("compile  {:.0f} ms, {} kernels{}\n", report.compile.total(), report.kernels,
                      report.cached ? " from the cache" : "");
  if (report.timing)
    text += timingText(report.compile);
  text += fmt::format("load     {:.0f} ms\n", report.loadMilliseconds);
  text += fmt::format("prefill  {} tokens in {:.1f} ms: {:.1f} tokens/s\n", report.tokens, report.prefillMilliseconds,
                      report.tokensPerSecond());
  if (report.loss)
    text += fmt::format("loss     {:.6f}, perplexity {:.4f}, over {} next tokens\n", *report.loss,
                        std::exp(*report.loss), report.tokens - 1);
  if (report.verified)
    text += "verify   " + verifiedText(*report.verified, report.int8) + "\n";
  if (!report.next.empty())
    text += fmt::format("next     {:>8} {:>12} {:>12}\n", "id", "logit", "probability");
  for (const NextToken &token : report.next)
    text += fmt::format("         {:>8} {:>12.5f} {:>12.6f}\n", token.id, token.logit, token.probability);
  return text;
}

/// JSON has no NaN and no infinity: null.
static json::Value number(double value) { return std::isfinite(value) ? json::Value(value) : json::Value(nullptr); }

static json::Object compileJson(const RunReport &report) {
  const CompileTimes &times = report.compile;
  return json::Object{{"ms", times.total()},          {"cached", report.cached},
                      {"kernels", report.kernels},    {"import_ms", times.import},
                      {"passes_ms", times.passes},    {"translate_ms", times.translate},
                      {"codegen_ms", times.codegen},  {"link_ms", times.link},
                      {"cache_ms", times.cache}};
}

static json::Object mismatchJson(const Mismatch &mismatch) {
  return json::Object{{"op", mismatch.op},
                      {"name", mismatch.name},
                      {"layer", mismatch.layer},
                      {"node", mismatch.node},
                      {"row", mismatch.row},
                      {"element", mismatch.column},
                      {"found", number(mismatch.found)},
                      {"expected", number(mismatch.expected)},
                      {"tolerance", number(mismatch.tolerance)},
                      {"behind", json::Array(mismatch.behind)},
                      {"suspects", json::Array(mismatch.suspects)}};
}

static json::Object verifiedJson(const VerifyResult &verified) {
  json::Object object{{"agrees", verified.agrees()},
                      {"results", verified.values},
                      {"worst_share", number(verified.worstShare)},
                      {"run_worst_share", number(verified.runShare)}};
  if (verified.first)
    object["first"] = mismatchJson(*verified.first);
  if (verified.run) {
    object["run"] = mismatchJson(*verified.run);
    object["run_only_kernels"] = json::Array(verified.runOnly);
  }
  return object;
}

std::string ckjit::tool::reportJson(const RunReport &report) {
  const ModelConfig &c = report.config;
  json::Object object{
      {"model", json::Object{{"file", json::fixUTF8(report.model)}, {"layers", c.numLayers}, {"hidden", c.hiddenSize},
                             {"intermediate", c.intermediateSize}, {"heads", c.numHeads}, {"kv_heads", c.numKVHeads},
                             {"vocab", c.vocabSize}, {"context", c.contextWindow}, {"parameters", report.parameters},
                             {"weights", report.types}}},
      {"target", json::Object{{"cpu", report.target}, {"vector_bits", report.vectorBits}}},
      {"threads", report.threads},
      {"strict", report.strict},
      {"activations", report.int8 ? "int8" : "fp32"},
      {"compile", compileJson(report)},
      {"load_ms", number(report.loadMilliseconds)},
      {"prefill", json::Object{{"tokens", report.tokens}, {"ms", report.prefillMilliseconds},
                               {"tokens_per_second", number(report.tokensPerSecond())}}}};
  object["loss"] = report.loss ? number(*report.loss) : json::Value(nullptr);
  object["perplexity"] = report.loss ? number(std::exp(*report.loss)) : json::Value(nullptr);
  if (report.verified)
    object["verify"] = verifiedJson(*report.verified);
  json::Array next;
  for (const NextToken &token : report.next)
    next.push_back(json::Object{
        {"id", token.id}, {"logit", number(token.logit)}, {"probability", number(token.probability)}});
  object["next"] = std::move(next);
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}", json::Value(std::move(object))) << "\n";
  return text;
}
