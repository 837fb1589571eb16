//===- JsonText.cpp - Bounded reading of JSON files and fields ------------===//
#include "JsonText.h"
#include "ckjit/Graph/RegularFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace ckjit::detail {

Error textError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

std::string describe(const json::Value &value) {
  if (value.kind() == json::Value::Array)
    return "an array";
  if (value.kind() == json::Value::Object)
    return "an object";
  std::string text;
  raw_string_ostream(text) << value;
  constexpr size_t kShownBytes = 60;
  if (text.size() > kShownBytes)
    text = json::fixUTF8(StringRef(text).take_front(kShownBytes)) + "...";
  return text;
}

Expected<std::string> readJsonFile(StringRef path) {
  Expected<std::unique_ptr<RegularFile>> file = RegularFile::open(path);
  if (!file)
    return file.takeError();
  if ((*file)->size() > kMaxJsonBytes)
    return fieldError(path, "file size", Twine((*file)->size()) + " bytes",
                      "at most " + Twine(kMaxJsonBytes) + " bytes of JSON; is it the right file?");
  std::string text((*file)->size(), '\0');
  if (Error error = (*file)->read(0, text.data(), text.size()))
    return error;
  return text;
}

/// Deepest nesting of brackets outside strings; exact for the prefix that is JSON, which is all a
/// parser gets to see.
static unsigned nestingDepth(StringRef text) {
  unsigned depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

Expected<json::Object> parseJsonObject(StringRef text, StringRef where) {
  if (text.size() > kMaxJsonBytes)
    return textError(where + ": is " + Twine(text.size()) + " bytes of JSON, expected at most " +
                     Twine(kMaxJsonBytes));
  if (text.trim().empty())
    return textError(where + ": is empty, expected a JSON object");
  if (unsigned depth = nestingDepth(text); depth > kMaxJsonDepth)
    return textError(where + ": nests " + Twine(depth) + " levels deep, expected at most " +
                     Twine(kMaxJsonDepth));
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return textError(where + ": is not JSON: " + toString(value.takeError()));
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return textError(where + ": holds " + describe(*value) + ", expected a JSON object");
}

const json::Value *FieldReader::find(Keys keys, StringRef &keyFound) const {
  keyFound = *keys.begin();
  for (StringRef key : keys) {
    const json::Value *value = object.get(key);
    if (!value || value->kind() == json::Value::Null)
      continue;
    keyFound = key;
    return value;
  }
  return nullptr;
}

void FieldReader::fail(StringRef key, const Twine &found, StringRef expected) {
  if (message.empty())
    message = (where + ": " + key + " is " + found + ", expected " + expected).str();
}

Error FieldReader::takeError() { return message.empty() ? Error::success() : textError(message); }

int64_t FieldReader::positive(Keys keys) {
  StringRef key;
  const json::Value *value = find(keys, key);
  if (value) {
    // An explicit 0 is as wrong here as a missing field.
    if (value->getAsInteger() == 0)
      fail(key, "0", "a positive integer");
    return positiveOr(keys, 0);
  }
  std::string also = keys.size() > 1 ? " (also read as " + join(keys.begin() + 1, keys.end(), ", ") + ")" : "";
  fail(key, "missing", "a positive integer" + also);
  return 0;
}

int64_t FieldReader::positiveOr(Keys keys, int64_t fallback) {
  StringRef key;
  const json::Value *value = find(keys, key);
  if (!value)
    return fallback;
  std::optional<int64_t> number = value->getAsInteger();
  if (number && *number >= 0 && *number <= kMaxDim)
    return *number == 0 ? fallback : *number;
  fail(key, describe(*value), "a positive integer below 2147483648");
  return fallback;
}

float FieldReader::positiveRealOr(Keys keys, float fallback) {
  StringRef key;
  const json::Value *value = find(keys, key);
  if (!value)
    return fallback;
  std::optional<double> number = value->getAsNumber();
  if (number == 0.0)
    return fallback;
  // Range is judged after rounding to fp32, which is what will be computed with.
  float single = number ? static_cast<float>(*number) : -1.0f;
  if (std::isfinite(single) && single > 0.0f)
    return single;
  fail(key, describe(*value), "a positive number in the range of fp32, or 0");
  return fallback;
}

int64_t FieldReader::inRange(StringRef key, int64_t max) {
  const json::Value *value = object.get(key);
  std::optional<int64_t> number = value ? value->getAsInteger() : std::nullopt;
  if (number && *number >= 0 && *number <= max)
    return *number;
  fail(key, value ? describe(*value) : "missing", "an integer from 0 to " + std::to_string(max));
  return 0;
}

} // namespace ckjit::detail
