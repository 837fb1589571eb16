//===- Capture.h - Keeps what the reference hands out -----------*- C++ -*-===//
#ifndef CKJIT_TEST_REFERENCE_CAPTURE_H
#define CKJIT_TEST_REFERENCE_CAPTURE_H

#include "ckjit/Reference/Reference.h"
#include <catch2/catch.hpp>

namespace ckjit::test {

/// All values of one run, in order.
struct Capture {
  std::vector<ReferenceValue> values;

  /// The only value of that name (and layer, if one is given).
  const ReferenceValue &at(llvm::StringRef name, int layer = -2) const {
    const ReferenceValue *found = nullptr;
    for (const ReferenceValue &value : values)
      if (value.name == name && (layer == -2 || value.layer == layer)) {
        INFO("second value named " << name.str());
        REQUIRE(found == nullptr);
        found = &value;
      }
    INFO("no value named " << name.str());
    REQUIRE(found != nullptr);
    return *found;
  }
};

/// Runs the reference and fails the test on an error.
inline Capture capture(const CKIRGraph &graph, WeightLookup weights, llvm::ArrayRef<int32_t> tokens) {
  Capture result;
  llvm::Error error = runReference(graph, weights, tokens, [&](const ReferenceValue &value) {
    result.values.push_back(value);
    return true;
  });
  const std::string message = llvm::toString(std::move(error));
  INFO(message);
  REQUIRE(message.empty());
  return result;
}

} // namespace ckjit::test
#endif
