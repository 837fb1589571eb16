//===- QuantizedTest.cpp - Whole models with weights in blocks ------------===//
#include "EverySplit.h"
#include "Support/SharedData.h"
#include "ckjit/Engine/Verify.h"
#include "ckjit/Weights/BlockCodec.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace ckjit;
using namespace ckjit::test;

namespace {

/// What a golden case may be off with 8-bit activations: the relative RMS of its logits, and the mean KL divergence of
/// its distributions from the exact ones.
struct GoldenCase {
  const char *name;
  double rms, divergence;
};
constexpr double kMostRms = 0.035;
// f and g: about 1.5 times what was measured, 3.8e-5 and 7.7e-4 (relative RMS 1.6 % and 2.2 %); the seed system has no
// 8-bit activations for q6_k. The bound of e is worked out from the seed system's own logits with 8-bit activations
// (0: see there).
constexpr GoldenCase kGolden[] = {{"e_q4k", kMostRms, 0}, {"f_q6k", kMostRms, 6e-5}, {"g_mixed", kMostRms, 1.2e-3}};
/// SPEC's for e, f and g is 3.5e-4 and more.
constexpr double kFloatTolerance = 1e-4;

struct Loaded {
  std::unique_ptr<Model> model;
  std::vector<int32_t> tokens;
  std::vector<double> exact; ///< logits [T][V]
  size_t vocab() const { return static_cast<size_t>(model->config().vocabSize); }
};

struct Variant {
  bool int8, strict = false, decode = true;
  unsigned threads = 2;
};

Loaded load(const std::string &folder, const Variant &variant) {
  const std::unique_ptr<BumpFile> file = must(BumpFile::open(folder + "/model.bump"));
  CompileOptions options = hostOptions(variant.strict);
  options.weightTypes = file->weightTypes();
  options.pipeline.quantize = variant.int8;
  options.decode = variant.decode;
  Loaded loaded;
  loaded.model = must(Model::create(buildForwardGraph(file->config), folder, {options, variant.threads}));
  must(loaded.model->load(*file));
  const ModelConfig &config = loaded.model->config();
  loaded.tokens = must(readTokens(folder + "/tokens.bin", config.vocabSize, config.contextWindow, true));
  loaded.exact = readFloats(folder + "/logits_fp64.bin");
  return loaded;
}

template <typename Check> void forGolden(Check check) {
  for (const GoldenCase &golden : kGolden) {
    const std::string folder = sharedPath(std::string("golden/") + golden.name);
    if (folder.empty())
      continue;
    INFO(golden.name);
    check(golden, folder);
  }
}

std::vector<double> doubles(llvm::ArrayRef<float> values) { return {values.begin(), values.end()}; }

double relativeRms(llvm::ArrayRef<double> found, llvm::ArrayRef<double> exact) {
  double error = 0, squares = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error += (found[i] - exact[i]) * (found[i] - exact[i]);
    squares += exact[i] * exact[i];
  }
  return std::sqrt(error / squares);
}

std::vector<double> logProbabilities(llvm::ArrayRef<double> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double x : logits)
    sum += std::exp(x - top);
  std::vector<double> result;
  for (double x : logits)
    result.push_back(x - top - std::log(sum));
  return result;
}

/// Mean over the rows of sum p (ln p - ln q), p the exact distribution.
double meanDivergence(llvm::ArrayRef<double> found, llvm::ArrayRef<double> exact, size_t vocab) {
  double total = 0;
  for (size_t row = 0; row < exact.size(); row += vocab) {
    const std::vector<double> p = logProbabilities(exact.slice(row, vocab)), q = logProbabilities(found.slice(row, vocab));
    for (size_t v = 0; v < vocab; ++v)
      total += std::exp(p[v]) * (p[v] - q[v]);
  }
  return total / static_cast<double>(exact.size() / vocab);
}

struct Compared {
  double rms, divergence;
};
Compared compare(llvm::ArrayRef<float> found, const Loaded &loaded) {
  const std::vector<double> values = doubles(found);
  return {relativeRms(values, loaded.exact), meanDivergence(values, loaded.exact, loaded.vocab())};
}

/// Models whose rows are whole blocks, of 32 or of 256 weights; heads and features are padded.
ModelConfig configFor(DType type) {
  const bool wide = formatOf(type).elements > 32;
  ModelConfig c;
  c.numLayers = 2;
  c.hiddenSize = wide ? 248 : 60;
  c.intermediateSize = wide ? 250 : 59;
  c.numHeads = wide ? 4 : 3;
  c.numKVHeads = wide ? 2 : 1;
  c.vocabSize = 37;
  c.contextWindow = 21;
  c.ropeTheta = 10000.0f;
  return c;
}

/// `type` for all weights that may have it.
CompileOptions optionsFor(const ModelConfig &config, DType type, const Variant &variant, bool materialize) {
  CompileOptions options = hostOptions(variant.strict, materialize);
  for (const TensorSpec &spec : weightTensors(config))
    options.weightTypes.push_back(mayBeQuantized(spec.name) ? type : DType::FP32);
  options.pipeline.quantize = variant.int8;
  options.decode = variant.decode && !materialize;
  return options;
}

std::unique_ptr<Model> makeQuantized(const TestModel &weights, const CompileOptions &options) {
  std::unique_ptr<Model> model = makeModel(buildForwardGraph(weights.config()), options, weights);
  model->fillStored([&](const TensorSpec &spec, DType type, llvm::MutableArrayRef<uint8_t> bytes) {
    std::vector<float> values = weights.tensor(spec.name, spec.layer).vec();
    if (spec.name == "wo" && formatOf(type).isQuantized()) { // [H][aD][ad] to [aD][H*ad]
      const std::vector<float> heads = values;
      const int64_t rows = spec.shape[0], width = spec.shape[1] / spec.heads;
      for (int64_t h = 0; h < spec.heads; ++h)
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t k = 0; k < width; ++k)
            values[static_cast<size_t>((r * spec.heads + h) * width + k)] =
                heads[static_cast<size_t>((h * rows + r) * width + k)];
    }
    REQUIRE_FALSE(quantize(type, values, bytes, Zeros::Kept));
  });
  return model;
}

template <typename Check> void forFormats(Check check) {
  for (const WeightFormat &format : weightFormats()) {
    if (format.type == DType::FP32)
      continue;
    INFO(format.name.str());
    check(format.type);
  }
}

} // namespace

TEST_CASE("golden logits of quantized models with fp32 activations") {
  forGolden([](const GoldenCase &, const std::string &folder) {
    for (bool strict : {false, true}) {
      const Loaded loaded = load(folder, {.int8 = false, .strict = strict});
      for (int64_t length : {loaded.model->config().contextWindow, int64_t{1}, int64_t{4}}) {
        const Distance distance = distanceOf(runSteps(*loaded.model, loaded.tokens, length), loaded.exact, loaded.vocab());
        INFO("strict " << strict << ", tokens at a time " << length << ", " << distance.text());
        CHECK(distance.worst <= kFloatTolerance);
      }
    }
  });
}

TEST_CASE("golden logits of quantized models with 8-bit activations") {
  forGolden([](const GoldenCase &golden, const std::string &folder) {
    const Loaded loaded = load(folder, {.int8 = true});
    double bound = golden.divergence;
    if (bound == 0)
      bound = 1.5 * meanDivergence(readFloats(folder + "/logits_fast.bin"), loaded.exact, loaded.vocab());
    for (int64_t length : {loaded.model->config().contextWindow, int64_t{1}, int64_t{4}}) {
      const Compared found = compare(runSteps(*loaded.model, loaded.tokens, length), loaded);
      INFO("tokens at a time " << length << ", relative RMS " << found.rms << " of " << golden.rms << ", KL divergence "
                               << found.divergence << " of " << bound);
      CHECK(found.rms <= golden.rms);
      CHECK(found.divergence <= bound);
      CHECK(found.divergence > 0);
    }
  });
}

TEST_CASE("any split of a quantized model's tokens gives the logits of one run") {
  forGolden([](const GoldenCase &golden, const std::string &folder) {
    // Sums of floats: @decode agrees with @prefill within 1e-5 of the largest logit.
    const Loaded floats = load(folder, {.int8 = false});
    checkEverySplit(*floats.model, floats.tokens, floats.exact, kFloatTolerance);
    // Codes: the same bits whatever the pieces, of either program.
    const double far = 0.2 * largestOf(floats.exact);
    const Loaded codes = load(folder, {.int8 = true, .decode = false});
    const WholeLogits whole = checkEverySplit(*codes.model, codes.tokens, codes.exact, far);
    CHECK(sameBits(whole.atOnce, whole.singles));
    const Loaded both = load(folder, {.int8 = true});
    CHECK(sameBits(whole.atOnce, runLogits(*both.model, both.tokens)));
    const std::vector<float> singles = runSteps(*both.model, both.tokens, 1);
    for (const std::vector<int64_t> &pieces : {std::vector<int64_t>{2}, {3}, {4}, {1, 4, 2, 3}})
      CHECK(sameBits(singles, runPieces(*both.model, both.tokens, pieces)));
    INFO(golden.name << ", one program against the other");
    CHECK(relativeRms(doubles(singles), doubles(whole.atOnce)) <= kMostRms);
  });
}

TEST_CASE("quantized models give the same bits for 1, 2 and 3 threads") {
  forGolden([](const GoldenCase &golden, const std::string &folder) {
    if (golden.name != kGolden[2].name) // compiling takes most of the time: the one with several formats
      return;
    for (bool int8 : {false, true}) {
      std::vector<float> first, firstSingles;
      for (unsigned threads : {1u, 2u, 3u}) {
        const Loaded loaded = load(folder, {.int8 = int8, .threads = threads});
        const std::vector<float> all = runLogits(*loaded.model, loaded.tokens);
        const std::vector<float> singles = runSteps(*loaded.model, loaded.tokens, 1);
        first = first.empty() ? all : first;
        firstSingles = firstSingles.empty() ? singles : firstSingles;
        INFO("int8 " << int8 << ", threads " << threads);
        CHECK(sameBits(first, all));
        CHECK(sameBits(firstSingles, singles));
      }
    }
  });
}

TEST_CASE("verify agrees for models of every format, with padded heads and features") {
  forFormats([](DType type) {
    const ModelConfig config = configFor(type);
    const CKIRGraph graph = buildForwardGraph(config);
    const TestModel weights(config);
    const std::vector<int32_t> tokens = makeTokens(config, config.contextWindow);
    for (bool strict : {true, false}) {
      const Variant variant{.int8 = false, .strict = strict};
      const std::unique_ptr<Model> runs = makeQuantized(weights, optionsFor(config, type, variant, false));
      must(runs->prefill(tokens, 0, nextTokens(tokens)));
      const ProgramOutput output = outputOf(*runs, tokens.size());
      const std::unique_ptr<Model> slots = makeQuantized(weights, optionsFor(config, type, variant, true));
      const VerifyResult result =
          must(verify(*slots, graph, tokens, strict ? kVerifyToleranceStrict : kVerifyTolerance, &output));
      INFO("strict " << strict << ", " << result.message());
      CHECK(result.agrees());
      // The program for few tokens gives what the other does.
      const std::vector<double> whole = doubles(output.logits);
      const Distance distance = distanceOf(runSteps(*runs, tokens, 1), whole, static_cast<size_t>(config.vocabSize));
      INFO(distance.text());
      CHECK(distance.worst <= 1e-5 * largestOf(whole));
    }
  });
}

TEST_CASE("8-bit activations change the logits of models of every quantized format a little") {
  forFormats([](DType type) {
    if (!formatOf(type).isQuantized())
      return;
    const ModelConfig config = configFor(type);
    const TestModel weights(config);
    const std::vector<int32_t> tokens = makeTokens(config, config.contextWindow);
    const std::unique_ptr<Model> floats = makeQuantized(weights, optionsFor(config, type, {.int8 = false}, false));
    const std::unique_ptr<Model> codes = makeQuantized(weights, optionsFor(config, type, {.int8 = true}, false));
    const std::vector<double> exact = doubles(runLogits(*floats, tokens));
    for (int64_t length : {config.contextWindow, int64_t{1}}) {
      const double rms = relativeRms(doubles(runSteps(*codes, tokens, length)), exact);
      INFO("tokens at a time " << length << ", relative RMS " << rms);
      CHECK(rms <= kMostRms);
      CHECK(rms > 1e-5); // they are codes
    }
  });
}
