//===- VocabularyApi.cpp - ckjit_vocabulary -------------------------------===//
#include "Handles.h"
#include <cstring>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::capi;

static Expected<std::unique_ptr<ckjit_vocabulary>> load(StringRef path, int64_t size) {
  auto vocabulary = Vocabulary::open(path, size);
  if (!vocabulary)
    return withStatus(CKJIT_FILE_ERROR, vocabulary.takeError());
  return std::unique_ptr<ckjit_vocabulary>(new ckjit_vocabulary{.vocabulary = std::move(*vocabulary)});
}

static Expected<std::unique_ptr<ckjit_vocabulary>> loadBeside(const ckjit_model *model) {
  if (Error error = check(model, "model"))
    return error;
  const std::string &weights = model->state->weights;
  int64_t size = model->state->model->config().vocabSize;
  std::string path = weights.empty() ? "" : Vocabulary::beside(weights, size);
  if (path.empty())
    return fail(CKJIT_FILE_ERROR,
                weights.empty() ? "a random model has no vocabulary"
                                : weights + ": found neither tokenizer.bin nor tok" + Twine(size) +
                                      ".bin beside it; give ckjit_vocabulary_load() a path");
  return load(path, size);
}

static Error tooSmall(StringRef what, uint64_t needed, uint64_t given) {
  return fail(CKJIT_BUFFER_TOO_SMALL, "there is room for " + Twine(given) + " " + what + ", expected " + Twine(needed));
}

extern "C" {

int ckjit_vocabulary_load(const char *path, int64_t size, ckjit_vocabulary **vocabulary) {
  return create<ckjit_vocabulary>(vocabulary, "vocabulary", [&]() -> Expected<std::unique_ptr<ckjit_vocabulary>> {
    if (Error error = notNull(path, "path"))
      return error;
    if (Error error = notEmpty(path, "path"))
      return error;
    if (size < 1)
      return fail(CKJIT_INVALID_ARGUMENT, "size is " + Twine(size) + ", expected 1 or more");
    return load(path, size);
  });
}

int ckjit_vocabulary_of_model(const ckjit_model *model, ckjit_vocabulary **vocabulary) {
  return create<ckjit_vocabulary>(vocabulary, "vocabulary", [&] { return loadBeside(model); });
}

void ckjit_vocabulary_destroy(ckjit_vocabulary *vocabulary) { destroy(vocabulary, "vocabulary"); }

int ckjit_vocabulary_encode(const ckjit_vocabulary *vocabulary, const char *text, size_t length, int32_t *ids,
                            int64_t capacity, int64_t *count) {
  if (count)
    *count = 0;
  return guard([&]() -> Error {
    if (Error error = check(vocabulary, "vocabulary"))
      return error;
    if (Error error = notNull(count, "count"))
      return error;
    if (length > 0)
      if (Error error = notNull(text, "text"))
        return error;
    if (capacity < 0 || (capacity > 0 && !ids))
      return fail(CKJIT_INVALID_ARGUMENT, "capacity is " + Twine(capacity) +
                                              (ids ? ", expected 0 or more" : ", expected 0: ids is NULL"));
    std::vector<int32_t> encoded = vocabulary->vocabulary.encode(StringRef(text, length));
    *count = static_cast<int64_t>(encoded.size());
    if (capacity < *count)
      return tooSmall("ids", static_cast<uint64_t>(*count), static_cast<uint64_t>(capacity));
    std::copy(encoded.begin(), encoded.end(), ids);
    return Error::success();
  });
}

int ckjit_vocabulary_decode(const ckjit_vocabulary *vocabulary, int32_t previous, int32_t id, char *text,
                            size_t capacity, size_t *length) {
  if (length)
    *length = 0;
  return guard([&]() -> Error {
    if (Error error = check(vocabulary, "vocabulary"))
      return error;
    if (Error error = notNull(length, "length"))
      return error;
    if (capacity > 0)
      if (Error error = notNull(text, "text"))
        return error;
    int64_t size = vocabulary->vocabulary.size();
    for (int32_t each : {previous, id})
      if (each < 0 || each >= size)
        return fail(CKJIT_INVALID_ARGUMENT, "id is " + Twine(each) + ", expected 0 to " + Twine(size - 1));
    std::string piece = vocabulary->vocabulary.decode(previous, id);
    *length = piece.size();
    if (capacity < piece.size())
      return tooSmall("bytes", piece.size(), capacity);
    if (!piece.empty())
      std::memcpy(text, piece.data(), piece.size());
    if (capacity > piece.size())
      text[piece.size()] = '\0';
    return Error::success();
  });
}

} // extern "C"
