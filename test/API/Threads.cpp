//===- Threads.cpp - Engines, models and sessions on many threads ---------===//
//
// Built with ThreadSanitizer: this file and the rooms where threads meet (see CMakeLists.txt). A race ends the program
// with the report and code 66.
//
//===----------------------------------------------------------------------===//
#include "Host.h"
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

void inParallel(int count, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

struct Logits {
  float values[kTinyVocabulary];
  bool operator==(const Logits &other) const { return std::memcmp(values, other.values, sizeof values) == 0; }
};

Logits runOf(ckjit_model *model) {
  Logits logits;
  hostRun(model, logits.values);
  return logits;
}

ckjit_model *randomModel(ckjit_engine *engine, uint64_t seed) {
  ckjit_model *model = nullptr;
  MUST(ckjit_model_create_random(engine, kTinyConfig, seed, nullptr, &model) == CKJIT_OK);
  return model;
}

/// Sessions of one model from many threads: each has its own, and copies of one.
void shareModel(ckjit_model *model) {
  const Logits expected = runOf(model);
  ckjit_session *prompt = nullptr;
  int32_t ids[] = {3, 1, 4, 1, 5, 9, 2, 6};
  MUST(ckjit_session_create(model, 0, &prompt) == CKJIT_OK);
  MUST(ckjit_session_append(prompt, ids, 8, nullptr) == CKJIT_OK);
  std::vector<Logits> ends(4);
  inParallel(4, [&](int index) {
    for (int repeat = 0; repeat < 5; ++repeat)
      MUST(runOf(model) == expected);
    ckjit_session *copy = nullptr;
    const float *last = nullptr;
    MUST(ckjit_session_copy(prompt, &copy) == CKJIT_OK);
    for (int32_t id : ids)
      MUST(ckjit_session_append(copy, &id, 1, nullptr) == CKJIT_OK);
    MUST(ckjit_session_last_logits(copy, &last) == CKJIT_OK);
    std::memcpy(ends[static_cast<size_t>(index)].values, last, sizeof(Logits));
    ckjit_session_destroy(copy);
    ckjit_model_info info = {};
    info.struct_size = sizeof info;
    MUST(ckjit_model_get_info(model, &info) == CKJIT_OK);
    // Each thread has an error of its own.
    const std::string text = "can't keep " + std::to_string(1000 + index) + " tokens";
    ckjit_session *bad = nullptr;
    MUST(ckjit_session_create(model, 0, &bad) == CKJIT_OK);
    MUST(ckjit_session_truncate(bad, 1000 + index) == CKJIT_INVALID_ARGUMENT);
    MUST(std::string(ckjit_last_error()).find(text) == 0);
    ckjit_session_destroy(bad);
  });
  for (const Logits &end : ends)
    MUST(end == ends[0]);
  ckjit_session_destroy(prompt);
}

/// Engines and models made, run and destroyed by many threads at once; the objects of all are kept in one folder.
void manyEngines(const char *folder) {
  std::vector<Logits> found(3);
  inParallel(3, [&](int index) {
    for (const char *cache : {static_cast<const char *>(nullptr), folder, folder}) {
      ckjit_engine *engine = hostEngine(2, cache);
      ckjit_model *model = randomModel(engine, 1);
      ckjit_engine_destroy(engine);
      found[static_cast<size_t>(index)] = runOf(model);
      ckjit_model_destroy(model);
    }
  });
  for (const Logits &logits : found)
    MUST(logits == found[0]);
}

/// Models opened at once by one engine; handles given up by one thread while others go on with what hangs on them.
void giveUpEarly(const char *folder) {
  ckjit_engine *engine = hostEngine(2, folder);
  std::vector<ckjit_model *> models(3);
  inParallel(3, [&](int index) { models[static_cast<size_t>(index)] = randomModel(engine, static_cast<uint64_t>(index)); });
  ckjit_session *sessions[3] = {};
  for (size_t i = 0; i < 3; ++i)
    MUST(ckjit_session_create(models[i], 0, &sessions[i]) == CKJIT_OK);
  inParallel(4, [&](int index) {
    if (index == 3) {
      ckjit_engine_destroy(engine);
      for (ckjit_model *model : models)
        ckjit_model_destroy(model);
      return;
    }
    const int32_t id = 7;
    for (int i = 0; i < 20; ++i)
      MUST(ckjit_session_append(sessions[index], &id, 1, nullptr) == CKJIT_OK);
    ckjit_session_destroy(sessions[index]);
  });
}
} // namespace

int main(int argc, char **argv) {
  MUST(argc == 2);
  ckjit_engine *engine = hostEngine(3, argv[1]);
  ckjit_model *model = randomModel(engine, 1);
  shareModel(model);
  manyEngines(argv[1]);
  giveUpEarly(argv[1]);
  ckjit_model_destroy(model);
  ckjit_engine_destroy(engine);
}
