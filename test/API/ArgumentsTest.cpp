//===- ArgumentsTest.cpp - Whatever a host passes is an error, not a crash -===//
#include "ApiTest.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fcntl.h>
#include <limits>
#include <thread>
#include <unistd.h>

using namespace ckjit_test;

namespace {

constexpr int kBad = CKJIT_INVALID_ARGUMENT;

/// One handle of each kind.
struct Handles {
  Owned<ckjit_engine> engine = makeEngine(1);
  Owned<ckjit_model> model = makeModel(engine.get());
  Owned<ckjit_session> session = makeSession(model.get());
  Owned<ckjit_sampler> sampler;
  Owned<ckjit_vocabulary> vocabulary;
  Handles() {
    ckjit_sampler *made = nullptr;
    must(ckjit_sampler_create(nullptr, &made));
    sampler.reset(made);
  }
};

/// Writes a vocabulary of 259 + 1 pieces in llama2.c's form: the bytes, and "ab".
std::string writeVocabulary(const TemporaryFolder &folder) {
  std::string bytes;
  auto word = [&](uint32_t value) { bytes.append(reinterpret_cast<const char *>(&value), 4); };
  auto piece = [&](const std::string &text) {
    word(0);
    word(static_cast<uint32_t>(text.size()));
    bytes += text;
  };
  word(7);
  for (const char *text : {"<unk>", "<s>", "</s>"})
    piece(text);
  for (int i = 0; i < 256; ++i) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", i);
    piece(text);
  }
  piece("ab");
  std::ofstream(folder / "v.bin", std::ios::binary) << bytes;
  return folder / "v.bin";
}

/// Every function with every pointer NULL in turn; each call is an error that names the argument.
void passNulls() {
  Handles h;
  ckjit_engine *engine = nullptr;
  ckjit_model *model = nullptr;
  ckjit_session *session = nullptr;
  const float *floats = nullptr;
  int64_t count = 0;
  int32_t id = 0;
  size_t length = 0;
  const std::vector<float> logits(4, 0.5f);

  fails(ckjit_engine_options_init(nullptr, 64), kBad, "options is NULL");
  fails(ckjit_model_options_init(nullptr, 64), kBad, "options is NULL");
  fails(ckjit_append_options_init(nullptr, 64), kBad, "options is NULL");
  fails(ckjit_sampler_options_init(nullptr, 64), kBad, "options is NULL");
  fails(ckjit_engine_create(nullptr, nullptr), kBad, "engine is NULL");
  fails(ckjit_model_open(nullptr, "x", nullptr, &model), kBad, "engine is NULL");
  fails(ckjit_model_open(h.engine.get(), nullptr, nullptr, &model), kBad, "weights_path is NULL");
  fails(ckjit_model_open(h.engine.get(), "x", nullptr, nullptr), kBad, "model is NULL");
  fails(ckjit_model_create_random(nullptr, kConfig, 0, nullptr, &model), kBad, "engine is NULL");
  fails(ckjit_model_create_random(h.engine.get(), nullptr, 0, nullptr, &model), kBad, "config_json is NULL");
  fails(ckjit_model_create_random(h.engine.get(), kConfig, 0, nullptr, nullptr), kBad, "model is NULL");
  ckjit_model_info info = {};
  info.struct_size = sizeof info;
  fails(ckjit_model_get_info(nullptr, &info), kBad, "model is NULL");
  fails(ckjit_model_get_info(h.model.get(), nullptr), kBad, "info is NULL");
  fails(ckjit_session_create(nullptr, 0, &session), kBad, "model is NULL");
  fails(ckjit_session_create(h.model.get(), 0, nullptr), kBad, "session is NULL");
  fails(ckjit_session_copy(nullptr, &session), kBad, "session is NULL");
  fails(ckjit_session_copy(h.session.get(), nullptr), kBad, "copy is NULL");
  fails(ckjit_session_append(nullptr, &id, 1, nullptr), kBad, "session is NULL");
  fails(ckjit_session_append(h.session.get(), nullptr, 1, nullptr), kBad, "ids is NULL");
  fails(ckjit_session_logits(nullptr, 0, &floats), kBad, "session is NULL");
  fails(ckjit_session_logits(h.session.get(), 0, nullptr), kBad, "logits is NULL");
  fails(ckjit_session_last_logits(nullptr, &floats), kBad, "session is NULL");
  fails(ckjit_session_last_logits(h.session.get(), nullptr), kBad, "logits is NULL");
  fails(ckjit_session_losses(nullptr, &floats, &count), kBad, "session is NULL");
  fails(ckjit_session_losses(h.session.get(), nullptr, &count), kBad, "losses is NULL");
  fails(ckjit_session_losses(h.session.get(), &floats, nullptr), kBad, "count is NULL");
  fails(static_cast<int>(ckjit_session_cached(nullptr)), kBad, "session is NULL");
  fails(static_cast<int>(ckjit_session_capacity(nullptr)), kBad, "session is NULL");
  fails(ckjit_session_truncate(nullptr, 0), kBad, "session is NULL");
  fails(ckjit_session_reset(nullptr), kBad, "session is NULL");
  fails(ckjit_sampler_create(nullptr, nullptr), kBad, "sampler is NULL");
  fails(ckjit_sampler_next(nullptr, logits.data(), 4, nullptr, 0, &id), kBad, "sampler is NULL");
  fails(ckjit_sampler_next(h.sampler.get(), nullptr, 4, nullptr, 0, &id), kBad, "logits is NULL");
  fails(ckjit_sampler_next(h.sampler.get(), logits.data(), 4, nullptr, 1, &id), kBad, "history is NULL");
  fails(ckjit_sampler_next(h.sampler.get(), logits.data(), 4, nullptr, 0, nullptr), kBad, "id is NULL");
  ckjit_vocabulary *vocabulary = nullptr;
  fails(ckjit_vocabulary_load(nullptr, 4, &vocabulary), kBad, "path is NULL");
  fails(ckjit_vocabulary_load("x", 4, nullptr), kBad, "vocabulary is NULL");
  fails(ckjit_vocabulary_of_model(nullptr, &vocabulary), kBad, "model is NULL");
  fails(ckjit_vocabulary_of_model(h.model.get(), nullptr), kBad, "vocabulary is NULL");
  fails(ckjit_vocabulary_encode(nullptr, "a", 1, &id, 1, &count), kBad, "vocabulary is NULL");
  fails(ckjit_vocabulary_decode(nullptr, 1, 1, nullptr, 0, &length), kBad, "vocabulary is NULL");
  ckjit_engine_destroy(nullptr);
  ckjit_model_destroy(nullptr);
  ckjit_session_destroy(nullptr);
  ckjit_sampler_destroy(nullptr);
  ckjit_vocabulary_destroy(nullptr);
  ck_codegen_c_skeleton(nullptr, nullptr, stdout);
  (void)engine;
}

/// Programs compiled with the header of version 0.1.0, whose structs were shorter.
void passShortStructs() {
  struct FirstEngineOptions { // as ckjit.h had it
    size_t struct_size;
    uint32_t threads;
    int32_t strict;
    const char *target_cpu;
    int32_t cache;
    const char *cache_dir;
    int32_t perf, gdb;
    ckjit_log_fn log;
    void *log_user;
  } first;
  unsigned char guard[sizeof(ckjit_engine_options)];
  std::memset(guard, 0x5a, sizeof guard);
  must(ckjit_engine_options_init(reinterpret_cast<ckjit_engine_options *>(guard), sizeof first));
  CHECK(std::count(guard + sizeof first, guard + sizeof guard, 0x5a) ==
        static_cast<std::ptrdiff_t>(sizeof guard - sizeof first));
  std::memcpy(&first, guard, sizeof first);
  CHECK(first.struct_size == sizeof first);
  first.cache = 0;
  ckjit_engine *made = nullptr;
  must(ckjit_engine_create(reinterpret_cast<const ckjit_engine_options *>(&first), &made));
  const Owned<ckjit_engine> engine(made);
  const Owned<ckjit_model> model = makeModel(engine.get());
  ckjit_model_info info;
  std::memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(ckjit_model_info, weight_types); // where the struct ended
  must(ckjit_model_get_info(model.get(), &info));
  CHECK(info.vocabulary == kVocabulary);
  CHECK(info.session_bytes > 0);
  CHECK(info.int8_activations == 0x5a5a5a5a);
}

/// What fails for other reasons, deep in the library.
void passNonsense() {
  Handles h;
  ckjit_model *model = nullptr;
  ckjit_session *session = nullptr;
  const std::vector<int32_t> ids = someIds(4);
  fails(ckjit_session_create(h.model.get(), -1, &session), kBad, "capacity is -1");
  fails(ckjit_session_create(h.model.get(), kContext + 1, &session), kBad, "capacity is 601");
  fails(ckjit_session_append(h.session.get(), ids.data(), -1, nullptr), kBad, "count is -1");
  fails(ckjit_session_append(h.session.get(), ids.data(), 0, nullptr), kBad, "got 0 tokens");
  const int32_t outside[] = {3, kVocabulary}, negative[] = {-1};
  fails(ckjit_session_append(h.session.get(), outside, 2, nullptr), kBad, "token 1 is 67, expected 0 to 66");
  fails(ckjit_session_append(h.session.get(), negative, 1, nullptr), kBad, "token 0 is -1");
  ckjit_append_options append = ckjit_append_default_options();
  append.first_row = 4;
  fails(ckjit_session_append(h.session.get(), ids.data(), 4, &append), kBad, "first row of logits is 4");
  append.first_row = -2;
  fails(ckjit_session_append(h.session.get(), ids.data(), 4, &append), kBad, "first row of logits is -2");
  append = ckjit_append_default_options();
  append.targets = outside;
  fails(ckjit_session_append(h.session.get(), ids.data(), 2, &append), kBad, "target 1 is 67");
  ckjit_engine *engine = nullptr;
  ckjit_engine_options how = ckjit_engine_default_options();
  how.activations = 3;
  fails(ckjit_engine_create(&how, &engine), kBad, "activations is 3");
  how.activations = CKJIT_ACTIVATIONS_INT8;
  how.strict = 1;
  fails(ckjit_engine_create(&how, &engine), kBad, "strict is set and activations is CKJIT_ACTIVATIONS_INT8");
  ckjit_model_options typed = ckjit_model_default_options();
  typed.weight_type = "int8"; // a code of the file, which no weight has
  fails(ckjit_model_create_random(h.engine.get(), kConfig, 1, &typed, &model), kBad, "weight_type is 'int8'");
  typed.weight_type = "";
  fails(ckjit_model_open(h.engine.get(), "x", &typed, &model), kBad, "weight_type is ''");
  const float *logits = nullptr;
  fails(ckjit_session_last_logits(h.session.get(), &logits), kBad, "nothing was appended yet");
  fails(ckjit_session_logits(h.session.get(), 0, &logits), kBad, "nothing was appended yet");
  CHECK(ckjit_session_cached(h.session.get()) == 0);
  fails(ckjit_session_truncate(h.session.get(), -1), kBad, "can't keep -1 tokens");
  ckjit_model_options open = ckjit_model_default_options();
  open.checksum = 3;
  fails(ckjit_model_open(h.engine.get(), "x", &open, &model), kBad, "checksum is 3");
  open = ckjit_model_default_options();
  open.context = -5;
  fails(ckjit_model_open(h.engine.get(), "x", &open, &model), kBad, "context is -5");
  open = ckjit_model_default_options();
  open.config_path = open.ir_path = "x";
  fails(ckjit_model_open(h.engine.get(), "x", &open, &model), kBad, "both given");
  fails(ckjit_model_open(h.engine.get(), "/proc/self/mem", nullptr, &model), CKJIT_FILE_ERROR, "/proc/self/mem");
  fails(ckjit_model_open(h.engine.get(), "/", nullptr, &model), CKJIT_FILE_ERROR, "/");
  // An empty path is no path, and isn't NULL either.
  fails(ckjit_model_open(h.engine.get(), "", nullptr, &model), kBad, "weights_path is empty");
  open = ckjit_model_default_options();
  open.config_path = "";
  fails(ckjit_model_open(h.engine.get(), "x", &open, &model), kBad, "config_path is empty");
  open = ckjit_model_default_options();
  open.ir_path = "";
  fails(ckjit_model_open(h.engine.get(), "x", &open, &model), kBad, "ir_path is empty");
  ckjit_engine_options options = ckjit_engine_default_options();
  engine = nullptr;
  options.cache_dir = "";
  fails(ckjit_engine_create(&options, &engine), kBad, "cache_dir is empty");
  // More address space than there is.
  const char *const huge = R"({"num_hidden_layers": 4, "hidden_size": 1048576, "intermediate_size": 1048576,
    "num_attention_heads": 1, "vocab_size": 1000000, "max_position_embeddings": 100000000})";
  CHECK(ckjit_model_create_random(h.engine.get(), huge, 0, nullptr, &model) != CKJIT_OK);
  CHECK(model == nullptr);
  ckjit_vocabulary *vocabulary = nullptr;
  fails(ckjit_vocabulary_of_model(h.model.get(), &vocabulary), CKJIT_FILE_ERROR, "a random model has no vocabulary");
  fails(ckjit_vocabulary_load("/nowhere", 300, &vocabulary), CKJIT_FILE_ERROR, "/nowhere");
  fails(ckjit_vocabulary_load("/nowhere", 0, &vocabulary), kBad, "size is 0");
  fails(ckjit_vocabulary_load("", 300, &vocabulary), kBad, "path is empty");
}
} // namespace

TEST_CASE("NULL for any pointer is an error that names it") { passNulls(); }
TEST_CASE("numbers and paths out of range are errors") { passNonsense(); }
TEST_CASE("structs of version 0.1.0, before activations and types of weights, are taken") { passShortStructs(); }

TEST_CASE("a handle of another kind, or one destroyed, is an error") {
  Handles h;
  ckjit_session *session = nullptr;
  fails(ckjit_session_create(reinterpret_cast<ckjit_model *>(h.engine.get()), 0, &session), kBad, "model is not a ckjit_model");
  int32_t id = 0;
  fails(ckjit_session_append(reinterpret_cast<ckjit_session *>(h.model.get()), &id, 1, nullptr), kBad, "session is not a ckjit_session");
  ckjit_model_destroy(reinterpret_cast<ckjit_model *>(h.session.get())); // nothing happens
  must(ckjit_session_append(h.session.get(), &id, 1, nullptr));
}

TEST_CASE("options of another size") {
  ckjit_engine *engine = nullptr;
  ckjit_engine_options none = {};
  fails(ckjit_engine_create(&none, &engine), kBad, "ckjit_engine: struct_size is 0");
  ckjit_engine_options options = ckjit_engine_default_options();
  CHECK(options.struct_size == sizeof options);
  CHECK(std::string(options.target_cpu) == "native");
  options.struct_size = SIZE_MAX;
  fails(ckjit_engine_create(&options, &engine), kBad, "struct_size is");
  // A program compiled with a later version: fine, as long as it asks for nothing new.
  struct Newer {
    ckjit_engine_options known;
    uint64_t option;
  } newer;
  must(ckjit_engine_options_init(&newer.known, sizeof newer));
  CHECK(newer.known.struct_size == sizeof newer);
  CHECK(newer.option == 0);
  must(ckjit_engine_create(&newer.known, &engine));
  ckjit_engine_destroy(engine);
  newer.option = 1;
  fails(ckjit_engine_create(&newer.known, &engine), CKJIT_UNSUPPORTED, "an option is set that this version");
  fails(ckjit_engine_options_init(&options, 8), kBad, "struct_size is 8");
  Handles h;
  ckjit_model_info info = {};
  fails(ckjit_model_get_info(h.model.get(), &info), kBad, "struct_size is 0");
}

TEST_CASE("the sampler refuses what it can't choose from") {
  Handles h;
  int32_t id = -1;
  std::vector<float> logits{1, 3, 2, 0};
  must(ckjit_sampler_next(h.sampler.get(), logits.data(), 4, nullptr, 0, &id));
  CHECK(id == 1);
  const int32_t outside[] = {4};
  fails(ckjit_sampler_next(h.sampler.get(), logits.data(), 4, outside, 1, &id), kBad, "id 4 at place 0, expected 0 to 3");
  fails(ckjit_sampler_next(h.sampler.get(), logits.data(), 0, nullptr, 0, &id), kBad, "vocabulary is 0");
  fails(ckjit_sampler_next(h.sampler.get(), logits.data(), 4, outside, -1, &id), kBad, "history_count is -1");
  logits[2] = NAN;
  fails(ckjit_sampler_next(h.sampler.get(), logits.data(), 4, nullptr, 0, &id), CKJIT_FAILED, "logit of id 2 is nan");
  ckjit_sampler *sampler = nullptr;
  ckjit_sampler_options options = ckjit_sampler_default_options();
  options.top_p = 0;
  fails(ckjit_sampler_create(&options, &sampler), kBad, "top-p");
  // Drawing: the same seed, the same ids; only the two likeliest.
  options = ckjit_sampler_default_options();
  options.temperature = 1;
  options.top_k = 2;
  options.seed = 5;
  logits[2] = 2;
  std::vector<int32_t> drawn[2];
  for (std::vector<int32_t> &ids : drawn) {
    must(ckjit_sampler_create(&options, &sampler));
    for (int i = 0; i < 200; ++i) {
      must(ckjit_sampler_next(sampler, logits.data(), 4, ids.data(), static_cast<int64_t>(ids.size()), &id));
      ids.push_back(id);
    }
    ckjit_sampler_destroy(sampler);
  }
  CHECK(drawn[0] == drawn[1]);
  // e / (e + 1) of them are the likelier; 200 draws, four deviations of 6.3.
  const auto likelier = std::count(drawn[0].begin(), drawn[0].end(), 1);
  CHECK(likelier + std::count(drawn[0].begin(), drawn[0].end(), 2) == 200);
  CHECK(std::abs(static_cast<double>(likelier) - 146.2) < 25);
}

TEST_CASE("a vocabulary's buffers may be too small, and then it tells the size") {
  const TemporaryFolder folder;
  ckjit_vocabulary *made = nullptr;
  must(ckjit_vocabulary_load(writeVocabulary(folder).c_str(), 260, &made));
  const Owned<ckjit_vocabulary> vocabulary(made);
  int64_t count = 0;
  // Begin of text, a space, and two bytes: tokens of bytes don't merge.
  fails(ckjit_vocabulary_encode(made, "ab", 2, nullptr, 0, &count), CKJIT_BUFFER_TOO_SMALL, "room for 0 ids, expected 4");
  CHECK(count == 4);
  int32_t ids[4] = {9, 9, 9, 9};
  fails(ckjit_vocabulary_encode(made, "ab", 2, ids, 3, &count), CKJIT_BUFFER_TOO_SMALL, "room for 3 ids");
  CHECK(ids[0] == 9);
  must(ckjit_vocabulary_encode(made, "ab", 2, ids, 4, &count));
  CHECK(std::vector<int32_t>(ids, ids + 4) == std::vector<int32_t>{1, 3 + ' ', 3 + 'a', 3 + 'b'});
  must(ckjit_vocabulary_encode(made, nullptr, 0, ids, 4, &count));
  CHECK(count == 1);
  fails(ckjit_vocabulary_encode(made, nullptr, 1, ids, 4, &count), kBad, "text is NULL");
  fails(ckjit_vocabulary_encode(made, "a", 1, nullptr, 4, &count), kBad, "ids is NULL");
  fails(ckjit_vocabulary_encode(made, "a", 1, ids, -1, &count), kBad, "capacity is -1");
  fails(ckjit_vocabulary_encode(made, "a", 1, ids, 4, nullptr), kBad, "count is NULL");
  char text[3] = {'x', 'x', 'x'};
  size_t length = 0;
  fails(ckjit_vocabulary_decode(made, 5, 259, text, 1, &length), CKJIT_BUFFER_TOO_SMALL, "room for 1 bytes, expected 2");
  CHECK(length == 2);
  CHECK(text[0] == 'x');
  must(ckjit_vocabulary_decode(made, 5, 259, text, 2, &length)); // exactly: no zero behind
  CHECK(std::string(text, 3) == "abx");
  must(ckjit_vocabulary_decode(made, 5, 259, text, 3, &length));
  CHECK(text[2] == '\0');
  fails(ckjit_vocabulary_decode(made, 5, 260, text, 3, &length), kBad, "id is 260, expected 0 to 259");
  fails(ckjit_vocabulary_decode(made, -1, 5, text, 3, &length), kBad, "id is -1");
  fails(ckjit_vocabulary_decode(made, 1, 5, nullptr, 3, &length), kBad, "text is NULL");
  fails(ckjit_vocabulary_decode(made, 1, 5, text, 3, nullptr), kBad, "length is NULL");
}

TEST_CASE("the last error is the thread's own") {
  ckjit_engine *engine = nullptr;
  fails(ckjit_engine_create(nullptr, nullptr), kBad, "engine is NULL");
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = ckjit_last_error(); }).join();
  CHECK(elsewhere.empty());
  must(ckjit_engine_create(nullptr, &engine));
  ckjit_engine_destroy(engine);
  CHECK(std::string(ckjit_last_error()) == "engine is NULL"); // stands until the next failure
}

TEST_CASE("versions and names") {
  CHECK(ckjit_version() == CKJIT_VERSION_MAJOR * 10000 + CKJIT_VERSION_MINOR * 100 + CKJIT_VERSION_PATCH);
  CHECK(std::string(ckjit_version_string()) == std::to_string(CKJIT_VERSION_MAJOR) + "." +
                                                   std::to_string(CKJIT_VERSION_MINOR) + "." +
                                                   std::to_string(CKJIT_VERSION_PATCH));
  CHECK(std::string(ckjit_version_string()) == PROJECT_VERSION);
  CHECK(std::string(ckjit_llvm_version_string()).rfind("22.", 0) == 0);
  CHECK(std::string(ckjit_status_name(CKJIT_CACHE_FULL)) == "CKJIT_CACHE_FULL");
  CHECK(std::string(ckjit_status_name(1)) == "unknown status");
  CHECK(std::string(ckjit_status_name(-10)) == "unknown status");
}

TEST_CASE("nothing is printed, whatever fails") {
  const TemporaryFolder folder;
  const std::string path = folder / "printed";
  std::fflush(nullptr);
  const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600);
  const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  passNulls();
  passNonsense();
  std::fflush(nullptr);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (int each : {file, out, err})
    close(each);
  CHECK(readText(path).empty());
}
