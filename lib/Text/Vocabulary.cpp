//===- Vocabulary.cpp - Text to token ids and back ------------------------===//
#include "ckjit/Text/Vocabulary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <queue>

using namespace llvm;
using namespace ckjit;

namespace {
constexpr uint64_t kWordBytes = 4;
constexpr int32_t kFirstByte = 3, kBytes = 256;
/// No vocabulary is larger; a larger file is something else.
constexpr uint64_t kMaxFileBytes = uint64_t(1) << 30;

/// Reads a vocabulary's fields one after the other.
class Reader {
public:
  Reader(StringRef bytes, StringRef where) : bytes(bytes), where(where) {}

  Expected<uint32_t> word(const Twine &field) {
    auto raw = take(kWordBytes, field);
    if (!raw)
      return raw.takeError();
    return support::endian::read32le(raw->data());
  }
  Expected<StringRef> take(uint64_t count, const Twine &field) {
    if (count > bytes.size() - at)
      return error(field, Twine(bytes.size() - at) + " bytes left", Twine(count) + " bytes");
    StringRef taken = bytes.substr(at, count);
    at += count;
    return taken;
  }
  uint64_t left() const { return bytes.size() - at; }
  Error error(const Twine &field, const Twine &found, const Twine &expected) const {
    return createStringError(Twine(where) + ": " + field + ": found " + found + ", expected " + expected +
                             "; is it a vocabulary in llama2.c's form?");
  }

private:
  StringRef bytes, where;
  uint64_t at = 0;
};

/// A run of text that is one token so far, in a list of neighbours.
struct Symbol {
  int32_t id;
  int previous, next; ///< -1: none
  bool alive = true;
};

/// A merge that was possible when it was found.
struct Merge {
  float score;
  int left, right;
  int32_t leftId, rightId, id;
  bool operator<(const Merge &other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

/// "<0x41>" of a byte token.
std::optional<uint8_t> byteOf(StringRef piece) {
  unsigned value = 0;
  if (piece.size() != 6 || !piece.consume_front("<0x") || !piece.consume_back(">") || piece.getAsInteger(16, value))
    return std::nullopt;
  return static_cast<uint8_t>(value);
}

/// Length of the UTF-8 sequence that starts `text`, 1 where it isn't one.
size_t sequenceLength(StringRef text) {
  auto lead = static_cast<uint8_t>(text.front());
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  for (size_t i = 1; i < length; ++i)
    if (i >= text.size() || (static_cast<uint8_t>(text[i]) & 0xc0) != 0x80)
      return i;
  return length;
}
} // namespace

Expected<Vocabulary> Vocabulary::parse(StringRef bytes, StringRef where, int64_t size) {
  Reader reader(bytes, where);
  Vocabulary vocabulary;
  if (size < kFirstByte + kBytes)
    return reader.error("size", "a model of " + Twine(size) + " ids",
                        "at least " + Twine(kFirstByte + kBytes) + ": three special ids and a token for each byte");
  auto longest = reader.word("length of the longest piece");
  if (!longest)
    return longest.takeError();
  for (int64_t id = 0; id < size; ++id) {
    std::string field = formatv("piece {0} of {1}", id, size);
    auto score = reader.word(field + ", score");
    if (!score)
      return score.takeError();
    float value = bit_cast<float>(*score);
    if (std::isnan(value))
      return reader.error(field + ", score", "NaN", "a number");
    auto length = reader.word(field + ", length");
    if (!length)
      return length.takeError();
    if (*length > *longest)
      return reader.error(field + ", length", Twine(*length), "at most " + Twine(*longest) + ", the longest piece");
    auto piece = reader.take(*length, field);
    if (!piece)
      return piece.takeError();
    vocabulary.pieces.push_back(piece->str());
    vocabulary.scores.push_back(value);
    vocabulary.ids.try_emplace(*piece, static_cast<int32_t>(id));
  }
  if (reader.left() > 0)
    return reader.error("file size", Twine(reader.left()) + " bytes behind the last piece",
                        "the end: the model has " + Twine(size) + " ids");
  return vocabulary;
}

Expected<Vocabulary> Vocabulary::open(StringRef path, int64_t size) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return createStringError(path + ": " + error.message());
  if (!sys::fs::is_regular_file(status) || status.getSize() > kMaxFileBytes)
    return createStringError(path + ": found " +
                             (sys::fs::is_regular_file(status) ? Twine(status.getSize()) + " bytes" : "no regular file") +
                             ", expected a vocabulary in llama2.c's form");
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  return parse((*buffer)->getBuffer(), path, size);
}

std::string Vocabulary::beside(StringRef weights, int64_t size) {
  for (const std::string &name : {std::string("tokenizer.bin"), "tok" + std::to_string(size) + ".bin"}) {
    SmallString<128> path(sys::path::parent_path(weights));
    sys::path::append(path, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

std::vector<int32_t> Vocabulary::encode(StringRef text) const {
  std::vector<Symbol> symbols;
  auto push = [&](int32_t id) {
    int index = static_cast<int>(symbols.size());
    symbols.push_back({id, index - 1, index + 1});
  };
  std::string spaced = text.empty() ? "" : " " + text.str();
  for (StringRef rest = spaced; !rest.empty();) {
    StringRef character = rest.take_front(sequenceLength(rest));
    rest = rest.drop_front(character.size());
    auto known = ids.find(character);
    if (known != ids.end())
      push(known->second);
    else
      for (char byte : character)
        push(kFirstByte + static_cast<uint8_t>(byte));
  }
  if (!symbols.empty())
    symbols.back().next = -1;
  std::priority_queue<Merge> merges;
  auto consider = [&](int left) {
    int right = left < 0 ? -1 : symbols[left].next;
    if (right < 0)
      return;
    auto joint = ids.find(pieces[symbols[left].id] + pieces[symbols[right].id]);
    if (joint != ids.end())
      merges.push({scores[joint->second], left, right, symbols[left].id, symbols[right].id, joint->second});
  };
  for (int i = 0; i < static_cast<int>(symbols.size()); ++i)
    consider(i);
  while (!merges.empty()) {
    Merge merge = merges.top();
    merges.pop();
    Symbol &left = symbols[merge.left], &right = symbols[merge.right];
    if (!left.alive || !right.alive || left.id != merge.leftId || right.id != merge.rightId || left.next != merge.right)
      continue;
    left.id = merge.id;
    left.next = right.next;
    right.alive = false;
    if (left.next >= 0)
      symbols[left.next].previous = merge.left;
    consider(left.previous);
    consider(merge.left);
  }
  std::vector<int32_t> result{kBeginOfText};
  for (const Symbol &symbol : symbols)
    if (symbol.alive)
      result.push_back(symbol.id);
  return result;
}

std::string Vocabulary::decode(int32_t previous, int32_t id) const {
  StringRef piece = pieces[id];
  if (previous == kBeginOfText)
    piece.consume_front(" ");
  if (std::optional<uint8_t> byte = byteOf(piece))
    return std::string(1, static_cast<char>(*byte));
  return piece.str();
}
