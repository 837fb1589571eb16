//===- GraphTest.h - What the graph tests share -----------------*- C++ -*-===//
#ifndef CKJIT_TEST_GRAPH_GRAPHTEST_H
#define CKJIT_TEST_GRAPH_GRAPHTEST_H

#include "ckjit/Graph/CKIRGraph.h"
#include <string>

namespace ckjit::test {

/// Two layers of D 64, I 128, 4 heads on 2 KV heads, V 256, C 32, theta 1e4.
inline ModelConfig smallConfig() {
  return {.numLayers = 2, .hiddenSize = 64, .intermediateSize = 128, .numHeads = 4, .numKVHeads = 2,
          .vocabSize = 256, .contextWindow = 32, .rmsNormEps = 1e-5f, .ropeTheta = 10000.0f};
}

/// The message of a failed result, or "(no error)".
template <typename T> std::string messageOf(llvm::Expected<T> result) {
  return result ? "(no error)" : llvm::toString(result.takeError());
}
inline std::string messageOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "(no error)";
}

/// `text` with the first `from` replaced by `to`; the text unchanged would make a test vacuous, so
/// a missing `from` shows as such.
inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  return at == std::string::npos ? "(" + from + " not found)" : text.replace(at, from.size(), to);
}

} // namespace ckjit::test
#endif
