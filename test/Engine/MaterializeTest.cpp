//===- MaterializeTest.cpp - Every op against the reference ---------------===//
#include "ModelRun.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// Where value (row, column) of the reference lies in its slot: one value a token, rows of tokens, or heads of rows; of
/// fc1_out the second half starts behind the first one's padding.
int64_t placeOf(const Buffer &slot, const ReferenceValue &value, int64_t tokens, int64_t row, int64_t column) {
  if (slot.shape.size() == 1)
    return row;
  const int64_t width = slot.shape.back();
  if (slot.shape.size() == 3)
    return (row / tokens * slot.shape[1] + row % tokens) * width + column;
  const int64_t half = value.cols / 2;
  if (slot.name == "fc1_out" && column >= half)
    column += width / 2 - half;
  return row * width + column;
}

/// Compares one op's result with its slot; what isn't a value must still be the zero that the arena starts with.
void checkSlot(Model &model, const ReferenceValue &value, int64_t tokens, double share) {
  const Buffer &slot = *model.plan().find(value.name, value.layer);
  const float *data = model.buffer(value.name, value.layer);
  const double scale = largestOf(value.data);
  std::set<int64_t> places;
  Distance distance;
  for (int64_t row = 0; row < value.rows; ++row)
    for (int64_t column = 0; column < value.cols; ++column) {
      const int64_t place = placeOf(slot, value, tokens, row, column);
      places.insert(place);
      const double expected = value.data[static_cast<size_t>(row * value.cols + column)];
      const double now = std::abs(static_cast<double>(data[place]) - expected);
      if (!(now <= distance.worst))
        distance = {std::isnan(now) ? 1e300 : now, static_cast<size_t>(row), static_cast<size_t>(column),
                    static_cast<double>(data[place]), expected};
    }
  int64_t padding = 0, count = static_cast<int64_t>(slot.bytes / sizeof(float));
  for (int64_t i = 0; i < count; ++i)
    padding += !places.count(i) && data[i] != 0.0f;
  INFO(value.op << " (" << value.name << ") of layer " << value.layer << ", " << distance.text() << ", largest "
                << scale);
  CHECK(distance.worst <= share * scale);
  CHECK(padding == 0);
}

/// The slots that the canonical decoder fills.
std::set<std::string> canonicalSlots() {
  return {"embedded_input", "ln1_rstd", "ln1_out", "q",          "k",       "v",      "attn_out",      "proj_tmp",
          "residual1",      "ln2_rstd", "ln2_out", "fc1_out",    "mlp_out", "output", "final_ln_rstd", "final_output",
          "logits",         "swiglu_out"};
}

void checkConfig(const NamedConfig &named, bool strict) {
  INFO(named.name << ", strict " << strict);
  const CKIRGraph graph = buildForwardGraph(named.config);
  const TestModel weights(named.config, {.padding = Padding::NaN});
  const std::unique_ptr<Model> model = makeModel(graph, hostOptions(strict, /*materialize=*/true), weights);
  const int64_t count = std::max<int64_t>(1, named.config.contextWindow - 1);
  const std::vector<int32_t> tokens = makeTokens(named.config, count, 2);
  must(model->prefill(tokens, 0));
  std::set<std::string> seen;
  // q and k are seen twice, before and after RoPE; their slots hold what came last.
  std::map<std::pair<std::string, int>, ReferenceValue> last;
  for (ReferenceValue &value : referenceValues(graph, weights, tokens))
    last[{value.name, value.layer}] = std::move(value);
  for (const auto &[key, value] : last) {
    seen.insert(value.name);
    checkSlot(*model, value, count, strict ? kLogitToleranceStrict : kLogitTolerance);
  }
  CHECK(seen == canonicalSlots());
}

} // namespace

TEST_CASE("materialized slots hold what the reference computes, op by op") {
  std::vector<NamedConfig> configs = awkwardConfigs();
  configs.push_back(goldenConfigs()[3]);
  configs.push_back(goldenConfigs()[4]);
  for (const NamedConfig &named : configs)
    checkConfig(named, false);
}

TEST_CASE("materialized slots hold what the reference computes in strict mode") {
  for (const NamedConfig &named : {goldenConfigs()[1], goldenConfigs()[3], awkwardConfigs()[4]})
    checkConfig(named, true);
}

TEST_CASE("fused, unfused and materialized programs give the same bits") {
  for (const NamedConfig &named : {NamedConfig{"tiny", tinyConfig()}, awkwardConfigs()[4]})
    for (bool strict : {false, true}) {
      INFO(named.name << ", strict " << strict);
      const CKIRGraph graph = buildForwardGraph(named.config);
      const TestModel weights(named.config);
      const std::vector<int32_t> tokens = makeTokens(named.config, named.config.contextWindow, 2);
      CompileOptions unfused = hostOptions(strict);
      unfused.pipeline.fuse = false;
      const std::vector<float> plain = runLogits(*makeModel(graph, unfused, weights), tokens);
      // Fusing moves an operation behind its producer without changing it or its order.
      CHECK(sameBits(plain, runLogits(*makeModel(graph, hostOptions(strict, true), weights), tokens)));
      CHECK(sameBits(plain, runLogits(*makeModel(graph, hostOptions(strict), weights), tokens)));
    }
}

TEST_CASE("without materialize the slots that nothing reads stay untouched") {
  const ModelConfig config = goldenConfigs()[0].config;
  const TestModel weights(config);
  const std::unique_ptr<Model> model = makeModel(buildForwardGraph(config), hostOptions(), weights);
  must(model->prefill(makeTokens(config, config.contextWindow), 0));
  for (const char *name :
       {"q", "attn_out", "proj_tmp", "residual1", "ln1_rstd", "ln1_out", "ln2_rstd", "ln2_out", "fc1_out", "swiglu_out",
        "mlp_out", "output", "embedded_input", "final_ln_rstd", "final_output"})
    for (int layer : {-1, 0, 1}) {
      if (!model->plan().find(name, layer))
        continue;
      const Buffer &slot = *model->plan().find(name, layer);
      const float *data = model->buffer(name, layer);
      INFO(name << " of layer " << layer);
      CHECK(std::all_of(data, data + slot.bytes / sizeof(float), [](float v) { return v == 0.0f; }));
    }
}
