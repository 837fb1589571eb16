//===- ApiTest.h - What the tests of the C interface share ------*- C++ -*-===//
#ifndef CKJIT_TEST_API_APITEST_H
#define CKJIT_TEST_API_APITEST_H

#include <catch2/catch.hpp>
#include <ckjit/ckjit.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace ckjit_test {

/// Two layers, GQA, odd widths, a context longer than the pieces of a long append.
inline const char *const kConfig = R"({"num_hidden_layers": 2, "hidden_size": 40, "intermediate_size": 56,
  "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 67, "max_position_embeddings": 600,
  "rms_norm_eps": 1e-5, "rope_theta": 10000.0})";
inline constexpr int64_t kVocabulary = 67, kContext = 600;

struct Destroy {
  void operator()(ckjit_engine *handle) const { ckjit_engine_destroy(handle); }
  void operator()(ckjit_model *handle) const { ckjit_model_destroy(handle); }
  void operator()(ckjit_session *handle) const { ckjit_session_destroy(handle); }
  void operator()(ckjit_sampler *handle) const { ckjit_sampler_destroy(handle); }
  void operator()(ckjit_vocabulary *handle) const { ckjit_vocabulary_destroy(handle); }
};
template <typename Handle> using Owned = std::unique_ptr<Handle, Destroy>;

inline void must(int status) {
  INFO(ckjit_status_name(status) << ": " << ckjit_last_error());
  REQUIRE(status == CKJIT_OK);
}

/// The call failed with `status`, and its message holds `text`.
inline void fails(int found, int status, const std::string &text) {
  INFO(ckjit_last_error());
  CHECK(std::string(ckjit_status_name(found)) == ckjit_status_name(status));
  CHECK_THAT(ckjit_last_error(), Catch::Contains(text));
}

inline Owned<ckjit_engine> makeEngine(uint32_t threads = 2, const char *cacheDir = nullptr) {
  ckjit_engine_options options = ckjit_engine_default_options();
  options.threads = threads;
  options.cache = cacheDir != nullptr;
  options.cache_dir = cacheDir;
  ckjit_engine *engine = nullptr;
  must(ckjit_engine_create(&options, &engine));
  return Owned<ckjit_engine>(engine);
}
inline Owned<ckjit_model> makeModel(ckjit_engine *engine, const char *config = kConfig, uint64_t seed = 1) {
  ckjit_model *model = nullptr;
  must(ckjit_model_create_random(engine, config, seed, nullptr, &model));
  return Owned<ckjit_model>(model);
}
inline Owned<ckjit_session> makeSession(ckjit_model *model, int64_t capacity = 0) {
  ckjit_session *session = nullptr;
  must(ckjit_session_create(model, capacity, &session));
  return Owned<ckjit_session>(session);
}

inline std::vector<int32_t> someIds(int64_t count, int64_t vocabulary = kVocabulary) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<int32_t>((i * 37 + i * i) % vocabulary));
  return ids;
}

inline std::vector<float> lastLogits(const ckjit_session *session, int64_t vocabulary = kVocabulary) {
  const float *logits = nullptr;
  must(ckjit_session_last_logits(session, &logits));
  return std::vector<float>(logits, logits + vocabulary);
}

inline bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Path below the shared folder; empty, with a message, if it isn't there.
inline std::string sharedPath(const std::string &relative) {
  std::string path = std::string(CKJIT_SHARED_DIR) + "/" + relative;
  if (std::filesystem::exists(path))
    return path;
  WARN("skipped: shared data " << relative << " not found");
  return "";
}

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

template <typename T> std::vector<T> readValues(const std::string &path) {
  std::string bytes = readText(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// A folder of its own, gone at the end.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ckjit-api-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    path = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string path;
};

} // namespace ckjit_test
#endif
