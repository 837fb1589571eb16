//===- ArenaPlan.h - Offsets of every buffer in the arena -------*- C++ -*-===//
#ifndef CKJIT_LAYOUT_ARENAPLAN_H
#define CKJIT_LAYOUT_ARENAPLAN_H

#include "ckjit/Graph/ModelConfig.h"
#include "ckjit/Layout/WeightFormat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace ckjit {

enum class BufferRole : uint8_t { Weight, Activation, Scratch, Gradient };

/// One buffer of SPEC 3.
struct Buffer {
  std::string name;   ///< seed's name: "token_emb", "logits", "wq", "d_w2", ...
  int layer = -1;     ///< -1 for a global buffer
  BufferRole role = BufferRole::Weight;
  DType type = DType::FP32; ///< of its elements
  llvm::SmallVector<int64_t, 3> shape; ///< padded, in elements
  uint64_t offset = 0;                 ///< bytes from the arena's start
  uint64_t bytes = 0;
  bool allocated = true;               ///< false: condition not met, offset and bytes 0
};

/// The type of each weight, in the file's order (weightTensors); none: all are fp32.
using WeightTypes = std::vector<DType>;

struct PlanOptions {
  bool training = false;
  WeightTypes weightTypes = {};
};

/// The seed's arena (SPEC 3), from one table.
struct ArenaPlan {
  ModelConfig config;
  std::vector<Buffer> buffers;   ///< in allocation order; lm_head_weight included as alias
  uint64_t layersStart = 0;      ///< raw cursor after the globals
  uint64_t layerStride = 0;      ///< 0 when numLayers <= 1
  uint64_t totalBytes = 0;       ///< rounded to 64
  /// The buffer of that name (layer -1: global), or null.
  const Buffer *find(llvm::StringRef name, int layer = -1) const;
};

/// Lays out `config` (already validated). Error when a size overflows 2^63, for weight types of another number of
/// tensors, and for a tensor that cannot have its type (checkWeightTypes).
llvm::Expected<ArenaPlan> planArena(const ModelConfig &config, const PlanOptions &options = {});

/// One weight tensor in file order (SPEC 2.3): buffer name, layer, shape.
struct TensorSpec {
  std::string name;
  int layer = -1;
  llvm::SmallVector<int64_t, 3> shape; ///< padded, in elements
  /// Unpadded extent of each axis; of w1 and b1, axis 0 counts one half.
  llvm::SmallVector<int64_t, 3> logical;
  /// 2 for w1 and b1 (gate rows, then up rows, each half padded by itself), else 1.
  int64_t halves = 1;
  /// Of a quantized wo, whose rows hold the heads side by side, each padded by itself: their number. Axis 1 of `logical`
  /// then counts one head. Else 1.
  int64_t heads = 1;
  int64_t elements() const;
  /// Calls `run(first, count)` for each unpadded stretch of the innermost axis,
  /// ascending; every element outside these stretches is padding.
  void forEachLogicalRun(llvm::function_ref<void(int64_t first, int64_t count)> run) const;
};

/// A piece of the arena, in bytes.
struct ByteRange {
  uint64_t offset = 0, bytes = 0;
};

/// Where weights stand without a gap but padding (wq to bv, wo and bo, ...), ascending; pos_emb, which may go unread,
/// isn't among them. They are read in long runs, so that huge pages pay there.
std::vector<ByteRange> weightRuns(const ArenaPlan &plan);

/// "weight", "activation", "scratch" or "gradient".
llvm::StringRef roleName(BufferRole role);

/// token_emb, pos_emb, per layer the 14 tensors, final_ln_weight, final_ln_bias. A quantized wo is [aD][H*ad], its
/// heads' columns side by side in each row (SPEC 2.3).
std::vector<TensorSpec> weightTensors(const ModelConfig &config, const WeightTypes &types = {});

/// "layer 3 wq", "token_emb".
std::string tensorLabel(const TensorSpec &spec);

/// "fp32", "q4_k"; "q4_k, embedding q6_k"; where the matrices of the layers aren't alike, "mixed: 12 q4_k, 2 q6_k,
/// embedding q6_k", the most frequent first. `types` as checkWeightTypes takes them.
std::string describeTypes(const ModelConfig &config, const WeightTypes &types);

/// Error unless there are none, or one for each tensor, that each tensor can have: norms, biases and positions are
/// fp32, and rows of a quantized weight are whole blocks; names tensor and remainder.
llvm::Error checkWeightTypes(const ModelConfig &config, const WeightTypes &types, llvm::StringRef where);

} // namespace ckjit
#endif
