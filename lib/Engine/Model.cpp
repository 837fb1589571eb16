//===- Model.cpp - A compiled model with its weights in memory ------------===//
#include "ckjit/Engine/Model.h"
#include "ckjit/Import/Import.h"
#include <atomic>
#include <cmath>
#include <mutex>

using namespace llvm;
using namespace ckjit;

/// Buffers start on cache lines: a smaller gap is padding.
static constexpr uint64_t kLineBytes = 64;

Expected<std::unique_ptr<Model>> Model::create(const CKIRGraph &graph, StringRef where, const CompileOptions &options,
                                               unsigned threads) {
  auto plan = planArena(graph.config);
  if (!plan)
    return plan.takeError();
  auto compiled = compileGraph(graph, where, options);
  if (!compiled)
    return compiled.takeError();
  auto arena = Arena::reserve(compiled->arenaBytes);
  if (!arena)
    return arena.takeError();
  std::unique_ptr<Model> model(new Model(std::move(*plan), std::move(*arena)));
  model->pipeline = options.pipeline;
  auto program = Program::link(std::move(*compiled));
  if (!program)
    return program.takeError();
  model->program = std::move(*program);
  auto team = ThreadTeam::create(threads);
  if (!team)
    return team.takeError();
  model->team = std::move(*team);
  if (Error error = model->adviseHugeWeights())
    return error;
  if (Error error = model->adviseHugeScratch())
    return error;
  return model;
}

/// Weights are read in long runs: huge pages save address translations. Neighbours (wq to bv, wo and bo, ...)
/// are advised as one range, since only whole blocks inside a range count.
Error Model::adviseHugeWeights() {
  uint64_t begin = 0, end = 0;
  auto advise = [&]() -> Error {
    auto advised = begin < end ? arena.adviseHuge(begin, end - begin) : Expected<uint64_t>(0);
    return advised ? Error::success() : advised.takeError();
  };
  for (const Buffer &buffer : arenaPlan.buffers) {
    // The head is an alias of the embedding, and learned positions may go unread.
    if (buffer.role != BufferRole::Weight || !buffer.allocated || buffer.offset < end || buffer.name == "pos_emb")
      continue;
    if (buffer.offset - end >= kLineBytes) {
      if (Error error = advise())
        return error;
      begin = buffer.offset;
    }
    end = buffer.offset + buffer.bytes;
  }
  return advise();
}

/// Scratch stands behind all named buffers and is shared by all layers: few blocks, read again and again.
Error Model::adviseHugeScratch() {
  uint64_t begin = 0, end = compiled().arenaBytes;
  for (const ProgramBuffer &buffer : compiled().buffers)
    begin = std::max(begin, buffer.offset + buffer.bytes);
  auto advised = arena.adviseHuge(std::min(begin, end), end - std::min(begin, end));
  return advised ? Error::success() : advised.takeError();
}

float *Model::buffer(StringRef name, int layer) {
  const Buffer *planned = arenaPlan.find(name, layer);
  return planned && planned->allocated ? reinterpret_cast<float *>(arena.data() + planned->offset) : nullptr;
}

Error Model::load(const BumpFile &file, function_ref<void(uint64_t, uint64_t)> progress) {
  uint64_t total = 0;
  for (const BumpTensor &tensor : file.tensors) {
    if (tensor.dtype != DType::FP32)
      return createStringError("tensor " + tensor.spec.name + " of layer " + Twine(tensor.spec.layer) + " is " +
                               dtypeName(tensor.dtype) + ", expected fp32: this build runs fp32 models only");
    const Buffer *place = arenaPlan.find(tensor.spec.name, tensor.spec.layer);
    if (!place)
      return createStringError("tensor " + tensor.spec.name + " has no place in the arena");
    total += tensor.bytes;
  }
  std::atomic<size_t> next = 0;
  std::atomic<uint64_t> done = 0;
  std::mutex mutex;
  Error first = Error::success();
  team->run([&](unsigned tid, unsigned) {
    for (size_t index = next++; index < file.tensors.size(); index = next++) {
      const BumpTensor &tensor = file.tensors[index];
      const Buffer *place = arenaPlan.find(tensor.spec.name, tensor.spec.layer);
      Error error = file.readTensor(index, arena.data() + place->offset, std::min(tensor.bytes, place->bytes));
      if (error) {
        std::lock_guard<std::mutex> lock(mutex);
        first = joinErrors(std::move(first), std::move(error));
      }
      done += tensor.bytes;
      if (tid == 0 && progress)
        progress(done, total);
    }
  });
  return first;
}

void Model::fillWeights(function_ref<void(const TensorSpec &, float *)> fill) {
  for (const TensorSpec &spec : weightTensors(config()))
    if (float *place = buffer(spec.name, spec.layer))
      fill(spec, place);
}

/// cos and sin of position * theta^(-2i/hd): the frequency in long double rounded to fp32, the angle a
/// product in fp32 (SPEC 4, RoPE).
void Model::fillRopeTables(int64_t rows) {
  float *cos = buffer("rope_cos_cache"), *sin = buffer("rope_sin_cache");
  if (!cos || !sin)
    return;
  int64_t headDim = config().headDim(), half = headDim / 2;
  for (int64_t i = 0; i < half; ++i) {
    long double exponent = static_cast<long double>(2 * i) / static_cast<long double>(headDim);
    float frequency = static_cast<float>(1.0L / powl(static_cast<long double>(config().ropeTheta), exponent));
    for (int64_t row = ropeRows; row < rows; ++row) {
      float angle = static_cast<float>(row) * frequency;
      cos[row * half + i] = std::cos(angle);
      sin[row * half + i] = std::sin(angle);
    }
  }
  ropeRows = std::max(ropeRows, rows);
}

Error Model::prefill(ArrayRef<int32_t> tokens, int64_t firstRow, ArrayRef<int32_t> targets, int64_t position) {
  int64_t count = tokens.size(), context = config().contextWindow;
  if (position < 0 || position > rowsCached)
    return createStringError("position is " + Twine(position) + ", expected 0 to " + Twine(rowsCached) +
                             ", the tokens that the cache holds");
  if (count < 1 || count > context - position)
    return createStringError("got " + Twine(count) + " tokens at position " + Twine(position) + ", expected 1 to " +
                             Twine(context - position) + ": the context has " + Twine(context));
  if (firstRow < 0 || firstRow >= count)
    return createStringError("first row of logits is " + Twine(firstRow) + ", expected 0 to " + Twine(count - 1));
  if (!targets.empty() && targets.size() != tokens.size())
    return createStringError("got " + Twine(targets.size()) + " targets for " + Twine(count) + " tokens");
  auto inVocabulary = [&](int32_t id) { return id >= 0 && id < config().vocabSize; };
  for (auto [position, id] : enumerate(tokens))
    if (!inVocabulary(id))
      return createStringError("token " + Twine(position) + " is " + Twine(id) + ", expected 0 to " +
                               Twine(config().vocabSize - 1));
  for (auto [position, id] : enumerate(targets))
    if (id != kIgnoredTarget && !inVocabulary(id))
      return createStringError("target " + Twine(position) + " is " + Twine(id) + ", expected 0 to " +
                               Twine(config().vocabSize - 1) + " or " + Twine(kIgnoredTarget));
  fillRopeTables(position + count);
  std::copy(tokens.begin(), tokens.end(), at<int32_t>(*compiled().find("tokens")));
  int32_t *targetPlace = at<int32_t>(*compiled().find("targets"));
  if (targets.empty())
    std::fill_n(targetPlace, count, kIgnoredTarget);
  else
    std::copy(targets.begin(), targets.end(), targetPlace);
  // Losses come out of @prefill only.
  bool few = count <= kMaxTokensInRows && targets.empty() && program->decode();
  Program::Entry entry = few ? program->decode() : program->prefill();
  if (few)
    std::fill_n(at<float>(*compiled().find("loss")), count, 0.0f);
  team->run([&](unsigned tid, unsigned threads) {
    entry(team.get(), tid, threads, count, firstRow, position, arena.data(), arena.data());
  });
  rowsRun = count;
  rowsCached = position + count;
  return Error::success();
}

ArrayRef<float> Model::logits(int64_t row) const {
  int64_t vocab = config().vocabSize;
  return ArrayRef(at<float>(*compiled().find("logits")) + row * vocab, vocab);
}

ArrayRef<float> Model::losses() const { return ArrayRef(at<float>(*compiled().find("loss")), rowsRun); }
