//===- Session.cpp - One conversation with a model ------------------------===//
#include "ckjit/Engine/Session.h"
#include "ckjit/Engine/Model.h"
#include "ckjit/Import/Import.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace ckjit;

Expected<std::unique_ptr<Session>> Session::create(Model &model, int64_t capacity) {
  int64_t context = model.config().contextWindow;
  if (capacity < 0 || capacity > context)
    return createStringError("capacity is " + Twine(capacity) + ", expected 1 to the context of " + Twine(context));
  auto arena = model.reserveState();
  if (!arena)
    return arena.takeError();
  std::unique_ptr<Session> session(new Session(model, arena->data(), capacity ? capacity : context));
  session->own = std::move(*arena);
  return session;
}

float *Session::buffer(StringRef name, int layer) const {
  const Buffer *planned = model.plan().find(name, layer);
  return planned && planned->allocated ? reinterpret_cast<float *>(state + planned->offset) : nullptr;
}

template <typename T> T *Session::extra(StringRef name) const {
  return reinterpret_cast<T *>(state + model.compiled().find(name)->offset);
}

/// cos and sin of position * theta^(-2i/hd): the frequency in long double rounded to fp32, the angle a
/// product in fp32 (SPEC 4, RoPE).
void Session::fillRopeTables(int64_t rows) {
  float *cos = buffer("rope_cos_cache"), *sin = buffer("rope_sin_cache");
  if (!cos || !sin || rows <= ropeRows)
    return;
  // Ahead by a block, so that a decoded token seldom pays for frequencies.
  constexpr int64_t kRowsAhead = 64;
  rows = std::min(model.config().contextWindow, rows + kRowsAhead);
  int64_t headDim = model.config().headDim(), half = headDim / 2;
  for (int64_t i = 0; i < half; ++i) {
    long double exponent = static_cast<long double>(2 * i) / static_cast<long double>(headDim);
    float frequency = static_cast<float>(1.0L / powl(static_cast<long double>(model.config().ropeTheta), exponent));
    for (int64_t row = ropeRows; row < rows; ++row) {
      float angle = static_cast<float>(row) * frequency;
      cos[row * half + i] = std::cos(angle);
      sin[row * half + i] = std::sin(angle);
    }
  }
  ropeRows = std::max(ropeRows, rows);
}

Error Session::check(ArrayRef<int32_t> tokens, int64_t firstRow, ArrayRef<int32_t> targets) const {
  int64_t count = tokens.size(), vocab = model.config().vocabSize;
  if (count < 1)
    return createStringError("got 0 tokens, expected 1 to " + Twine(limit - tokensCached));
  if (count > limit - tokensCached)
    return createStringError("the cache is full: it holds " + Twine(tokensCached) + " of " + Twine(limit) +
                             "; got " + Twine(count) + " tokens more, expected at most " +
                             Twine(limit - tokensCached) + "; truncate, reset or use a larger context");
  if (firstRow < 0 || firstRow >= count)
    return createStringError("first row of logits is " + Twine(firstRow) + ", expected 0 to " + Twine(count - 1));
  if (!targets.empty() && targets.size() != tokens.size())
    return createStringError("got " + Twine(targets.size()) + " targets for " + Twine(count) + " tokens");
  auto inVocabulary = [&](int32_t id) { return id >= 0 && id < vocab; };
  for (auto [position, id] : enumerate(tokens))
    if (!inVocabulary(id))
      return createStringError("token " + Twine(position) + " is " + Twine(id) + ", expected 0 to " + Twine(vocab - 1));
  for (auto [position, id] : enumerate(targets))
    if (id != kIgnoredTarget && !inVocabulary(id))
      return createStringError("target " + Twine(position) + " is " + Twine(id) + ", expected 0 to " +
                               Twine(vocab - 1) + " or " + Twine(kIgnoredTarget));
  return Error::success();
}

Error Session::append(ArrayRef<int32_t> tokens, int64_t firstRow, ArrayRef<int32_t> targets,
                      function_ref<Error(int64_t, int64_t)> goOn) {
  if (Error error = check(tokens, firstRow, targets))
    return error;
  int64_t count = tokens.size(), before = 0;
  fillRopeTables(tokensCached + count);
  // A piece of whole panels without rows of logits leaves keys and values behind the cache and nothing else.
  for (; goOn && targets.empty() && firstRow - before >= kPieceRows; before += kPieceRows) {
    if (Error error = goOn(before, count))
      return error;
    std::copy_n(tokens.begin() + before, kPieceRows, extra<int32_t>("tokens"));
    model.run(/*few=*/false, kPieceRows, /*firstRow=*/kPieceRows, tokensCached + before, state);
  }
  if (goOn)
    if (Error error = goOn(before, count))
      return error;
  std::copy(tokens.begin() + before, tokens.end(), extra<int32_t>("tokens"));
  // Losses come out of @prefill only.
  bool few = count <= maxTokensInRows(model.weightTypes()) && targets.empty() && model.hasDecode();
  if (few)
    std::fill_n(extra<float>("loss"), count, 0.0f);
  else if (targets.empty())
    std::fill_n(extra<int32_t>("targets"), count - before, kIgnoredTarget);
  else
    std::copy(targets.begin(), targets.end(), extra<int32_t>("targets"));
  model.run(few, count - before, firstRow - before, tokensCached + before, state);
  rowsRun = count;
  firstLogits = firstRow;
  rowsBefore = before;
  tokensCached += count;
  return Error::success();
}

Error Session::truncate(int64_t count) {
  if (count < 0 || count > tokensCached)
    return createStringError("can't keep " + Twine(count) + " tokens, expected 0 to " + Twine(tokensCached) +
                             ", the tokens that the cache holds");
  tokensCached = count;
  return Error::success();
}

Expected<std::unique_ptr<Session>> Session::copy() const {
  auto copied = create(model, limit);
  if (!copied)
    return copied.takeError();
  Session &to = **copied;
  for (int layer = 0; layer < model.config().numLayers; ++layer)
    for (const char *name : {"k", "v"}) {
      const Buffer &cache = *model.plan().find(name, layer);
      int64_t heads = cache.shape[0], context = cache.shape[1], width = cache.shape[2];
      for (int64_t head = 0; head < heads; ++head)
        std::memcpy(to.buffer(name, layer) + head * context * width, buffer(name, layer) + head * context * width,
                    static_cast<size_t>(tokensCached * width) * sizeof(float));
    }
  int64_t vocab = model.config().vocabSize, firstKept = firstLogits - rowsBefore, kept = rowsRun - firstLogits;
  std::memcpy(to.buffer("logits") + firstKept * vocab, buffer("logits") + firstKept * vocab,
              static_cast<size_t>(kept * vocab) * sizeof(float));
  std::copy_n(extra<float>("loss"), rowsRun - rowsBefore, to.extra<float>("loss"));
  to.tokensCached = tokensCached;
  to.rowsRun = rowsRun;
  to.firstLogits = firstLogits;
  to.rowsBefore = rowsBefore;
  return copied;
}

ArrayRef<float> Session::logits(int64_t row) const {
  if (row < firstLogits || row >= rowsRun)
    return {};
  int64_t vocab = model.config().vocabSize;
  return ArrayRef(buffer("logits") + (row - rowsBefore) * vocab, vocab);
}

std::string Session::describeRows() const {
  if (rowsRun == 0)
    return "nothing was appended yet";
  return ("the last append computed rows " + Twine(firstLogits) + " to " + Twine(rowsRun - 1)).str();
}

ArrayRef<float> Session::losses() const { return ArrayRef(extra<float>("loss"), rowsRun - rowsBefore); }
