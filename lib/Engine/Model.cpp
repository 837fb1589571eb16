//===- Model.cpp - A compiled model with its weights in memory ------------===//
#include "ckjit/Engine/Model.h"
#include <atomic>
#include <mutex>

using namespace llvm;
using namespace ckjit;

Expected<std::unique_ptr<Model>> Model::create(const CKIRGraph &graph, StringRef where,
                                               const ModelOptions &options) {
  auto plan = planArena(graph.config, {.weightTypes = options.compile.weightTypes});
  if (!plan)
    return plan.takeError();
  auto compiled = options.cache ? options.cache->compile(graph, where, options.compile)
                                : compileGraph(graph, where, options.compile);
  if (!compiled)
    return compiled.takeError();
  auto arena = Arena::reserve(compiled->arenaBytes);
  if (!arena)
    return arena.takeError();
  std::unique_ptr<Model> model(new Model(std::move(*plan), std::move(*arena)));
  model->pipeline = options.compile.pipeline;
  model->types = options.compile.weightTypes;
  auto program = Program::link(std::move(*compiled), options.link);
  if (!program)
    return program.takeError();
  model->program = std::move(*program);
  auto team = ThreadTeam::create(options.threads);
  if (!team)
    return team.takeError();
  model->team = std::move(*team);
  if (Error error = model->adviseHugeWeights())
    return error;
  if (Error error = model->adviseHugeScratch(model->arena))
    return error;
  model->first.reset(new Session(*model, model->arena.data(), graph.config.contextWindow));
  return model;
}

/// Weights are read in long runs: huge pages save address translations.
Error Model::adviseHugeWeights() {
  for (const ByteRange &run : weightRuns(arenaPlan))
    if (auto advised = arena.adviseHuge(run.offset, run.bytes); !advised)
      return advised.takeError();
  return Error::success();
}

Error Model::adviseHugeScratch(Arena &arena) const {
  ByteRange scratch = compiled().scratch();
  auto advised = arena.adviseHuge(scratch.offset, scratch.bytes);
  return advised ? Error::success() : advised.takeError();
}

float *Model::buffer(StringRef name, int layer) {
  const Buffer *planned = arenaPlan.find(name, layer);
  return planned && planned->allocated ? reinterpret_cast<float *>(arena.data() + planned->offset) : nullptr;
}

Error Model::load(const BumpFile &file, function_ref<Error(uint64_t, uint64_t)> progress) {
  uint64_t total = 0;
  for (const BumpTensor &tensor : file.tensors) {
    const Buffer *place = arenaPlan.find(tensor.spec.name, tensor.spec.layer);
    if (!place)
      return createStringError("tensor " + tensor.spec.name + " has no place in the arena");
    if (place->type != tensor.dtype)
      return createStringError(file.path + ": " + tensorLabel(tensor.spec) + " is " + dtypeName(tensor.dtype) +
                               ", expected " + dtypeName(place->type) + ", for which the model was compiled");
    total += tensor.bytes;
  }
  std::atomic<size_t> next = 0;
  std::atomic<uint64_t> done = 0;
  std::mutex mutex;
  std::atomic<bool> stopped = false;
  Error first = Error::success();
  auto fail = [&](Error error) {
    if (!error)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    first = joinErrors(std::move(first), std::move(error));
    stopped = true;
  };
  team->run([&](unsigned tid, unsigned) {
    for (size_t index = next++; index < file.tensors.size() && !stopped; index = next++) {
      const BumpTensor &tensor = file.tensors[index];
      const Buffer *place = arenaPlan.find(tensor.spec.name, tensor.spec.layer);
      fail(file.readTensor(index, arena.data() + place->offset, std::min(tensor.bytes, place->bytes)));
      done += tensor.bytes;
      if (tid == 0 && progress)
        fail(progress(done, total));
    }
  });
  return first;
}

void Model::fillWeights(function_ref<void(const TensorSpec &, float *)> fill) {
  for (const TensorSpec &spec : weightTensors(config()))
    if (const Buffer *planned = arenaPlan.find(spec.name, spec.layer); planned && planned->type != DType::FP32)
      continue;
    else if (float *place = buffer(spec.name, spec.layer))
      fill(spec, place);
}

void Model::fillStored(function_ref<void(const TensorSpec &, DType, MutableArrayRef<uint8_t>)> fill) {
  for (const TensorSpec &spec : weightTensors(config(), types)) {
    auto [bytes, type] = stored(spec);
    if (type != DType::FP32)
      fill(spec, type, {const_cast<uint8_t *>(bytes.data()), bytes.size()});
  }
}

std::pair<ArrayRef<uint8_t>, DType> Model::stored(const TensorSpec &spec) const {
  const Buffer *place = arenaPlan.find(spec.name, spec.layer);
  return {ArrayRef(reinterpret_cast<const uint8_t *>(arena.data()) + place->offset, place->bytes), place->type};
}

Error Model::prefill(ArrayRef<int32_t> tokens, int64_t firstRow, ArrayRef<int32_t> targets, int64_t position) {
  if (position < 0 || position > cached())
    return createStringError("position is " + Twine(position) + ", expected 0 to " + Twine(cached()) +
                             ", the tokens that the cache holds");
  int64_t before = cached();
  if (Error error = first->truncate(position))
    return error;
  Error error = first->append(tokens, firstRow, targets);
  if (error)
    first->tokensCached = before; // nothing ran
  return error;
}

Expected<Arena> Model::reserveState() const {
  auto state = Arena::reserve(compiled().arenaBytes);
  if (!state)
    return state.takeError();
  if (Error error = adviseHugeScratch(*state))
    return error;
  return state;
}

void Model::run(bool few, int64_t count, int64_t firstRow, int64_t position, std::byte *state) {
  Program::Entry entry = few ? program->decode() : program->prefill();
  std::lock_guard<std::mutex> turn(teamMutex);
  team->run([&](unsigned tid, unsigned threads) {
    entry(team.get(), tid, threads, count, firstRow, position, arena.data(), state);
  });
}
