//===- SessionTest.cpp - Conversations that share a model -----------------===//
#include "ModelRun.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace ckjit;
using namespace ckjit::test;

namespace {

std::unique_ptr<Model> decodingModel(const ModelConfig &config) {
  CompileOptions options = hostOptions();
  options.decode = true;
  return makeModel(buildForwardGraph(config), options, TestModel(config));
}

std::vector<float> last(const Session &session) { return session.lastLogits().vec(); }

} // namespace

TEST_CASE("sessions of one model don't see each other") {
  const ModelConfig config = goldenConfigs()[1].config;
  const std::unique_ptr<Model> model = decodingModel(config);
  const std::vector<int32_t> a = makeTokens(config, 9, 1), b = makeTokens(config, 9, 2);
  const std::unique_ptr<Session> alone = must(Session::create(*model));
  must(alone->append(a));
  const std::unique_ptr<Session> first = must(Session::create(*model)), second = must(Session::create(*model));
  CHECK(first->lastLogits().empty());
  CHECK(alone->logits(9).empty());
  for (size_t i = 0; i < a.size(); ++i) {
    must(first->append(a[i]));
    must(second->append(b[i]));
  }
  const std::unique_ptr<Session> single = must(Session::create(*model));
  for (int32_t id : a)
    must(single->append(id));
  CHECK(sameBits(last(*single), last(*first)));
  CHECK_FALSE(sameBits(last(*first), last(*second)));
  CHECK(first->cached() == 9);
}

TEST_CASE("a copy goes on from the same tokens, by itself") {
  const ModelConfig config = goldenConfigs()[1].config;
  const std::unique_ptr<Model> model = decodingModel(config);
  const std::vector<int32_t> prompt = makeTokens(config, 7, 1);
  const std::unique_ptr<Session> original = must(Session::create(*model));
  must(original->append(prompt));
  const std::unique_ptr<Session> copied = must(original->copy());
  CHECK(copied->cached() == 7);
  CHECK(sameBits(last(*original), last(*copied)));
  must(copied->append(3)); // must not reach the original
  must(original->append(4));
  const std::unique_ptr<Session> fresh = must(Session::create(*model));
  must(fresh->append(prompt));
  must(fresh->append(4));
  CHECK(sameBits(last(*original), last(*fresh)));
  CHECK_FALSE(sameBits(last(*original), last(*copied)));
}

TEST_CASE("truncate goes back, reset starts anew") {
  const ModelConfig config = goldenConfigs()[1].config;
  const std::unique_ptr<Model> model = decodingModel(config);
  const std::unique_ptr<Session> session = must(Session::create(*model));
  const std::vector<int32_t> tokens = makeTokens(config, 6, 1);
  for (int32_t id : tokens)
    must(session->append(id));
  const std::vector<float> expected = last(*session);
  must(session->append(1));
  must(session->truncate(5));
  must(session->append(tokens[5]));
  CHECK(sameBits(expected, last(*session)));
  CHECK_THAT(llvm::toString(session->truncate(7)), Catch::Contains("7 tokens") && Catch::Contains("0 to 6"));
  session->reset();
  CHECK(session->cached() == 0);
  for (int32_t id : tokens)
    must(session->append(id));
  CHECK(sameBits(expected, last(*session)));
}

TEST_CASE("a full cache is an error, never an overwrite") {
  const ModelConfig config = tinyConfig();
  const std::unique_ptr<Model> model = decodingModel(config);
  const std::unique_ptr<Session> session = must(Session::create(*model, 5));
  CHECK(session->capacity() == 5);
  const std::vector<int32_t> tokens = makeTokens(config, 5, 1);
  for (int32_t id : tokens)
    must(session->append(id));
  const std::vector<float> before = last(*session);
  CHECK_THAT(llvm::toString(session->append(1)), Catch::Contains("the cache is full: it holds 5 of 5;"));
  CHECK(session->cached() == 5);
  CHECK(sameBits(before, last(*session)));
  must(session->truncate(3));
  CHECK_THAT(llvm::toString(session->append(tokens)), Catch::Contains("got 5 tokens more, expected at most 2"));
  must(session->append(llvm::ArrayRef(tokens).drop_front(3)));
  CHECK(sameBits(before, last(*session)));
  CHECK_THAT(llvm::toString(Session::create(*model, config.contextWindow + 1).takeError()), Catch::Contains("capacity is"));
  CHECK_THAT(llvm::toString(session->append(llvm::ArrayRef<int32_t>(), 0)), Catch::Contains("got 0 tokens"));
}

TEST_CASE("threads with a session each take turns and agree with one alone") {
  const ModelConfig config = tinyConfig();
  const std::unique_ptr<Model> model = decodingModel(config);
  constexpr int kThreads = 4;
  std::vector<std::vector<float>> found(kThreads), expected(kThreads);
  auto converse = [&](int index, std::vector<float> &result) {
    const std::unique_ptr<Session> session = must(Session::create(*model));
    for (int32_t id : makeTokens(config, 12, static_cast<uint64_t>(index)))
      must(session->append(id));
    result = last(*session);
  };
  for (int i = 0; i < kThreads; ++i)
    converse(i, expected[static_cast<size_t>(i)]);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] { converse(i, found[static_cast<size_t>(i)]); });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < kThreads; ++i)
    CHECK(sameBits(found[static_cast<size_t>(i)], expected[static_cast<size_t>(i)]));
}

TEST_CASE("an append that is asked whether to go on gives the bits of one that isn't") {
  ModelConfig config = goldenConfigs()[1].config;
  config.contextWindow = 400;
  for (bool strict : {false, true}) {
    CompileOptions options = hostOptions(strict);
    options.decode = true;
    const std::unique_ptr<Model> model = makeModel(buildForwardGraph(config), options, TestModel(config));
    const std::vector<int32_t> tokens = makeTokens(config, 397, 1), few = makeTokens(config, 3, 2);
    // From an odd position, with a rest of few tokens behind the pieces, and rows of logits that begin inside a piece.
    for (int64_t firstRow : {0, 127, 128, 300, 393, 393 - 128}) {
      INFO("strict " << strict << ", first row " << firstRow);
      const std::unique_ptr<Session> plain = must(Session::create(*model)), asked = must(Session::create(*model));
      must(plain->append(few, 0));
      must(asked->append(few, 0));
      const llvm::ArrayRef<int32_t> rest = llvm::ArrayRef(tokens).take_front(394);
      must(plain->append(rest, firstRow));
      std::vector<int64_t> heard;
      must(asked->append(rest, firstRow, {}, [&](int64_t done, int64_t total) {
        CHECK(total == 394);
        heard.push_back(done);
        return llvm::Error::success();
      }));
      CHECK(static_cast<int64_t>(heard.size()) == 1 + firstRow / 128);
      for (int64_t row = 0; row < 394; ++row) {
        REQUIRE(asked->logits(row).empty() == (row < firstRow));
        if (row >= firstRow)
          REQUIRE(sameBits(plain->logits(row).vec(), asked->logits(row)));
      }
      const std::unique_ptr<Session> copied = must(asked->copy());
      REQUIRE(sameBits(copied->logits(firstRow).vec(), asked->logits(firstRow)));
      must(plain->append(few[0]));
      must(asked->append(few[0]));
      CHECK(sameBits(last(*plain), last(*asked)));
    }
  }
}

TEST_CASE("an append that is told to stop changes nothing") {
  ModelConfig config = goldenConfigs()[1].config;
  config.contextWindow = 400;
  const std::unique_ptr<Model> model = decodingModel(config);
  const std::unique_ptr<Session> session = must(Session::create(*model)), other = must(Session::create(*model));
  const std::vector<int32_t> tokens = makeTokens(config, 390, 1);
  for (Session *each : {session.get(), other.get()})
    must(each->append(llvm::ArrayRef(tokens).take_front(9), 2));
  int calls = 0;
  auto stop = [&](int64_t done, int64_t) {
    ++calls;
    return done < 256 ? llvm::Error::success() : llvm::createStringError("enough");
  };
  CHECK(llvm::toString(session->append(tokens, 389, {}, stop)) == "enough");
  CHECK(calls == 3);
  CHECK(session->cached() == 9);
  CHECK(session->logits(1).empty());
  for (int64_t row = 2; row < 9; ++row)
    CHECK(sameBits(session->logits(row).vec(), other->logits(row)));
  for (Session *each : {session.get(), other.get()})
    must(each->append(tokens));
  CHECK(sameBits(last(*session), last(*other)));
}
