//===- CppTest.cpp - The C++ interface ------------------------------------===//
#include "ApiTest.h"
#include <ckjit/Sampler.h>
#include <ckjit/Session.h>
#include <ckjit/Vocabulary.h>
#include <pthread.h>

using namespace ckjit_test;

namespace {
ckjit::Model randomModel(const ckjit::ModelOptions &options = {}) {
  ckjit::EngineOptions engine;
  engine.threads = 2;
  engine.cache = false;
  return ckjit::Model::random(ckjit::Engine::create(engine).value(), kConfig, 1, options).value();
}
} // namespace

TEST_CASE("C++: a session gives what the C interface gives") {
  const ckjit::Model model = randomModel();
  ckjit::Session session = ckjit::Session::create(model).value();
  const std::vector<int32_t> ids = someIds(30);
  CHECK(session.append(ids));
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> other = makeModel(engine.get());
  const Owned<ckjit_session> c = makeSession(other.get());
  must(ckjit_session_append(c.get(), ids.data(), 30, nullptr));
  const ckjit::Span<float> logits = session.lastLogits().value();
  CHECK(sameBits(std::vector<float>(logits.begin(), logits.end()), lastLogits(c.get())));
  CHECK(session.cached() == 30);
  CHECK(session.capacity() == kContext);
  CHECK(model.info()->layers == 2);
  ckjit::Session moved = std::move(session);
  ckjit::Session copy = moved.copy().value();
  CHECK(copy.append(5));
  CHECK(moved.cached() == 30);
  CHECK(copy.truncate(7));
  CHECK(copy.cached() == 7);
  CHECK(copy.reset());
  ckjit::AppendOptions options;
  options.firstRow = 0;
  options.targets = someIds(10);
  CHECK(copy.append(someIds(10), options));
  CHECK(copy.losses()->size == 10);
  CHECK(copy.logits(3)->size == kVocabulary);
  ckjit::Sampler sampler = ckjit::Sampler::create().value();
  const std::vector<float> all = lastLogits(copy.get());
  CHECK(sampler.next(copy.lastLogits().value(), {}).value() ==
        std::max_element(all.begin(), all.end()) - all.begin());
}

TEST_CASE("C++: errors are values with status and message") {
  const ckjit::Model model = randomModel();
  const ckjit::Expected<ckjit::Session> none = ckjit::Session::create(model, -1);
  CHECK_FALSE(none);
  CHECK(none.code() == CKJIT_INVALID_ARGUMENT);
  CHECK_THAT(none.message(), Catch::Contains("capacity is -1"));
  CHECK_THROWS_WITH(ckjit::Session::create(model, -1).value(), Catch::Contains("capacity is -1"));
  ckjit::Session session = ckjit::Session::create(model, 4).value();
  const ckjit::Status full = session.append(someIds(5));
  CHECK_FALSE(full);
  CHECK(full.code() == CKJIT_CACHE_FULL);
  CHECK(session.append(std::vector<int32_t>()).code() == CKJIT_INVALID_ARGUMENT);
  ckjit::AppendOptions options;
  options.targets = {1, 2};
  CHECK_THAT(session.append(someIds(3), options).message(), Catch::Contains("got 2 targets for 3 tokens"));
  CHECK(ckjit::Vocabulary::of(model).code() == CKJIT_FILE_ERROR);
  // What was moved from is an error, not a crash.
  ckjit::Session moved = std::move(session);
  CHECK(session.append(1).code() == CKJIT_INVALID_ARGUMENT);
}

TEST_CASE("C++: callbacks see the stages, cancel, and may throw") {
  std::string stages;
  ckjit::ModelOptions options;
  options.progress = [&](const char *stage, uint64_t, uint64_t) {
    if (stages.find(stage) == std::string::npos)
      stages += std::string(stage) + " ";
    return true;
  };
  const ckjit::Model model = randomModel(options);
  CHECK(stages == "compile load ");
  ckjit::Session session = ckjit::Session::create(model).value();
  ckjit::AppendOptions append;
  append.progress = [](const char *, uint64_t done, uint64_t) { return done < 128; };
  CHECK(session.append(someIds(300), append).code() == CKJIT_CANCELLED);
  CHECK(session.cached() == 0);
  append.progress = [](const char *, uint64_t, uint64_t) -> bool { throw std::logic_error("no more"); };
  CHECK_THROWS_WITH(session.append(someIds(300), append), "no more");
  CHECK(session.append(someIds(300)));
  std::vector<std::string> lines;
  ckjit::EngineOptions engine;
  engine.cache = false;
  engine.log = [&](ckjit_log_level, const char *message) {
    lines.push_back(message);
    return true;
  };
  const ckjit::Engine logging = ckjit::Engine::create(engine).value();
  CHECK(ckjit::Model::random(logging, kConfig, 1));
  CHECK(lines.size() >= 2);
}

TEST_CASE("C++: a callback may end its thread; one that is cancelled ends behind the function") {
  const ckjit::Model model = randomModel();
  ckjit::Session session = ckjit::Session::create(model).value();
  enum { kByExit, kByExitOfC, kByCancel };
  struct Run {
    ckjit::Session &session;
    int how;
    bool returned;
  };
  auto body = [](void *pointer) -> void * {
    Run &run = *static_cast<Run *>(pointer);
    const std::vector<int32_t> ids = someIds(300);
    if (run.how == kByExitOfC) {
      ckjit_append_options options = ckjit_append_default_options();
      options.progress = [](const char *, uint64_t, uint64_t, void *) -> int { pthread_exit(nullptr); };
      (void)ckjit_session_append(run.session.get(), ids.data(), 300, &options);
    } else {
      ckjit::AppendOptions options;
      options.progress = [&](const char *, uint64_t, uint64_t) -> bool {
        if (run.how == kByExit)
          pthread_exit(nullptr);
        pthread_cancel(pthread_self());
        pthread_testcancel();
        return true;
      };
      (void)run.session.append(ids, options);
    }
    run.returned = true;
    pthread_testcancel();
    return nullptr;
  };
  for (int how : {kByExit, kByExitOfC, kByCancel}) {
    Run run{session, how, false};
    pthread_t thread;
    void *result = nullptr;
    REQUIRE(pthread_create(&thread, nullptr, body, &run) == 0);
    REQUIRE(pthread_join(thread, &result) == 0);
    INFO(how);
    CHECK(run.returned == (how == kByCancel));
    CHECK(result == (how == kByCancel ? PTHREAD_CANCELED : nullptr));
    CHECK(session.cached() == (how == kByCancel ? 300 : 0));
  }
  CHECK(session.append(someIds(10)));
  CHECK(session.cached() == 310);
}
