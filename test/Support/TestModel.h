//===- TestModel.h - A seeded model in memory -------------------*- C++ -*-===//
#ifndef CKJIT_TEST_SUPPORT_TESTMODEL_H
#define CKJIT_TEST_SUPPORT_TESTMODEL_H

#include "ckjit/Layout/ArenaPlan.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace ckjit::test {

/// What stands in the lanes that pad D, I and hd to multiples of 16.
enum class Padding : uint8_t {
  Zero,  ///< as in a file that follows SPEC 2.4
  Junk,  ///< finite, of size 1 to 1000: input columns may hold this
  NaN,   ///< a single read of it shows in the result
};

struct TestModelOptions {
  uint64_t seed = 1;
  Padding padding = Padding::Zero;
};

/// All tensors of a config as fp32 in the arena's shapes. Values are scaled so that activations stay of order 1 and
/// logits of order 10; biases, pos_emb (also with RoPE) and the unused final_ln_bias are non-zero. The same config and
/// seed give the same logical values on every machine, whatever the padding.
class TestModel {
public:
  explicit TestModel(const ModelConfig &config, const TestModelOptions &options = {});

  const ModelConfig &config() const { return modelConfig; }

  /// Tensors in file order (SPEC 2.3).
  llvm::ArrayRef<TensorSpec> specs() const { return tensorSpecs; }

  /// Values of a tensor, padding included; layer -1 for a global one. Empty if there is none of that name.
  llvm::ArrayRef<float> tensor(llvm::StringRef name, int layer) const;
  llvm::MutableArrayRef<float> tensor(llvm::StringRef name, int layer);

  /// Weight lookup as lib/Reference takes it: pass the model itself. Null if there is none of that name.
  const float *operator()(llvm::StringRef name, int layer) const;

  /// Copies a tensor to `dst` (spec.elements() floats), as writeBump wants it.
  void copyTensor(const TensorSpec &spec, float *dst) const;

private:
  ModelConfig modelConfig;
  std::vector<TensorSpec> tensorSpecs;
  std::vector<std::vector<float>> values; ///< one for each spec
};

/// `count` seeded token ids in [0, V).
std::vector<int32_t> makeTokens(const ModelConfig &config, int64_t count, uint64_t seed = 1);

struct NamedConfig {
  std::string name;
  ModelConfig config;
};

/// The shapes of the golden cases a, b, b_gqa_full, c, d and i.
std::vector<NamedConfig> goldenConfigs();

/// Small shapes that each break an assumption: odd dims, MQA, no RoPE, a vocabulary of 1, one position, ...
std::vector<NamedConfig> awkwardConfigs();

/// goldenConfigs() followed by awkwardConfigs().
std::vector<NamedConfig> smallConfigs();

} // namespace ckjit::test
#endif
