//===- Vocabulary.h - Text to token ids and back ----------------*- C++ -*-===//
#ifndef CKJIT_TEXT_VOCABULARY_H
#define CKJIT_TEXT_VOCABULARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ckjit {

/// A vocabulary in llama2.c's form: pieces with scores, merged by byte-pair encoding. Ids 0, 1 and 2 are unknown,
/// begin and end of text; ids 3 to 258 are single bytes.
class Vocabulary {
public:
  static constexpr int32_t kBeginOfText = 1, kEndOfText = 2;

  /// Reads a file: u32 length of the longest piece, then for each piece a f32 score, a u32 length and its bytes, all
  /// little-endian, nothing behind. Errors name the file, what was found and what was expected: not `size` pieces, a
  /// piece beyond the file or longer than the longest, too few pieces for the ids above, a score that is NaN.
  static llvm::Expected<Vocabulary> open(llvm::StringRef path, int64_t size);
  /// The same of bytes in memory; `where` names them in messages.
  static llvm::Expected<Vocabulary> parse(llvm::StringRef bytes, llvm::StringRef where, int64_t size);
  /// The vocabulary beside the weight file `weights`, tokenizer.bin or tok<size>.bin; empty if there is none.
  static std::string beside(llvm::StringRef weights, int64_t size);

  /// Begin of text, then the ids of a space and `text` (of nothing if it is empty). The pair of neighbours whose
  /// joint piece scores highest is merged first, the leftmost of equals; bytes without a piece become byte tokens.
  std::vector<int32_t> encode(llvm::StringRef text) const;
  /// The text of `id` behind `previous`: a space that opens the text is dropped, a byte token gives its byte.
  std::string decode(int32_t previous, int32_t id) const;

  int64_t size() const { return static_cast<int64_t>(pieces.size()); }

private:
  std::vector<std::string> pieces;
  std::vector<float> scores;
  llvm::StringMap<int32_t> ids; ///< the first id of a piece
};

} // namespace ckjit
#endif
