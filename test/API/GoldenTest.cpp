//===- GoldenTest.cpp - Golden vectors and a trained model through the C API -===//
#include "ApiTest.h"
#include <algorithm>
#include <cmath>

using namespace ckjit_test;

namespace {

// The golden files' own suggestion for fp32, on logits of size 10 to 25.
constexpr float kTolerance = 1e-4f;

Owned<ckjit_model> open(ckjit_engine *engine, const std::string &weights) {
  ckjit_model *model = nullptr;
  must(ckjit_model_open(engine, weights.c_str(), nullptr, &model));
  return Owned<ckjit_model>(model);
}

ckjit_model_info infoOf(const ckjit_model *model) {
  ckjit_model_info info = {};
  info.struct_size = sizeof info;
  must(ckjit_model_get_info(model, &info));
  return info;
}

/// The row of the session's logits agrees with row `at` of `expected`.
void checkRow(const ckjit_session *session, int64_t row, const std::vector<float> &expected, int64_t at, int64_t vocabulary) {
  const float *logits = nullptr;
  must(ckjit_session_logits(session, row, &logits));
  float worst = 0;
  for (int64_t i = 0; i < vocabulary; ++i)
    worst = std::max(worst, std::abs(logits[i] - expected[static_cast<size_t>(at * vocabulary + i)]));
  INFO("row " << at);
  CHECK(worst <= kTolerance);
}

int32_t argmax(const std::vector<float> &logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// The string or number behind `"key":` in the part of `json` that starts with `"part":`, escapes resolved.
std::string jsonField(const std::string &json, const std::string &part, const std::string &key) {
  size_t at = json.find("\"" + part + "\": {");
  REQUIRE(at != std::string::npos);
  at = json.find("\"" + key + "\": ", at);
  REQUIRE(at != std::string::npos);
  at += key.size() + 4;
  std::string value;
  if (json[at] != '"')
    return json.substr(at, json.find_first_of(",\n", at) - at);
  for (++at; json[at] != '"'; ++at)
    value += json[at] != '\\' ? json[at] : json[++at] == 'n' ? '\n' : json[at];
  return value;
}
} // namespace

TEST_CASE("golden logits of every fp32 case") {
  const Owned<ckjit_engine> engine = makeEngine();
  for (const char *name : {"a_mha_fp32", "b_gqa_fp32", "b_gqa_full", "c_awkward_dims", "d_nope_pos"}) {
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      return;
    INFO(name);
    const Owned<ckjit_model> model = open(engine.get(), folder + "/model.bump");
    const int64_t vocabulary = infoOf(model.get()).vocabulary;
    std::vector<int32_t> ids = readValues<int32_t>(folder + "/tokens.bin");
    for (int32_t &id : ids) // two are out of range, which the seed reads as 0
      id = id < 0 || id >= vocabulary ? 0 : id;
    const std::vector<float> expected = readValues<float>(folder + "/logits_fp64.bin");
    REQUIRE(expected.size() == ids.size() * static_cast<size_t>(vocabulary));
    const Owned<ckjit_session> session = makeSession(model.get());
    ckjit_append_options options = ckjit_append_default_options();
    options.first_row = 0;
    must(ckjit_session_append(session.get(), ids.data(), static_cast<int64_t>(ids.size()), &options));
    for (int64_t row = 0; row < static_cast<int64_t>(ids.size()); ++row)
      checkRow(session.get(), row, expected, row, vocabulary);
  }
}

TEST_CASE("the golden case of decoding: a prefill of 9, then one by one") {
  const std::string folder = sharedPath("golden/i_decode");
  if (folder.empty())
    return;
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = open(engine.get(), folder + "/model.bump");
  const int64_t vocabulary = infoOf(model.get()).vocabulary;
  const std::vector<int32_t> ids = readValues<int32_t>(folder + "/tokens.bin");
  const std::vector<float> expected = readValues<float>(folder + "/logits_fp64.bin");
  const Owned<ckjit_session> session = makeSession(model.get());
  must(ckjit_session_append(session.get(), ids.data(), 9, nullptr));
  checkRow(session.get(), 8, expected, 8, vocabulary);
  for (int64_t at = 9; at < 21; ++at) {
    must(ckjit_session_append(session.get(), &ids[static_cast<size_t>(at)], 1, nullptr));
    checkRow(session.get(), 0, expected, at, vocabulary);
  }
}

TEST_CASE("golden losses") {
  const Owned<ckjit_engine> engine = makeEngine();
  for (const char *name : {"h_train_gqa", "h_train_mha"}) {
    const std::string folder = sharedPath(std::string("golden/") + name);
    if (folder.empty())
      return;
    INFO(name);
    const Owned<ckjit_model> model = open(engine.get(), folder + "/model.bump");
    std::vector<int32_t> ids = readValues<int32_t>(folder + "/tokens.bin");
    // As many as there are rows of logits; the files go on to the context.
    ids.resize(readValues<float>(folder + "/logits_fp64.bin").size() /
               static_cast<size_t>(infoOf(model.get()).vocabulary));
    const std::vector<int32_t> targets = readValues<int32_t>(folder + "/targets.bin");
    const float expected = readValues<float>(folder + "/loss.bin").at(0);
    const Owned<ckjit_session> session = makeSession(model.get());
    ckjit_append_options options = ckjit_append_default_options();
    options.first_row = 0;
    options.targets = targets.data();
    must(ckjit_session_append(session.get(), ids.data(), static_cast<int64_t>(ids.size()), &options));
    const float *losses = nullptr;
    int64_t count = 0;
    must(ckjit_session_losses(session.get(), &losses, &count));
    REQUIRE(count == static_cast<int64_t>(ids.size()));
    double mean = 0;
    for (int64_t i = 0; i < count; ++i)
      mean += losses[i] / static_cast<double>(count);
    CHECK(std::abs(mean - expected) <= 1e-4 * expected);
  }
}

TEST_CASE("stories260K: greedy ids and text of all four prompts") {
  const std::string folder = sharedPath("data/stories260K");
  if (folder.empty())
    return;
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = open(engine.get(), folder + "/model.bump");
  ckjit_vocabulary *vocabulary = nullptr;
  must(ckjit_vocabulary_of_model(model.get(), &vocabulary));
  const Owned<ckjit_vocabulary> owned(vocabulary);
  ckjit_sampler *sampler = nullptr;
  must(ckjit_sampler_create(nullptr, &sampler));
  const Owned<ckjit_sampler> ownedSampler(sampler);
  const int64_t size = infoOf(model.get()).vocabulary;
  CHECK(size == 512);
  const std::string json = readText(folder + "/greedy.json");
  for (const char *name : {"empty", "once", "lily", "dog"}) {
    INFO(name);
    const std::vector<int32_t> expected = readValues<int32_t>(folder + "/" + name + ".tokens.bin");
    const std::string prompt = jsonField(json, name, "prompt"), text = jsonField(json, name, "text");
    const size_t from = std::stoul(jsonField(json, name, "greedy_from"));
    std::vector<int32_t> ids(prompt.size() + 2);
    int64_t count = 0;
    must(ckjit_vocabulary_encode(vocabulary, prompt.data(), prompt.size(), ids.data(), static_cast<int64_t>(ids.size()), &count));
    ids.resize(static_cast<size_t>(count));
    CHECK(ids == std::vector<int32_t>(expected.begin(), expected.begin() + static_cast<long>(from)));
    const Owned<ckjit_session> session = makeSession(model.get());
    must(ckjit_session_append(session.get(), ids.data(), count, nullptr));
    while (ids.size() < expected.size()) {
      const std::vector<float> logits = lastLogits(session.get(), size);
      int32_t id = -1;
      must(ckjit_sampler_next(sampler, logits.data(), size, nullptr, 0, &id));
      CHECK(id == argmax(logits));
      ids.push_back(id);
      must(ckjit_session_append(session.get(), &id, 1, nullptr));
    }
    CHECK(ids == expected);
    // The text goes on for one token that no place in the cache is left for, or ends before a begin of text.
    if (ids.back() == 1)
      ids.pop_back();
    else
      ids.push_back(argmax(lastLogits(session.get(), size)));
    std::string said;
    for (size_t i = 1; i < ids.size(); ++i) {
      char piece[64];
      size_t length = 0;
      must(ckjit_vocabulary_decode(vocabulary, ids[i - 1], ids[i], piece, sizeof piece, &length));
      said.append(piece, length);
    }
    CHECK(said == text);
  }
}
