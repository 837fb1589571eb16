//===- Vocabulary.h - Text to ids and back ----------------------*- C++ -*-===//
#ifndef CKJIT_API_VOCABULARY_H
#define CKJIT_API_VOCABULARY_H

#include <ckjit/Model.h>

#include <vector>

namespace ckjit {
inline namespace api {

/// A vocabulary in llama2.c's form. May be used by several threads at once.
class Vocabulary {
public:
  static constexpr int32_t kBeginOfText = 1, kEndOfText = 2;

  static Expected<Vocabulary> load(const std::string &path, int64_t size) {
    ckjit_vocabulary *made = nullptr;
    int code = ckjit_vocabulary_load(path.c_str(), size, &made);
    return wrap(code, made);
  }
  /// The one beside the weight file that `model` was opened from.
  static Expected<Vocabulary> of(const Model &model) {
    ckjit_vocabulary *made = nullptr;
    int code = ckjit_vocabulary_of_model(model.get(), &made);
    return wrap(code, made);
  }

  /// Begin of text and the ids of `text`.
  Expected<std::vector<int32_t>> encode(const std::string &text) const {
    // Never more ids than begin of text, a space and the bytes.
    std::vector<int32_t> ids(text.size() + 2);
    int64_t count = 0;
    Status status = detail::finish(ckjit_vocabulary_encode(handle.get(), text.data(), text.size(), ids.data(),
                                                           static_cast<int64_t>(ids.size()), &count));
    if (!status)
      return status;
    ids.resize(static_cast<size_t>(count));
    return ids;
  }

  /// The text of `id` behind `previous`; bytes, of which several ids may make one character.
  Expected<std::string> decode(int32_t previous, int32_t id) const {
    std::string text(32, '\0');
    size_t length = 0;
    int code = ckjit_vocabulary_decode(handle.get(), previous, id, &text[0], text.size(), &length);
    text.resize(length);
    if (code == CKJIT_BUFFER_TOO_SMALL)
      code = ckjit_vocabulary_decode(handle.get(), previous, id, &text[0], text.size(), &length);
    Status status = detail::finish(code);
    if (!status)
      return status;
    return text;
  }

  ckjit_vocabulary *get() const { return handle.get(); }

private:
  explicit Vocabulary(ckjit_vocabulary *vocabulary) : handle(vocabulary) {}
  static Expected<Vocabulary> wrap(int code, ckjit_vocabulary *vocabulary) {
    Status status = detail::finish(code);
    if (!status)
      return status;
    return Vocabulary(vocabulary);
  }
  detail::Owner<ckjit_vocabulary, ckjit_vocabulary_destroy> handle;
};

} // namespace api
} // namespace ckjit
#endif
