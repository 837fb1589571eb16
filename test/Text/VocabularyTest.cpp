//===- VocabularyTest.cpp - Text to token ids and back --------------------===//
#include "ckjit/Text/Vocabulary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

using namespace ckjit;
using llvm::StringRef;

namespace {

void append(std::string &bytes, const void *data, size_t size) { bytes.append(static_cast<const char *>(data), size); }
void word(std::string &bytes, uint32_t value) { append(bytes, &value, sizeof(value)); }
void piece(std::string &bytes, float score, StringRef text) {
  append(bytes, &score, sizeof(score));
  word(bytes, static_cast<uint32_t>(text.size()));
  bytes += text;
}

/// Three special ids, the bytes, then the given pieces with scores.
std::string file(const std::vector<std::pair<std::string, float>> &pieces, uint32_t longest = 16) {
  std::string bytes;
  word(bytes, longest);
  for (const char *name : {"<unk>", "\n<s>\n", "\n</s>\n"})
    piece(bytes, 0, name);
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    piece(bytes, 0, name);
  }
  for (const auto &[text, score] : pieces)
    piece(bytes, score, text);
  return bytes;
}

constexpr int32_t kFirst = 259; ///< id of the first piece of file()

Vocabulary parse(const std::string &bytes, int64_t size) {
  llvm::Expected<Vocabulary> vocabulary = Vocabulary::parse(bytes, "test", size);
  if (!vocabulary)
    FAIL(llvm::toString(vocabulary.takeError()));
  return std::move(*vocabulary);
}

std::string errorOf(const std::string &bytes, int64_t size) {
  llvm::Expected<Vocabulary> vocabulary = Vocabulary::parse(bytes, "test", size);
  return vocabulary ? "" : llvm::toString(vocabulary.takeError());
}

std::string decodeAll(const Vocabulary &vocabulary, llvm::ArrayRef<int32_t> ids) {
  std::string text;
  for (size_t i = 1; i < ids.size(); ++i)
    text += vocabulary.decode(ids[i - 1], ids[i]);
  return text;
}

using Ids = std::vector<int32_t>;

} // namespace

TEST_CASE("the pair that scores highest is merged first") {
  // " ab": by the scores b+c before a+b, so "abc" is a, bc and not ab, c.
  const Vocabulary v = parse(file({{" ", -1}, {"a", -1}, {"b", -1}, {"c", -1}, {"ab", -5}, {"bc", -4}}), kFirst + 6);
  CHECK(v.encode("abc") == Ids{1, kFirst, kFirst + 1, kFirst + 5});
  CHECK(v.encode("ab") == Ids{1, kFirst, kFirst + 4});
  CHECK(v.encode("") == Ids{1});
}

TEST_CASE("of equal scores the leftmost pair is merged first, and merges build on merges") {
  const Vocabulary v = parse(file({{" ", 0}, {"a", 0}, {"aa", 1}, {"aaa", 1}}), kFirst + 4);
  // aaaa: (aa)aa -> then aa+a = aaa at the left scores like a+a at the right: left first.
  CHECK(v.encode("aaaa") == Ids{1, kFirst, kFirst + 3, kFirst + 1});
}

TEST_CASE("what has no piece becomes bytes, whole characters are looked up first") {
  const Vocabulary v = parse(file({{" ", 0}, {"\xC3\xA9", 0}}), kFirst + 2);
  CHECK(v.encode("\xC3\xA9") == Ids{1, kFirst, kFirst + 1});
  CHECK(v.encode("\xC3\xA8") == Ids{1, kFirst, 3 + 0xC3, 3 + 0xA8});
  // Broken UTF-8: byte by byte.
  CHECK(v.encode("\xC3") == Ids{1, kFirst, 3 + 0xC3});
  CHECK(v.encode("\xA8\xFF") == Ids{1, kFirst, 3 + 0xA8, 3 + 0xFF});
  CHECK(decodeAll(v, v.encode("\xC3\xA8\xFFx")) == "\xC3\xA8\xFFx");
}

TEST_CASE("only a space behind the begin of text is dropped") {
  const Vocabulary v = parse(file({{" a", 0}, {" ", 0}}), kFirst + 2);
  CHECK(v.decode(Vocabulary::kBeginOfText, kFirst) == "a");
  CHECK(v.decode(kFirst, kFirst) == " a");
}

TEST_CASE("a file that is no vocabulary is refused with the field") {
  const std::string good = file({{"a", 1}});
  CHECK(errorOf(good, kFirst + 1).empty());
  CHECK_THAT(errorOf("", kFirst), Catch::Contains("test: length of the longest piece: found 0 bytes left"));
  CHECK_THAT(errorOf(good, 100), Catch::Contains("a model of 100 ids") && Catch::Contains("at least 259"));
  CHECK_THAT(errorOf(good, kFirst + 2), Catch::Contains("piece 260 of 261, score: found 0 bytes left, expected 4 bytes"));
  CHECK_THAT(errorOf(good, kFirst), Catch::Contains("9 bytes behind the last piece"));
  CHECK_THAT(errorOf(good.substr(0, good.size() - 1), kFirst + 1), Catch::Contains("piece 259 of 260: found 0 bytes left, expected 1 bytes"));
  CHECK_THAT(errorOf(file({{"a", 1}}, 3), kFirst + 1), Catch::Contains("piece 0 of 260, length: found 5, expected at most 3"));
  CHECK_THAT(errorOf(file({{"a", std::numeric_limits<float>::quiet_NaN()}}), kFirst + 1), Catch::Contains("score: found NaN"));
  std::string huge = file({});
  word(huge, 0);
  word(huge, 0xFFFFFFFF);
  CHECK_THAT(errorOf(huge, kFirst + 1), Catch::Contains("length: found 4294967295"));
}

TEST_CASE("the prompts of a trained model") {
  const std::string folder = std::string(CKJIT_SHARED_DIR) + "/data/stories260K/";
  if (!llvm::sys::fs::exists(folder + "tok512.bin")) {
    WARN("skipped: shared data stories260K not found");
    return;
  }
  CHECK(Vocabulary::beside(folder + "model.bump", 512) == folder + "tok512.bin");
  CHECK(Vocabulary::beside(folder + "model.bump", 511).empty());
  llvm::Expected<Vocabulary> v = Vocabulary::open(folder + "tok512.bin", 512);
  REQUIRE(static_cast<bool>(v));
  auto text = llvm::MemoryBuffer::getFile(folder + "greedy.json");
  REQUIRE(static_cast<bool>(text));
  auto json = llvm::json::parse((*text)->getBuffer());
  REQUIRE(static_cast<bool>(json));
  for (const auto &entry : *json->getAsObject()) {
    const llvm::json::Object &example = *entry.second.getAsObject();
    INFO(entry.first.str());
    Ids expected;
    for (const llvm::json::Value &id : *example.getArray("prompt_ids"))
      expected.push_back(static_cast<int32_t>(*id.getAsInteger()));
    CHECK(v->encode(*example.getString("prompt")) == expected);
    CHECK(decodeAll(*v, expected) == *example.getString("prompt"));
  }
}
