//===- WeightFormatTest.cpp - The table of weight formats -----------------===//
#include "ckjit/Layout/WeightFormat.h"
#include <catch2/catch.hpp>
#include <limits>
#include <set>

using namespace ckjit;

namespace {
struct Row {
  int code;
  const char *name;
  int64_t elements, bytes;
};
/// SPEC 2.1 and 5, copied by hand.
const Row kSpec[] = {{0, "fp32", 1, 4},    {1, "bf16", 1, 2},    {2, "fp16", 1, 2},    {5, "q4_0", 32, 18},
                     {6, "q4_1", 32, 20},  {7, "q4_k", 256, 144}, {8, "q6_k", 256, 210}, {9, "q8_0", 32, 34},
                     {11, "q5_0", 32, 22}, {12, "q5_1", 32, 24}};
} // namespace

TEST_CASE("formats are those of the specification, found by code and by name") {
  std::set<int> codes;
  for (const Row &row : kSpec) {
    INFO(row.name);
    codes.insert(row.code);
    const WeightFormat *format = findWeightFormat(static_cast<uint8_t>(row.code));
    REQUIRE(format != nullptr);
    CHECK(static_cast<int>(format->type) == row.code);
    CHECK(format->name == row.name);
    CHECK(format->elements == row.elements);
    CHECK(format->bytes == row.bytes);
    CHECK(format->isQuantized() == (row.elements > 1));
    CHECK(findWeightFormat(row.name) == format);
    CHECK(&formatOf(format->type) == format);
  }
  CHECK(weightFormats().size() == std::size(kSpec));
  CHECK(weightFormats().front().type == DType::FP32);
  for (int code = 0; code < 256; ++code)
    CHECK((findWeightFormat(static_cast<uint8_t>(code)) != nullptr) == (codes.count(code) == 1));
}

TEST_CASE("names are the file's: lower case, whole, none of formats that no weight has") {
  for (const char *name : {"", "q4", "q4_", "q4_kk", "Q4_K", "int8", "int4", "q8_k", "unknown", "fp32 "})
    CHECK(findWeightFormat(name) == nullptr);
}

TEST_CASE("every code has a name for messages") {
  const char *names[] = {"fp32", "bf16", "fp16", "int8", "int4", "q4_0", "q4_1",
                         "q4_k", "q6_k", "q8_0", "q8_k", "q5_0", "q5_1"};
  for (int code = 0; code < 256; ++code)
    CHECK(dtypeName(static_cast<uint8_t>(code)) == (code < 13 ? names[code] : "unknown"));
  CHECK(dtypeName(DType::Q8_K) == "q8_k");
}

TEST_CASE("the embedding and the six matrices of a layer may have other types than fp32") {
  for (const char *name : {"token_emb", "wq", "wk", "wv", "wo", "w1", "w2"})
    CHECK(mayBeQuantized(name));
  for (const char *name : {"pos_emb", "ln1_gamma", "ln2_gamma", "bq", "bk", "bv", "bo", "b1", "b2", "final_ln_weight",
                           "final_ln_bias", "", "w", "WQ"})
    CHECK_FALSE(mayBeQuantized(name));
}

TEST_CASE("bytes of a tensor: whole blocks in each row, none past 2^63") {
  CHECK(storedBytes({3, 5, 512}, DType::Q4_K) == 3 * 5 * 2 * 144);
  CHECK(storedBytes({3, 576}, DType::Q8_0) == 3 * 18 * 34);
  CHECK(storedBytes({7, 48}, DType::FP16) == 7 * 48 * 2);
  CHECK(storedBytes({48}, DType::FP32) == 192);
  CHECK(storedBytes({0, 256}, DType::Q6_K) == 0);
  // 2^62 rows of one block of 2 bytes a weight are 2^63; one row fewer fits.
  CHECK(storedBytes({int64_t(1) << 62, 1}, DType::BF16) == std::nullopt);
  CHECK(storedBytes({(int64_t(1) << 62) - 1, 1}, DType::BF16) == std::numeric_limits<int64_t>::max() - 1);
  CHECK(storedBytes({int64_t(1) << 31, int64_t(1) << 31, 256}, DType::Q4_K) == std::nullopt);
}
