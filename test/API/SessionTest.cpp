//===- SessionTest.cpp - Conversations through the C API ------------------===//
#include "ApiTest.h"
#include <algorithm>
#include <cfenv>

using namespace ckjit_test;

namespace {
struct Stop {
  std::string stage;
  uint64_t at;   ///< cancels from here on
  int calls = 0; ///< of the stage
};

int stopAt(const char *stage, uint64_t done, uint64_t, void *user) {
  Stop &stop = *static_cast<Stop *>(user);
  if (stage != stop.stage)
    return 0;
  ++stop.calls;
  return done >= stop.at;
}

ckjit_append_options withStop(Stop &stop) {
  ckjit_append_options options = ckjit_append_default_options();
  options.progress = stopAt;
  options.progress_user = &stop;
  return options;
}
} // namespace

TEST_CASE("a long append runs in pieces and gives the bits of one") {
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = makeModel(engine.get());
  // Around a piece of 128, and with a rest that a program for few tokens would take.
  for (int64_t count : {127, 128, 129, 130, 257, 260, 599, 600}) {
    INFO(count << " tokens");
    const std::vector<int32_t> ids = someIds(count);
    const Owned<ckjit_session> whole = makeSession(model.get()), pieces = makeSession(model.get());
    ckjit_append_options options = ckjit_append_default_options();
    options.first_row = 0; // all rows of logits: one run
    must(ckjit_session_append(whole.get(), ids.data(), count, &options));
    Stop never{"append", UINT64_MAX};
    options = withStop(never);
    must(ckjit_session_append(pieces.get(), ids.data(), count, &options));
    CHECK(never.calls == 1 + (count - 1) / 128);
    CHECK(sameBits(lastLogits(whole.get()), lastLogits(pieces.get())));
    // Some rows of the middle on: those rows, and no others.
    const Owned<ckjit_session> some = makeSession(model.get());
    options = ckjit_append_default_options();
    options.first_row = count / 2;
    must(ckjit_session_append(some.get(), ids.data(), count, &options));
    for (int64_t row : {count / 2, count - 1}) {
      const float *a = nullptr, *b = nullptr;
      must(ckjit_session_logits(whole.get(), row, &a));
      must(ckjit_session_logits(some.get(), row, &b));
      CHECK(std::memcmp(a, b, sizeof(float) * kVocabulary) == 0);
    }
    const float *none = nullptr;
    fails(ckjit_session_logits(some.get(), count / 2 - 1, &none), CKJIT_INVALID_ARGUMENT, "computed rows");
    CHECK(none == nullptr);
  }
}

TEST_CASE("a cancelled append leaves the session as it was") {
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = makeModel(engine.get());
  const std::vector<int32_t> ids = someIds(500);
  const Owned<ckjit_session> session = makeSession(model.get()), other = makeSession(model.get());
  ckjit_append_options first = ckjit_append_default_options();
  const std::vector<int32_t> targets = someIds(40);
  first.targets = targets.data();
  first.first_row = 0;
  must(ckjit_session_append(session.get(), ids.data(), 40, &first));
  must(ckjit_session_append(other.get(), ids.data(), 40, &first));
  const std::vector<float> before = lastLogits(session.get());
  const float *losses = nullptr;
  int64_t count = 0;
  must(ckjit_session_losses(session.get(), &losses, &count));
  const std::vector<float> lossesBefore(losses, losses + count);
  for (uint64_t at : {0, 128, 256, 384}) {
    Stop stop{"append", at};
    ckjit_append_options options = withStop(stop);
    fails(ckjit_session_append(session.get(), ids.data(), 500, &options), CKJIT_CANCELLED,
          "stage append, " + std::to_string(at) + " of 500 done");
    CHECK(ckjit_session_cached(session.get()) == 40);
    CHECK(sameBits(before, lastLogits(session.get())));
    must(ckjit_session_losses(session.get(), &losses, &count));
    CHECK(lossesBefore == std::vector<float>(losses, losses + count));
    const float *row = nullptr;
    must(ckjit_session_logits(session.get(), 0, &row));
  }
  must(ckjit_session_append(session.get(), ids.data(), 500, nullptr));
  must(ckjit_session_append(other.get(), ids.data(), 500, nullptr));
  CHECK(sameBits(lastLogits(session.get()), lastLogits(other.get())));
}

TEST_CASE("a full cache is CKJIT_CACHE_FULL, and changes nothing") {
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = makeModel(engine.get());
  const Owned<ckjit_session> session = makeSession(model.get(), 8);
  CHECK(ckjit_session_capacity(session.get()) == 8);
  const std::vector<int32_t> ids = someIds(9);
  must(ckjit_session_append(session.get(), ids.data(), 8, nullptr));
  const std::vector<float> before = lastLogits(session.get());
  fails(ckjit_session_append(session.get(), ids.data(), 1, nullptr), CKJIT_CACHE_FULL, "it holds 8 of 8");
  CHECK(CKJIT_CACHE_FULL == -3); // the seed's
  CHECK(ckjit_session_cached(session.get()) == 8);
  CHECK(sameBits(before, lastLogits(session.get())));
  must(ckjit_session_truncate(session.get(), 5));
  fails(ckjit_session_append(session.get(), ids.data(), 4, nullptr), CKJIT_CACHE_FULL, "got 4 tokens more");
  must(ckjit_session_append(session.get(), &ids[5], 3, nullptr));
  CHECK(ckjit_session_cached(session.get()) == 8);
}

TEST_CASE("truncate goes back, reset starts anew, a copy goes its own way") {
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = makeModel(engine.get());
  const std::vector<int32_t> ids = someIds(300);
  const Owned<ckjit_session> session = makeSession(model.get());
  must(ckjit_session_append(session.get(), ids.data(), 300, nullptr));
  ckjit_session *made = nullptr;
  must(ckjit_session_copy(session.get(), &made));
  const Owned<ckjit_session> copy(made);
  const std::vector<float> prompt = lastLogits(session.get());
  CHECK(sameBits(prompt, lastLogits(copy.get())));
  CHECK(ckjit_session_cached(copy.get()) == 300);
  must(ckjit_session_append(session.get(), &ids[1], 1, nullptr));
  CHECK(sameBits(prompt, lastLogits(copy.get())));
  must(ckjit_session_append(copy.get(), &ids[2], 1, nullptr));
  CHECK_FALSE(sameBits(lastLogits(session.get()), lastLogits(copy.get())));
  must(ckjit_session_truncate(copy.get(), 300));
  must(ckjit_session_append(copy.get(), &ids[1], 1, nullptr));
  CHECK(sameBits(lastLogits(session.get()), lastLogits(copy.get())));
  fails(ckjit_session_truncate(copy.get(), 302), CKJIT_INVALID_ARGUMENT, "can't keep 302 tokens");
  must(ckjit_session_reset(copy.get()));
  CHECK(ckjit_session_cached(copy.get()) == 0);
  must(ckjit_session_append(copy.get(), ids.data(), 300, nullptr));
  CHECK(sameBits(prompt, lastLogits(copy.get())));
}

TEST_CASE("a copy has the losses and all rows of logits") {
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = makeModel(engine.get());
  const Owned<ckjit_session> session = makeSession(model.get());
  const std::vector<int32_t> ids = someIds(20);
  std::vector<int32_t> targets = someIds(20);
  targets[7] = CKJIT_IGNORED_TARGET;
  ckjit_append_options options = ckjit_append_default_options();
  options.first_row = 5;
  options.targets = targets.data();
  must(ckjit_session_append(session.get(), ids.data(), 20, &options));
  ckjit_session *made = nullptr;
  must(ckjit_session_copy(session.get(), &made));
  const Owned<ckjit_session> copy(made);
  const float *a = nullptr, *b = nullptr;
  int64_t count = 0;
  must(ckjit_session_losses(session.get(), &a, &count));
  REQUIRE(count == 15);
  CHECK(a[2] == 0.0f);
  CHECK(a[0] > 0.0f);
  must(ckjit_session_losses(copy.get(), &b, &count));
  REQUIRE(count == 15);
  CHECK(std::equal(a, a + 15, b));
  for (int64_t row = 5; row < 20; ++row) {
    must(ckjit_session_logits(session.get(), row, &a));
    must(ckjit_session_logits(copy.get(), row, &b));
    CHECK(std::memcmp(a, b, sizeof(float) * kVocabulary) == 0);
  }
  must(ckjit_session_append(session.get(), ids.data(), 3, nullptr));
  must(ckjit_session_losses(session.get(), &a, &count));
  CHECK(count == 0);
}

TEST_CASE("handles may be destroyed in any order") {
  Owned<ckjit_engine> engine = makeEngine();
  Owned<ckjit_model> model = makeModel(engine.get());
  Owned<ckjit_session> session = makeSession(model.get());
  engine.reset();
  model.reset();
  const std::vector<int32_t> ids = someIds(5);
  must(ckjit_session_append(session.get(), ids.data(), 5, nullptr));
  ckjit_session *made = nullptr;
  must(ckjit_session_copy(session.get(), &made));
  session.reset();
  CHECK(lastLogits(made).size() == kVocabulary);
  ckjit_session_destroy(made);
}

TEST_CASE("results don't depend on how the host rounds, flushes or traps") {
  const Owned<ckjit_engine> engine = makeEngine();
  const std::vector<int32_t> ids = someIds(40);
  auto run = [&](ckjit_model *model) {
    const Owned<ckjit_session> session = makeSession(model);
    must(ckjit_session_append(session.get(), ids.data(), 39, nullptr));
    must(ckjit_session_append(session.get(), &ids[39], 1, nullptr));
    return lastLogits(session.get());
  };
  const Owned<ckjit_model> model = makeModel(engine.get());
  const std::vector<float> expected = run(model.get());
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetround(FE_UPWARD);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
  constexpr unsigned kFlush = 0x8040; // FTZ and DAZ, as code built with -ffast-math sets them
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | kFlush);
  const std::vector<float> again = run(model.get());
  // A model with threads that start now.
  const Owned<ckjit_model> other = makeModel(engine.get());
  const std::vector<float> others = run(other.get());
  const int rounding = std::fegetround();
  const unsigned flush = __builtin_ia32_stmxcsr() & kFlush;
  std::fesetenv(&before);
  CHECK(sameBits(expected, again));
  CHECK(sameBits(expected, others));
  CHECK(rounding == FE_UPWARD);
  CHECK(flush == kFlush);
}
