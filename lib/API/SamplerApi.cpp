//===- SamplerApi.cpp - ckjit_sampler -------------------------------------===//
#include "Handles.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::capi;

static ckjit_sampler_options samplerDefaults() {
  const SamplerOptions defaults;
  return {.struct_size = 0,
          .temperature = defaults.temperature,
          .repeat_penalty = defaults.repeatPenalty,
          .repeat_last = defaults.repeatLast,
          .top_k = defaults.topK,
          .top_p = defaults.topP,
          .min_p = defaults.minP,
          .seed = defaults.seed};
}

static SamplerOptions toOptions(const ckjit_sampler_options &given) {
  return {.repeatPenalty = given.repeat_penalty,
          .repeatLast = given.repeat_last,
          .topK = given.top_k,
          .topP = given.top_p,
          .minP = given.min_p,
          .temperature = given.temperature,
          .seed = given.seed};
}

/// The sampler looks up the logits of ids in the history.
static Error checkHistory(ArrayRef<int32_t> history, int64_t vocabulary) {
  for (auto [place, id] : enumerate(history))
    if (id < 0 || id >= vocabulary)
      return fail(CKJIT_INVALID_ARGUMENT, "history: id " + Twine(id) + " at place " + Twine(place) +
                                              ", expected 0 to " + Twine(vocabulary - 1));
  return Error::success();
}

extern "C" {

int ckjit_sampler_options_init(ckjit_sampler_options *options, size_t struct_size) {
  return initOptions(options, struct_size, samplerDefaults(), "ckjit_sampler_options");
}

int ckjit_sampler_create(const ckjit_sampler_options *options, ckjit_sampler **sampler) {
  return create<ckjit_sampler>(sampler, "sampler", [&]() -> Expected<std::unique_ptr<ckjit_sampler>> {
    auto read = readOptions(options, samplerDefaults(), "ckjit_sampler");
    if (!read)
      return read.takeError();
    if (Error error = checkSampler(toOptions(*read)))
      return withStatus(CKJIT_INVALID_ARGUMENT, std::move(error));
    return std::unique_ptr<ckjit_sampler>(new ckjit_sampler{.sampler = Sampler(toOptions(*read))});
  });
}

void ckjit_sampler_destroy(ckjit_sampler *sampler) { destroy(sampler, "sampler"); }

int ckjit_sampler_next(ckjit_sampler *sampler, const float *logits, int64_t vocabulary, const int32_t *history,
                       int64_t history_count, int32_t *id) {
  return guard([&]() -> Error {
    if (Error error = check(sampler, "sampler"))
      return error;
    if (Error error = notNull(logits, "logits"))
      return error;
    if (Error error = notNull(id, "id"))
      return error;
    if (vocabulary < 1)
      return fail(CKJIT_INVALID_ARGUMENT, "vocabulary is " + Twine(vocabulary) + ", expected 1 or more");
    if (history_count < 0 || (history_count > 0 && !history))
      return fail(CKJIT_INVALID_ARGUMENT, "history_count is " + Twine(history_count) +
                                              (history ? ", expected 0 or more" : ", expected 0: history is NULL"));
    ArrayRef<int32_t> ids(history, static_cast<size_t>(history_count));
    if (Error error = checkHistory(ids, vocabulary))
      return error;
    auto next = sampler->sampler.next(ArrayRef(logits, static_cast<size_t>(vocabulary)), ids);
    if (!next)
      return next.takeError();
    *id = *next;
    return Error::success();
  });
}

} // extern "C"
