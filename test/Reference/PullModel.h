//===- PullModel.h - The decoder a second time, pulled backwards *- C++ -*-===//
#ifndef CKJIT_TEST_REFERENCE_PULLMODEL_H
#define CKJIT_TEST_REFERENCE_PULLMODEL_H

#include "Support/TestModel.h"
#include "ckjit/Graph/CKIRGraph.h"
#include <map>
#include <tuple>
#include <vector>

namespace ckjit::test {

/// The same maths as lib/Reference in another form, to hold one against the other: it starts from the logits of one
/// token and pulls what they need through the graph, a token and a node at a time, in long double. Weights are first
/// unpacked to the dense matrices of the HF layout (W [out][in]); heads lie side by side in a row; RoPE is a complex
/// product; attention is a full row with -inf after the diagonal and a softmax without shift.
class PullModel {
public:
  using Row = std::vector<long double>;

  PullModel(const CKIRGraph &graph, const TestModel &model, llvm::ArrayRef<int32_t> tokens);

  /// Logits [V] of token t.
  Row logits(size_t t);

private:
  struct Dense {
    std::vector<Row> rows;
    Row bias;
  };

  Row layerResult(int layer, size_t t);
  const Row &output(NodeId id, size_t t);
  Row input(const CKIRNode &node, size_t slot, size_t t);
  Row evaluate(const CKIRNode &node, size_t t);
  Row evaluateQkv(const CKIRNode &node, size_t t);
  Row evaluateAttention(const CKIRNode &node, size_t t);
  Row norm(const Row &x, llvm::StringRef gamma, int layer) const;
  void rotate(Row &row, size_t first, size_t t) const;
  const Dense &dense(const std::string &letter, int layer);
  Dense unpack(const std::string &letter, int layer) const;

  static Row apply(const Dense &w, const Row &x);

  const CKIRGraph &graph;
  const TestModel &model;
  const ModelConfig &config;
  llvm::ArrayRef<int32_t> tokens;
  std::map<std::tuple<int, int, size_t>, Row> known;     ///< layer, node, token
  std::map<std::pair<std::string, int>, Dense> matrices; ///< "q", "o", "1", ... and layer
};

} // namespace ckjit::test
#endif
