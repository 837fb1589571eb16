//===- JsonText.h - Bounded reading of JSON files and fields ----*- C++ -*-===//
#ifndef CKJIT_LIB_GRAPH_JSONTEXT_H
#define CKJIT_LIB_GRAPH_JSONTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <initializer_list>
#include <optional>
#include <string>

namespace ckjit::detail {

/// Largest config or IR map that is read.
inline constexpr size_t kMaxJsonBytes = size_t(16) << 20;
/// Deepest nesting accepted: llvm::json recurses once a level, so the depth must be bounded
/// before the text reaches it.
inline constexpr unsigned kMaxJsonDepth = 64;
/// Every dimension is below 2^31, as in the seed's int fields.
inline constexpr int64_t kMaxDim = (int64_t(1) << 31) - 1;

/// An error holding `message` and nothing else.
llvm::Error textError(const llvm::Twine &message);

/// What a message shows of a value: scalars as JSON (cut to 60 bytes), "an array", "an object".
std::string describe(const llvm::json::Value &value);

/// The whole file at `path`, at most kMaxJsonBytes. Errors name path and cause.
llvm::Expected<std::string> readJsonFile(llvm::StringRef path);

/// Parses `text`, which must be one JSON object no deeper than kMaxJsonDepth.
llvm::Expected<llvm::json::Object> parseJsonObject(llvm::StringRef text, llvm::StringRef where);

/// Reads typed numbers out of one object and keeps the first error. Each
/// field has a name and aliases, tried in order; null counts as absent; a
/// value of the wrong type is an error that names the key found.
class FieldReader {
public:
  using Keys = std::initializer_list<llvm::StringRef>;

  FieldReader(const llvm::json::Object &object, llvm::StringRef where) : object(object), where(where) {}

  /// A positive integer below 2^31 that must be there.
  int64_t positive(Keys keys);
  /// The same, but `fallback` when absent or 0 (the seed's way to leave it open).
  int64_t positiveOr(Keys keys, int64_t fallback);
  /// A positive fp32 number, or `fallback` when absent or 0.
  float positiveRealOr(Keys keys, float fallback);
  /// An integer in [0, max] that must be there.
  int64_t inRange(llvm::StringRef key, int64_t max);

  /// The first error met, or success.
  llvm::Error takeError();

private:
  const llvm::json::Value *find(Keys keys, llvm::StringRef &keyFound) const;
  void fail(llvm::StringRef key, const llvm::Twine &found, llvm::StringRef expected);

  const llvm::json::Object &object;
  std::string where;
  std::string message;
};

} // namespace ckjit::detail
#endif
