//===- QuantizedTest.cpp - Models of quantized weights through the C API --===//
#include "ApiTest.h"
#include <algorithm>
#include <cmath>

using namespace ckjit_test;

namespace {

Owned<ckjit_engine> engineWith(ckjit_activations activations) {
  ckjit_engine_options options = ckjit_engine_default_options();
  options.threads = 2;
  options.cache = 0;
  options.activations = activations;
  ckjit_engine *engine = nullptr;
  must(ckjit_engine_create(&options, &engine));
  return Owned<ckjit_engine>(engine);
}

Owned<ckjit_model> open(ckjit_engine *engine, const std::string &weights, const ckjit_model_options *options = nullptr) {
  ckjit_model *model = nullptr;
  must(ckjit_model_open(engine, weights.c_str(), options, &model));
  return Owned<ckjit_model>(model);
}

ckjit_model_info infoOf(const ckjit_model *model) {
  ckjit_model_info info = {};
  info.struct_size = sizeof info;
  must(ckjit_model_get_info(model, &info));
  return info;
}

/// Logits of all tokens.
std::vector<float> run(ckjit_model *model, const std::vector<int32_t> &ids) {
  const int64_t vocabulary = infoOf(model).vocabulary;
  const Owned<ckjit_session> session = makeSession(model);
  ckjit_append_options options = ckjit_append_default_options();
  options.first_row = 0;
  must(ckjit_session_append(session.get(), ids.data(), static_cast<int64_t>(ids.size()), &options));
  std::vector<float> all;
  for (size_t row = 0; row < ids.size(); ++row) {
    const float *logits = nullptr;
    must(ckjit_session_logits(session.get(), static_cast<int64_t>(row), &logits));
    all.insert(all.end(), logits, logits + vocabulary);
  }
  return all;
}

/// The largest difference, as a share of the largest logit.
double worstShare(const std::vector<float> &found, const std::vector<float> &expected) {
  REQUIRE(found.size() == expected.size());
  double worst = 0, largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    worst = std::max<double>(worst, std::abs(found[i] - expected[i]));
    largest = std::max<double>(largest, std::abs(expected[i]));
  }
  return worst / largest;
}

constexpr double kInt8Share = 0.05;  ///< int8 activations cost 1 to 3.5 % of the largest logit (SPEC 5)
constexpr double kExactShare = 1e-5; ///< fp32 sums of some hundred terms

// A file put together by hand: one layer, D 32, two heads of 16, I 32, V 7, context 16. Weights are q / 64 with a code
// q of -127 to 127: exact in q8_0 (blocks of 32 weights: fp16 1/64, then the codes) and in fp32.
constexpr const char *kHandConfig = R"({"num_hidden_layers": 1, "hidden_size": 32, "intermediate_size": 32,
  "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 7, "max_position_embeddings": 16,
  "rms_norm_eps": 1e-5, "rope_theta": 10000.0})";

template <typename T> void add(std::string &bytes, T value) { bytes.append(reinterpret_cast<const char *>(&value), sizeof value); }

int code(int tensor, int row, int column) { return (tensor * 71 + row * 37 + column * 53 + row * column * 11) % 61 - 30; }

/// A matrix [rows][32] with the codes of `row` and `column`, in q8_0 or fp32.
template <typename Code> void addMatrix(std::string &bytes, bool quantized, int rows, Code code) {
  for (int row = 0; row < rows; ++row) {
    if (quantized)
      add<uint16_t>(bytes, 0x2400); // 2^-6
    for (int column = 0; column < 32; ++column)
      quantized ? add<int8_t>(bytes, static_cast<int8_t>(code(row, column))) : add<float>(bytes, code(row, column) / 64.0f);
  }
}

std::string tensorBytes(bool quantized) {
  std::string bytes;
  auto floats = [&](int count, float value) {
    for (int i = 0; i < count; ++i)
      add<float>(bytes, value);
  };
  auto matrix = [&](int tensor, int rows) {
    addMatrix(bytes, quantized, rows, [&](int row, int column) { return code(tensor, row, column); });
  };
  matrix(0, 7);        // token_emb
  floats(16 * 32, 0);  // pos_emb
  floats(2 * 32, 1);   // ln1_gamma, ln2_gamma
  for (int tensor : {1, 2, 3}) { // wq, wk, wv [2][16][32], each with its bias [2][16]
    matrix(tensor, 32);
    floats(32, 0.25f);
  }
  if (quantized) // wo [32][2 * 16]
    matrix(4, 32);
  else // [2][32][16]: head by head
    for (int head = 0; head < 2; ++head)
      for (int row = 0; row < 32; ++row)
        for (int lane = 0; lane < 16; ++lane)
          add<float>(bytes, code(4, row, head * 16 + lane) / 64.0f);
  floats(32, 0.25f); // bo
  matrix(5, 64);     // w1: gate, up
  floats(64, 0.25f);
  matrix(6, 32); // w2
  floats(32, 0.25f);
  floats(32, 1); // final_ln_weight
  floats(32, 0);
  return bytes;
}

/// BUMPWGT3 (SPEC 2.1) without a checksum.
std::string handFile(bool quantized) {
  std::string bytes = "BUMPWGT3";
  for (uint32_t field : {3, 1, 1, 7, 32, 16, 2, 16})
    add<uint32_t>(bytes, field);
  for (uint64_t aligned : {32, 16, 16})
    add<uint64_t>(bytes, aligned);
  bytes.resize(128);
  add<uint32_t>(bytes, 18);
  for (int entry = 0; entry < 18; ++entry)
    bytes += static_cast<char>(quantized && (entry == 0 || (entry >= 4 && entry <= 14 && entry % 2 == 0)) ? 9 : 0);
  return bytes + tensorBytes(quantized);
}

/// The hand-made model in a folder with its config.
struct HandModel {
  TemporaryFolder folder;
  ckjit_model_options options = ckjit_model_default_options();
  std::string write(const std::string &name, const std::string &bytes) {
    std::ofstream(folder / "config.json") << kHandConfig;
    std::ofstream(folder / name, std::ios::binary) << bytes;
    options.checksum = CKJIT_CHECKSUM_NEVER;
    return folder / name;
  }
};
const std::vector<int32_t> kIds{1, 4, 2, 6, 0, 3, 5, 5};

} // namespace

TEST_CASE("golden models of quantized weights, with fp32 activations and with int8") {
  const Owned<ckjit_engine> exact = engineWith(CKJIT_ACTIVATIONS_FP32), codes = engineWith(CKJIT_ACTIVATIONS_AUTO);
  for (const auto &[name, types] : {std::pair<std::string, std::string>{"e_q4k", "q4_k"},
                                    {"f_q6k", "q6_k"},
                                    {"g_mixed", "mixed: 7 q4_k, 4 q6_k, 1 fp32, embedding q6_k"}}) {
    const std::string folder = sharedPath("golden/" + name);
    if (folder.empty())
      return;
    INFO(name);
    const Owned<ckjit_model> precise = open(exact.get(), folder + "/model.bump"), fast = open(codes.get(), folder + "/model.bump");
    CHECK(infoOf(precise.get()).weight_types == types);
    CHECK(infoOf(precise.get()).int8_activations == 0);
    CHECK(infoOf(fast.get()).weight_types == types);
    CHECK(infoOf(fast.get()).int8_activations != 0);
    std::vector<int32_t> ids = readValues<int32_t>(folder + "/tokens.bin");
    for (int32_t &id : ids)
      id = id < 0 || id >= infoOf(fast.get()).vocabulary ? 0 : id;
    const std::vector<float> expected = readValues<float>(folder + "/logits_fp64.bin");
    CHECK(worstShare(run(precise.get(), ids), expected) <= kExactShare);
    const double share = worstShare(run(fast.get(), ids), expected);
    INFO("int8: " << share);
    CHECK(share <= kInt8Share);
    CHECK(share > kExactShare);
  }
}

TEST_CASE("a file of q8_0 weights made by hand gives the logits of the same numbers as fp32") {
  HandModel hand;
  const std::string plain = hand.write("plain.bump", handFile(false)), q8 = hand.write("q8.bump", handFile(true));
  const Owned<ckjit_engine> exact = engineWith(CKJIT_ACTIVATIONS_FP32), codes = engineWith(CKJIT_ACTIVATIONS_INT8);
  const Owned<ckjit_model> reference = open(exact.get(), plain, &hand.options);
  const ckjit_model_info info = infoOf(reference.get());
  CHECK(std::string(info.weight_types) == "fp32");
  CHECK(info.int8_activations == 0);
  CHECK(infoOf(open(codes.get(), plain, &hand.options).get()).int8_activations == 0); // nothing to multiply
  const std::vector<float> expected = run(reference.get(), kIds);
  const Owned<ckjit_model> quantized = open(exact.get(), q8, &hand.options);
  CHECK(std::string(infoOf(quantized.get()).weight_types) == "q8_0");
  // 32 weights in 34 bytes: 7 + 4 * 32 + 64 + 32 rows, and 4 * (16 * 32 + 10 * 32 + 2 * 32) of fp32
  CHECK(infoOf(quantized.get()).weight_bytes == (7 + 4 * 32 + 64 + 32) * 34 + 4 * (512 + 64 + 96 + 32 + 64 + 32 + 64));
  CHECK(worstShare(run(quantized.get(), kIds), expected) <= kExactShare);
  CHECK(worstShare(run(open(codes.get(), q8, &hand.options).get(), kIds), expected) <= kInt8Share);
}

TEST_CASE("a strict engine has fp32 activations") {
  HandModel hand;
  const std::string plain = hand.write("plain.bump", handFile(false)), q8 = hand.write("q8.bump", handFile(true));
  ckjit_engine_options options = ckjit_engine_default_options();
  options.cache = 0;
  options.strict = 1;
  ckjit_engine *made = nullptr;
  must(ckjit_engine_create(&options, &made));
  const Owned<ckjit_engine> engine(made);
  const Owned<ckjit_model> model = open(engine.get(), q8, &hand.options);
  CHECK(infoOf(model.get()).int8_activations == 0);
  CHECK(worstShare(run(model.get(), kIds), run(open(engine.get(), plain, &hand.options).get(), kIds)) <= kExactShare);
}

TEST_CASE("weight_type says what a file without a dtype table holds, and nothing of one that has a table") {
  HandModel hand;
  const std::string q8 = hand.write("q8.bump", handFile(true)), raw = hand.write("raw.bin", tensorBytes(true));
  const Owned<ckjit_engine> engine = engineWith(CKJIT_ACTIVATIONS_AUTO);
  ckjit_model_options options = hand.options;
  ckjit_model *model = nullptr;
  options.weight_type = "q8_0";
  fails(ckjit_model_open(engine.get(), q8.c_str(), &options, &model), CKJIT_FILE_ERROR, "a BUMPWGT3 file has a dtype table");
  options.raw = 1;
  const std::vector<float> expected = run(open(engine.get(), q8, &hand.options).get(), kIds);
  CHECK(sameBits(run(open(engine.get(), raw, &options).get(), kIds), expected));
  for (const char *wrong : {"q4_0", static_cast<const char *>(nullptr)}) {
    options.weight_type = wrong;
    fails(ckjit_model_open(engine.get(), raw.c_str(), &options, &model), CKJIT_FILE_ERROR, "bytes of tensor data");
  }
}

TEST_CASE("random models of a type are those of ck-jit init --type") {
  TemporaryFolder folder;
  constexpr const char *kConfig256 = R"({"num_hidden_layers": 2, "hidden_size": 256, "intermediate_size": 40,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 67, "max_position_embeddings": 40,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0})";
  std::ofstream(folder / "config.json") << kConfig256;
  const Owned<ckjit_engine> engine = engineWith(CKJIT_ACTIVATIONS_AUTO);
  for (const std::string type : {"q4_k", "q8_0", "bf16"}) {
    INFO(type);
    const std::string command = std::string(CKJIT_TOOL) + " init " + (folder / "config.json") + " -o " + (folder / "m.bump") +
                                " --seed 3 --type " + type + " > " + (folder / "out") + " 2>&1";
    REQUIRE(std::system(command.c_str()) == 0);
    ckjit_model_options options = ckjit_model_default_options();
    options.weight_type = type.c_str();
    ckjit_model *made = nullptr;
    must(ckjit_model_create_random(engine.get(), kConfig256, 3, &options, &made));
    const Owned<ckjit_model> random(made), file = open(engine.get(), folder / "m.bump");
    CHECK(std::string(infoOf(random.get()).weight_types) == infoOf(file.get()).weight_types);
    CHECK(infoOf(random.get()).weight_bytes == infoOf(file.get()).weight_bytes);
    CHECK(sameBits(run(random.get(), someIds(20)), run(file.get(), someIds(20))));
  }
}
