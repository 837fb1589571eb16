//===- Verify.cpp - Compare a run with the reference ----------------------===//
#include "ckjit/Engine/Verify.h"
#include <cmath>
#include <fmt/format.h>

using namespace llvm;
using namespace ckjit;

std::string Mismatch::message() const {
  std::string place = layer < 0 ? "" : fmt::format("layer {}, ", layer);
  std::string which = node < 0 ? "" : fmt::format("node {} ", node);
  return fmt::format("{}{}{} ({}), row {}, element {}: found {:.9g}, expected {:.9g} (tolerance {:.3g})", place, which,
                     op, name, row, column, found, expected, tolerance);
}

namespace {
/// Element (row, column) of a slot, where `value` says what rows and columns are.
class SlotReader {
public:
  SlotReader(const Buffer &slot, const float *data, const ReferenceValue &value, int64_t tokens)
      : data(data), tokens(tokens), heads(slot.shape.size() == 3), context(slot.shape[heads ? 1 : 0]),
        width(slot.shape.size() == 1 ? 1 : slot.shape.back()), half(slot.name == "fc1_out" ? value.cols / 2 : 0) {}

  double at(int64_t row, int64_t column) const {
    if (half && column >= half)
      column += width / 2 - half;
    if (!heads)
      return data[row * width + column];
    return data[(row / tokens * context + row % tokens) * width + column];
  }

private:
  const float *data;
  int64_t tokens;
  bool heads;
  int64_t context, width;
  int64_t half; ///< logical columns of the gate half; the up half starts at the padded middle
};

double largest(ArrayRef<double> values) {
  double top = 0;
  for (double value : values)
    top = std::max(top, std::fabs(value));
  return top;
}

/// The first element beyond `share` of the value's largest magnitude; keeps the worst share seen.
std::optional<Mismatch> compare(const SlotReader &slot, const ReferenceValue &value, double share, double &worst) {
  double scale = std::max(largest(value.data), 1e-30), allowed = share * scale;
  for (int64_t row = 0; row < value.rows; ++row)
    for (int64_t column = 0; column < value.cols; ++column) {
      double expected = value.data[row * value.cols + column], found = slot.at(row, column);
      double difference = std::fabs(found - expected);
      // Written so that a NaN is a mismatch.
      if (!(difference <= allowed))
        return Mismatch{value.op, value.name, value.layer, value.node, row, column, found, expected, allowed};
      worst = std::max(worst, difference / scale);
    }
  return std::nullopt;
}
} // namespace

Expected<VerifyResult> ckjit::verify(Model &model, const CKIRGraph &graph, ArrayRef<int32_t> tokens, double tolerance) {
  if (!model.options().materialize)
    return createStringError("verify needs a model compiled with materialize: its ops must write their slots");
  VerifyResult result;
  auto weights = [&](StringRef name, int layer) -> const float * { return model.buffer(name, layer); };
  Error error = runReference(graph, weights, tokens, [&](const ReferenceValue &value) {
    const Buffer *slot = model.plan().find(value.name, value.layer);
    const float *data = model.buffer(value.name, value.layer);
    if (!slot || !data)
      return true; // a node elsewhere than in the canonical graph has no slot; what reads it is compared
    ++result.values;
    SlotReader reader(*slot, data, value, tokens.size());
    result.first = compare(reader, value, tolerance, result.worstShare);
    return !result.first;
  });
  if (error)
    return error;
  return result;
}
