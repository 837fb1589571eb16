//===- Sampler.h - The next id from logits ----------------------*- C++ -*-===//
#ifndef CKJIT_API_SAMPLER_H
#define CKJIT_API_SAMPLER_H

#include <ckjit/Expected.h>

#include <vector>

namespace ckjit {
inline namespace api {

struct SamplerOptions {
  double temperature = 0;   ///< 0: the likeliest id
  double repeatPenalty = 1; ///< 1: off
  int64_t repeatLast = 64;  ///< ids that count as recent
  int64_t topK = 0;         ///< 0: off
  double topP = 1;          ///< 1: off
  double minP = 0;          ///< 0: off
  uint64_t seed = 0;
};

/// Chooses ids one after the other; the same options and logits give the same ids. For one thread at a time.
class Sampler {
public:
  static Expected<Sampler> create(const SamplerOptions &options = {}) {
    ckjit_sampler_options c = ckjit_sampler_default_options();
    c.temperature = options.temperature;
    c.repeat_penalty = options.repeatPenalty;
    c.repeat_last = options.repeatLast;
    c.top_k = options.topK;
    c.top_p = options.topP;
    c.min_p = options.minP;
    c.seed = options.seed;
    ckjit_sampler *made = nullptr;
    Status status = detail::finish(ckjit_sampler_create(&c, &made));
    if (!status)
      return status;
    return Sampler(made);
  }

  /// The id behind `history`.
  Expected<int32_t> next(Span<float> logits, const std::vector<int32_t> &history) {
    int32_t id = 0;
    Status status =
        detail::finish(ckjit_sampler_next(handle.get(), logits.data, static_cast<int64_t>(logits.size),
                                          history.data(), static_cast<int64_t>(history.size()), &id));
    if (!status)
      return status;
    return id;
  }

  ckjit_sampler *get() const { return handle.get(); }

private:
  explicit Sampler(ckjit_sampler *sampler) : handle(sampler) {}
  detail::Owner<ckjit_sampler, ckjit_sampler_destroy> handle;
};

} // namespace api
} // namespace ckjit
#endif
