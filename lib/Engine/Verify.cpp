//===- Verify.cpp - Compare a run with the reference ----------------------===//
#include "ckjit/Engine/Verify.h"
#include "ckjit/Weights/BlockCodec.h"
#include "Suspects.h"
#include <cmath>
#include <fmt/format.h>

using namespace llvm;
using namespace ckjit;

/// "a", "a or b", "a, b or c".
static std::string listText(ArrayRef<std::string> names, StringRef last) {
  std::string text;
  for (auto [index, name] : enumerate(names))
    text += (index == 0 ? "" : index + 1 == names.size() ? last.str() : ", ") + name;
  return text;
}

std::string Mismatch::message() const {
  std::string place = layer < 0 ? "" : fmt::format("layer {}, ", layer);
  std::string which = node < 0 ? "" : fmt::format("node {} ", node);
  std::string what = op.empty() ? name : fmt::format("{} ({})", op, name);
  std::string text = fmt::format("{}{}{}, row {}, element {}: found {:.9g}, expected {:.9g} (tolerance {:.3g})", place,
                                 which, what, row, column, found, expected, tolerance);
  if (suspects.size() > 1)
    text += fmt::format("; the fault lies {}in {}",
                        behind.empty() ? "" : "behind " + listText(behind, " and ") + ", ", listText(suspects, " or "));
  return text;
}

std::string VerifyResult::message() const {
  if (first)
    return first->message() + (runCompared && !run ? "; the logits and losses of the program that runs agree" : "");
  if (!run)
    return "";
  std::string text = "in the program that runs, " + run->message() +
                     ", while op by op the materialized program agrees; the fault lies in ";
  return text + (runOnly.empty() ? "how the program that runs was compiled"
                                 : "what only the program that runs has: " + listText(runOnly, " or "));
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

/// The largest magnitude among the finite values.
double largest(ArrayRef<double> values) {
  double top = 1e-30;
  for (double value : values)
    top = std::isfinite(value) ? std::max(top, std::fabs(value)) : top;
  return top;
}

/// Both NaN or the same infinity; what is too large for fp32 is infinite in it.
bool sameNonFinite(double found, double expected) {
  float rounded = static_cast<float>(expected);
  return std::isnan(rounded) ? std::isnan(found) : std::isinf(rounded) && found == static_cast<double>(rounded);
}

/// What results may differ by.
struct Tolerance {
  double share, scale;
};

using Element = function_ref<double(int64_t row, int64_t column)>;

/// The first element that is further away than allowed; keeps the worst share seen.
std::optional<Mismatch> compare(Element element, const ReferenceValue &value, Tolerance tolerance, double &worst) {
  double allowed = tolerance.share * tolerance.scale;
  for (int64_t row = 0; row < value.rows; ++row)
    for (int64_t column = 0; column < value.cols; ++column) {
      double expected = value.data[row * value.cols + column], found = element(row, column);
      if (sameNonFinite(found, expected))
        continue;
      double difference = std::fabs(found - expected);
      // Written so that a NaN is a mismatch.
      if (!(difference <= allowed))
        return Mismatch{value.op, value.name, value.layer, value.node, row, column, found, expected, allowed, {}, {}};
      worst = std::max(worst, difference / tolerance.scale);
    }
  return std::nullopt;
}

/// Results that an op stores in their slot itself; ck.unpack copies all others there.
bool storedDirectly(StringRef name) {
  return is_contained({"k", "v", "logits", "loss"}, name) || name.ends_with("_rstd");
}

class Verifier {
public:
  Verifier(Model &materialized, const CKIRGraph &graph, ArrayRef<int32_t> tokens, double tolerance,
           const ProgramOutput *run, double runTolerance)
      : model(materialized), tokens(tokens), targets(nextTokens(tokens)), share(tolerance), runTolerance(runTolerance),
        run(run), suspects(graph) {}

  Expected<VerifyResult> verify(const CKIRGraph &graph);

private:
  void look(const ReferenceValue &value);
  void lookAtLosses(const ReferenceValue &logits);
  void step(const ReferenceValue &value, Element element, double scale);
  void compareRun(const ReferenceValue &value, ArrayRef<float> found, double scale);

  Model &model;
  ArrayRef<int32_t> tokens;
  std::vector<int32_t> targets;
  double share, runTolerance;
  const ProgramOutput *run;
  Suspects suspects;
  VerifyResult result;
};

/// Compares one result of the materialized program, unless an earlier one differed.
void Verifier::step(const ReferenceValue &value, Element element, double scale) {
  if (result.first) {
    // Sound logits behind a wrong slot: only the copy may be wrong.
    double ignored = 0;
    if (value.name == "logits" && !storedDirectly(result.first->name) &&
        !compare(element, value, {share, scale}, ignored))
      result.first->suspects.push_back("unpack");
    return;
  }
  ++result.values;
  result.first = compare(element, value, {share, scale}, result.worstShare);
  if (!result.first)
    return suspects.compared(value);
  suspects.trace(value);
  result.first->behind = suspects.behind;
  result.first->suspects = suspects.ops;
}

void Verifier::compareRun(const ReferenceValue &value, ArrayRef<float> found, double scale) {
  if (!run || result.run)
    return;
  ++result.values;
  auto element = [&](int64_t row, int64_t column) -> double { return found[row * value.cols + column]; };
  result.run = compare(element, value, {runTolerance, scale}, result.runShare);
  if (result.run && value.name == "logits")
    result.run->op.clear(); // nothing tells which op is at fault
}

void Verifier::look(const ReferenceValue &value) {
  const Buffer *slot = model.plan().find(value.name, value.layer);
  const float *data = model.buffer(value.name, value.layer);
  if (!slot || !data)
    return; // a node elsewhere than in the canonical graph has no slot; what reads it is compared
  SlotReader reader(*slot, data, value, tokens.size());
  double scale = largest(value.data);
  step(value, [&](int64_t row, int64_t column) { return reader.at(row, column); }, scale);
  if (value.name != "logits")
    return;
  if (run)
    compareRun(value, run->logits, scale);
  lookAtLosses(value);
}

void Verifier::lookAtLosses(const ReferenceValue &logits) {
  ReferenceValue value{"loss", -1, -1, "cross_entropy", logits.rows, 1, referenceLosses(logits, targets)};
  double scale = std::max(largest(logits.data), largest(value.data));
  ArrayRef<float> found = model.losses();
  step(value, [&](int64_t row, int64_t) -> double { return found[row]; }, scale);
  if (run)
    compareRun(value, run->losses, scale);
}

Expected<VerifyResult> Verifier::verify(const CKIRGraph &graph) {
  if (!model.options().materialize)
    return createStringError("verify needs a model compiled with materialize: its ops must write their slots");
  if (Error error = model.prefill(tokens, 0, targets))
    return error;
  result.runCompared = run != nullptr;
  if (run)
    copy_if(run->kernels, std::back_inserter(result.runOnly),
            [&](const std::string &name) { return !is_contained(model.compiled().kernels, name); });
  // The reference asks for one matrix at a time.
  std::vector<TensorSpec> tensors = weightTensors(model.config(), model.weightTypes());
  std::vector<float> values;
  auto weights = [&](StringRef name, int layer) -> const float * {
    auto spec = find_if(tensors, [&](const TensorSpec &t) { return t.name == name && t.layer == layer; });
    if (spec == tensors.end() || model.stored(*spec).second == DType::FP32)
      return model.buffer(name, layer);
    auto [bytes, type] = model.stored(*spec);
    values.resize(spec->elements());
    if (Error error = dequantizeTensor(*spec, type, bytes, values)) {
      consumeError(std::move(error));
      return nullptr;
    }
    return values.data();
  };
  Error error = runReference(graph, weights, tokens, [&](const ReferenceValue &value) {
    look(value);
    return true;
  });
  if (error)
    return error;
  return std::move(result);
}
} // namespace

double ckjit::verifyTolerance(const CompileOptions &options) {
  if (usesInt8Activations(options))
    return kVerifyToleranceInt8;
  return options.pipeline.strict ? kVerifyToleranceStrict : kVerifyTolerance;
}

std::vector<int32_t> ckjit::nextTokens(ArrayRef<int32_t> tokens) {
  if (tokens.empty())
    return {};
  std::vector<int32_t> targets(tokens.drop_front());
  targets.push_back(kIgnoredTarget);
  return targets;
}

ProgramOutput ckjit::outputOf(const Model &model, size_t tokens) {
  const float *first = model.logits(0).data();
  return {{first, first + tokens * static_cast<size_t>(model.config().vocabSize)}, model.losses().vec(),
          model.compiled().kernels};
}

Expected<VerifyResult> ckjit::verify(Model &materialized, const CKIRGraph &graph, ArrayRef<int32_t> tokens,
                                     double tolerance, const ProgramOutput *run,
                                     std::optional<double> runTolerance) {
  return Verifier(materialized, graph, tokens, tolerance, run, runTolerance.value_or(tolerance)).verify(graph);
}
