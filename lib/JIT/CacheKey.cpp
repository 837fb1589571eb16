//===- CacheKey.cpp - What decides a compiled object ----------------------===//
//
// Each struct is taken apart by a structured binding: whoever adds a field has to come here, or it doesn't compile.
//
#include "ckjit/JIT/CacheEntry.h"
#include "llvm/ADT/bit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;
using namespace ckjit;

namespace {
/// Hashes fields; each has a size of its own or is preceded by it, so that no two lists of fields look alike.
class KeyHasher {
public:
  template <typename... T> void add(const T &...fields) { (addField(fields), ...); }
  void addText(StringRef text) {
    addField(text.size());
    hash.update(text);
  }
  void addGraph(const CKIRGraph &graph);
  void addPipeline(const PipelineOptions &options);
  void addTarget(const TargetDescription &target);
  CacheKey key() { return hash.final(); }

private:
  /// As 8 bytes, little-endian.
  template <typename T> void addField(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    std::array<uint8_t, sizeof(uint64_t)> bytes;
    support::endian::write64le(bytes.data(), static_cast<uint64_t>(value));
    hash.update(bytes);
  }
  void addField(float value) { addField(bit_cast<uint32_t>(value)); }

  SHA256 hash;
};

void KeyHasher::addGraph(const CKIRGraph &graph) {
  const auto &[config, nodes] = graph;
  const auto &[layers, hidden, intermediate, heads, kvHeads, vocab, context, eps, theta] = config;
  add(layers, hidden, intermediate, heads, kvHeads, vocab, context, eps, theta, nodes.size());
  for (const auto &[id, op, inputs, outputs] : nodes) {
    add(id.layer, id.node, op, outputs, inputs.size());
    for (const auto &[producer, outIndex] : inputs)
      add(producer.layer, producer.node, outIndex);
  }
}

void KeyHasher::addPipeline(const PipelineOptions &options) {
  const auto &[strict, quantize, materialize, fuse, rows, vectors, panels, unroll, emptyKernels, faultyKernel] = options;
  add(strict, quantize, materialize, fuse, rows, vectors, panels, unroll, emptyKernels);
  addText(faultyKernel);
}

void KeyHasher::addTarget(const TargetDescription &target) {
  const auto &[cpu, features, vectorBits, fma, vectorRegisters, l1dBytes, l2Bytes, l3Bytes] = target;
  addText(cpu);
  addText(features);
  add(vectorBits, fma, vectorRegisters, l1dBytes, l2Bytes, l3Bytes);
}
} // namespace

CacheKey ckjit::cacheKey(const CKIRGraph &graph, const CompileOptions &options, StringRef compiler) {
  const auto &[target, pipeline, weightTypes, decode] = options;
  KeyHasher hasher;
  hasher.addText("ck-jit object");
  hasher.addText(compiler);
  hasher.addText(LLVM_VERSION_STRING);
  hasher.addGraph(graph);
  hasher.addPipeline(pipeline);
  hasher.addTarget(target);
  hasher.add(weightTypes.size(), decode);
  for (DType type : weightTypes)
    hasher.add(type);
  return hasher.key();
}
