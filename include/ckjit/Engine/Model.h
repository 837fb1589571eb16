//===- Model.h - A compiled model with its weights in memory ----*- C++ -*-===//
#ifndef CKJIT_ENGINE_MODEL_H
#define CKJIT_ENGINE_MODEL_H

#include "ckjit/Engine/Session.h"
#include "ckjit/JIT/ObjectCache.h"
#include "ckjit/JIT/Program.h"
#include "ckjit/Layout/ArenaPlan.h"
#include "ckjit/Runtime/Arena.h"
#include "ckjit/Runtime/ThreadTeam.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/ADT/ArrayRef.h"
#include <mutex>

namespace ckjit {

/// How a model is made ready to run.
struct ModelOptions {
  CompileOptions compile;
  unsigned threads = 0; ///< of its team; 0: all usable cores
  const ObjectCache *cache = nullptr; ///< where compiled objects are kept; null: nowhere
  LinkOptions link = {};
};

/// A compiled program, its weights, its thread team and a first session. load() and fillWeights() are for one thread
/// and no session running; sessions of several threads take turns at the team.
class Model {
public:
  /// Compiles `graph`, which messages call `where`, or takes its object from the cache, and reserves its arena.
  /// Weights are zeros until loaded.
  static llvm::Expected<std::unique_ptr<Model>> create(const CKIRGraph &graph, llvm::StringRef where,
                                                       const ModelOptions &options);

  /// Reads every weight into its place, the threads of the team sharing the tensors. Error for a
  /// tensor that isn't of the type it was compiled for (CompileOptions::weightTypes) or can't be read. `progress` hears the bytes read so far, on the calling thread; its
  /// error stops the reading and is the result.
  llvm::Error load(const BumpFile &file,
                   llvm::function_ref<llvm::Error(uint64_t done, uint64_t total)> progress = nullptr);

  /// Gives each fp32 weight tensor to `fill(spec, dst)`, for models made in memory.
  void fillWeights(llvm::function_ref<void(const TensorSpec &, float *)> fill);
  /// The same for tensors of other types, as the bytes that the file would hold.
  void fillStored(llvm::function_ref<void(const TensorSpec &, DType, llvm::MutableArrayRef<uint8_t>)> fill);

  /// Runs the forward pass over `tokens` (T ids, each in [0, V), checked), which stand behind the first `position`
  /// tokens of the cache, at most cached() and forgotten from there on. Computes logits of rows firstRow..T-1 of
  /// `tokens`. `targets` (empty, or one a token; kIgnoredTarget passes) fills losses(). Error when they don't fit
  /// the context, and nothing is changed.
  llvm::Error prefill(llvm::ArrayRef<int32_t> tokens, int64_t firstRow, llvm::ArrayRef<int32_t> targets = {},
                      int64_t position = 0);
  /// Tokens whose keys and values the cache holds.
  int64_t cached() const { return first->cached(); }

  /// The first session's logits and losses (Session.h).
  llvm::ArrayRef<float> logits(int64_t row) const { return first->logits(row); }
  llvm::ArrayRef<float> losses() const { return first->losses(); }
  /// The bytes of a weight tensor, and its type.
  std::pair<llvm::ArrayRef<uint8_t>, DType> stored(const TensorSpec &spec) const;
  /// The types for which the model was compiled, as in CompileOptions.
  const WeightTypes &weightTypes() const { return types; }
  /// The buffer's start in the arena, or null when the plan has none of that name.
  float *buffer(llvm::StringRef name, int layer = -1);

  const ArenaPlan &plan() const { return arenaPlan; }
  const CompiledObject &compiled() const { return program->compiled(); }
  const PipelineOptions &options() const { return pipeline; }
  /// Address space of the model and of each session more; how much of the model's is in memory.
  uint64_t reservedBytes() const { return arena.size(); }
  llvm::Expected<uint64_t> residentBytes() const { return arena.residentBytes(); }
  unsigned threads() const { return team->size(); }
  const ModelConfig &config() const { return arenaPlan.config; }
  /// The program for few tokens is there too (CompileOptions::decode).
  bool hasDecode() const { return program->decode() != nullptr; }

private:
  Model(ArenaPlan plan, Arena arena) : arenaPlan(std::move(plan)), arena(std::move(arena)) {}
  llvm::Error adviseHugeWeights();
  llvm::Error adviseHugeScratch(Arena &arena) const;
  friend class Session;
  /// An arena for the state of one more session.
  llvm::Expected<Arena> reserveState() const;
  /// Runs `count` tokens at `position` with the state of a session; `few` takes the program for few tokens.
  void run(bool few, int64_t count, int64_t firstRow, int64_t position, std::byte *state);

  ArenaPlan arenaPlan;
  PipelineOptions pipeline;
  WeightTypes types;
  Arena arena;
  std::unique_ptr<Program> program;
  std::unique_ptr<ThreadTeam> team;
  std::mutex teamMutex; ///< one session at a time has the team
  std::unique_ptr<Session> first;
};

} // namespace ckjit
#endif
