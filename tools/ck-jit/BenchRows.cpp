//===- BenchRows.cpp - The rows of ck-jit bench ---------------------------===//
#include "Bench.h"
#include "ckjit/Engine/Model.h"
#include "ckjit/Weights/BlockCodec.h"
#include "ckjit/Import/Import.h"
#include <chrono>
#include <fmt/format.h>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

std::string BenchTable::markdown() const {
  auto line = [](ArrayRef<std::string> cells) {
    std::string text = "|";
    for (const std::string &cell : cells)
      text += " " + cell + " |";
    return text + "\n";
  };
  std::string text = line(heads) + "|";
  for (size_t i = 0; i < heads.size(); ++i)
    text += "---|";
  text += "\n";
  for (const auto &row : rows)
    text += line(row);
  return text;
}

Expected<ModelConfig> ckjit::tool::shapeOf(StringRef name) {
  auto make = [](int64_t layers, int64_t hidden, int64_t inner, int64_t heads, int64_t kv, int64_t vocab) {
    ModelConfig config;
    config.numLayers = layers;
    config.hiddenSize = hidden;
    config.intermediateSize = inner;
    config.numHeads = heads;
    config.numKVHeads = kv;
    config.vocabSize = vocab;
    config.contextWindow = 2048;
    config.ropeTheta = 10000.0f;
    return config;
  };
  if (name == "smollm-135m")
    return make(30, 576, 1536, 9, 3, 49152);
  if (name == "tinyllama-1.1b")
    return make(22, 2048, 5632, 32, 4, 32000);
  if (name == "stories-260k")
    return make(5, 64, 172, 8, 4, 512);
  if (name == "llama3.2-1b")
    return make(16, 2048, 8192, 32, 8, 128256);
  return createStringError("shape '" + name + "' is not known, expected smollm-135m, tinyllama-1.1b, llama3.2-1b or "
                                              "stories-260k");
}

namespace {
constexpr int64_t kBytesOfFloat = 4;
/// Weights of a kernel's measurement in all: as in a model, a matrix comes from memory each time.
constexpr int64_t kWorkingSetBytes = int64_t(256) << 20;

struct Matrix {
  int64_t rows, depth;
};

/// The distinct matrices of a layer.
std::vector<Matrix> matricesOf(const ModelConfig &c) {
  int64_t head = c.headDim();
  return {{c.numHeads * head, c.hiddenSize}, {c.numKVHeads * head, c.hiddenSize}, {c.intermediateSize, c.hiddenSize},
          {c.hiddenSize, c.intermediateSize}};
}

/// `copies` products with weights of their own, one after the other.
std::string linearText(const Matrix &m, const WeightFormat &format, int64_t tokens, int64_t lanes, int64_t copies) {
  // As the engine does: few tokens in rows, others in panels.
  bool inRows = tokens <= maxTokensInRows({format.type});
  int64_t panels = (tokens + lanes - 1) / lanes;
  auto typeOf = [&](int64_t features) {
    return inRows ? fmt::format("memref<{}x{}xf32>", tokens, features)
                  : fmt::format("memref<{}x{}x{}xf32>", panels, features, lanes);
  };
  std::string x = typeOf(m.depth), y = typeOf(m.rows);
  std::string element = format.isQuantized()         ? fmt::format("!ck.block<{}>", format.name.str())
                        : format.type == DType::BF16 ? "bf16"
                        : format.type == DType::FP16 ? "f16"
                                                     : "f32";
  std::string w = fmt::format("memref<{}x{}x{}>", m.rows, m.depth / format.elements, element), b = fmt::format("memref<{}xf32>", m.rows);
  std::string text = "func.func @prefill() {\n";
  text += fmt::format("  %x = ck.buffer extra \"x\" : {}\n  %y = ck.buffer extra \"y\" : {}\n  %b = ck.buffer extra \"b\" : {}\n",
                      x, y, b);
  for (int64_t copy = 0; copy < copies; ++copy)
    text += fmt::format("  %w{0} = ck.buffer extra \"w{0}\" : {1}\n"
                        "  ck.linear ins(%x, %w{0}, %b : {2}, {1}, {3}) outs(%y : {4}) rows {5} depth {6}\n",
                        copy, w, x, b, y, m.rows, m.depth);
  return text + "  return\n}\n";
}

Error benchMatrix(const Matrix &m, int64_t tokens, unsigned threads, const MachineLimits &limits,
                  const BenchOptions &options, BenchTable &table) {
  const WeightFormat &format = formatOf(options.formats.matrices);
  if (m.depth % format.elements != 0) {
    table.rows.push_back({fmt::format("{} x {}", m.rows, m.depth), fmt::format("{}", tokens), fmt::format("{}", threads),
                          "-", fmt::format("no whole blocks of {}", format.elements), "-", "-"});
    return Error::success();
  }
  int64_t weightBytes = m.rows * (m.depth / format.elements) * format.bytes;
  int64_t copies = std::clamp<int64_t>(kWorkingSetBytes / weightBytes, 1, 64);
  int64_t lanes = options.compile.target.vectorBits / 32;
  auto program = BenchProgram::make(linearText(m, format, tokens, lanes, copies), options.compile, options.link);
  if (!program)
    return program.takeError();
  auto team = ThreadTeam::create(threads);
  if (!team)
    return team.takeError();
  for (const char *name : {"x", "b", "w"})
    program->fill(name);
  if (format.type != DType::FP32)
    program->fillBlocks("w", format.type);
  double flops = 2.0 * m.rows * m.depth * tokens * copies;
  std::vector<double> samples;
  program->run(**team, tokens);
  for (unsigned run = 0; run < options.runs; ++run)
    samples.push_back(flops / program->run(**team, tokens) * 1e-9);
  Figure figure = figureOf(samples);
  double intensity = flops / (static_cast<double>(weightBytes) * copies); // operations a byte of weight
  bool codes = format.isQuantized() && options.compile.pipeline.quantize && !options.compile.pipeline.strict;
  double peak = codes && limits.gops.median > 0 ? limits.gops.median : limits.gflops.median;
  double roof = std::min(peak, limits.gigabytes.median * intensity);
  double peakShare = 100 * figure.median / peak, roofShare = 100 * figure.median / roof;
  table.rows.push_back({fmt::format("{} x {}", m.rows, m.depth), fmt::format("{}", tokens), fmt::format("{}", threads),
                        fmt::format("{:.1f}", figure.median), fmt::format("{:.1f} - {:.1f}", figure.least, figure.most),
                        fmt::format("{:.0f} %", peakShare), fmt::format("{:.0f} %", roofShare)});
  table.json.push_back(json::Object{{"rows", m.rows}, {"depth", m.depth}, {"tokens", tokens}, {"threads", threads},
                                    {"gflops", figure.median}, {"gflops_min", figure.least}, {"gflops_max", figure.most},
                                    {"type", format.name}, {"peak_gflops", peak}, {"read_gbs", limits.gigabytes.median},
                                    {"share_of_peak", peakShare / 100}, {"share_of_roofline", roofShare / 100}});
  return Error::success();
}

/// Weights of small random values: zeros or equal values would not cost the same.
void fillModel(Model &model) {
  model.fillStored([](const TensorSpec &spec, DType type, MutableArrayRef<uint8_t> bytes) {
    // The same blocks again and again: speed depends on where weights are, not on what they are.
    std::vector<float> values(1 << 14);
    uint64_t state = 1;
    for (float &value : values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = (static_cast<float>(state >> 40) / 8388608.0f - 1.0f) * 0.5f / std::sqrt(static_cast<float>(spec.shape.back()));
    }
    const WeightFormat &format = formatOf(type);
    std::vector<uint8_t> blocks(values.size() / format.elements * format.bytes);
    quantize(type, values, blocks);
    for (size_t i = 0; i < bytes.size(); i += blocks.size())
      std::copy_n(blocks.begin(), std::min(blocks.size(), bytes.size() - i), bytes.begin() + i);
  });
  uint64_t state = 1;
  model.fillWeights([&](const TensorSpec &spec, float *data) {
    float scale = 0.5f / std::sqrt(static_cast<float>(spec.shape.back()));
    spec.forEachLogicalRun([&](int64_t first, int64_t count) {
      for (int64_t i = first; i < first + count; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = scale * (static_cast<float>(state >> 40) / 8388608.0f - 1.0f);
      }
    });
  });
}

double flopsOf(const ModelConfig &c, int64_t tokens) {
  double head = static_cast<double>(c.headDim());
  double layer = c.hiddenSize * head * (2 * c.numHeads + 2 * c.numKVHeads) + 3.0 * c.hiddenSize * c.intermediateSize;
  double attention = head * c.numHeads * (tokens + 1.0); // half of the square, twice
  return 2.0 * tokens * c.numLayers * (layer + attention) + 2.0 * c.hiddenSize * c.vocabSize;
}
} // namespace

Expected<BenchTable> ckjit::tool::benchKernels(const BenchOptions &options) {
  auto shape = shapeOf(options.shape);
  if (!shape)
    return shape.takeError();
  BenchTable table;
  bool codes = formatOf(options.formats.matrices).isQuantized() && options.compile.pipeline.quantize &&
               !options.compile.pipeline.strict;
  table.heads = {"N x K", "M", "threads", codes ? "GOP/s" : "GFLOP/s", "range", codes ? "of int8 peak" : "of FMA peak",
                 "of roofline"};
  for (unsigned threads : options.threads) {
    auto limits = measureLimits(options.compile, threads, options.runs);
    if (!limits)
      return limits.takeError();
    const Figure &peak = codes ? limits->gops : limits->gflops;
    table.rows.push_back({"limits", "", fmt::format("{}", threads), fmt::format("{:.1f}", peak.median),
                          fmt::format("{:.1f} - {:.1f}", peak.least, peak.most),
                          fmt::format("read {:.1f} GB/s, {} stream{} a thread", limits->gigabytes.median, limits->streams,
                                      limits->streams > 1 ? "s" : ""),
                          fmt::format("{:.1f} - {:.1f}", limits->gigabytes.least, limits->gigabytes.most)});
    for (const Matrix &matrix : matricesOf(*shape))
      for (int64_t tokens : options.tokens)
        if (Error error = benchMatrix(matrix, tokens, threads, *limits, options, table))
          return error;
  }
  return table;
}

namespace {
std::vector<int32_t> someTokens(int64_t count, int64_t vocab) {
  std::vector<int32_t> tokens(count);
  for (int64_t i = 0; i < count; ++i)
    tokens[i] = static_cast<int32_t>(i * 7919 % vocab);
  return tokens;
}

/// Bytes of weights that each token reads: all but the learned positions, the embedding as the head.
double weightBytesOf(const Model &model) {
  double bytes = 0;
  for (const TensorSpec &spec : weightTensors(model.config(), model.weightTypes()))
    if (spec.name != "pos_emb")
      bytes += static_cast<double>(model.stored(spec).first.size());
  return bytes;
}
/// Multiplications of a token, all but attention's.
double weightsOf(const Model &model) {
  double count = 0;
  for (const TensorSpec &spec : weightTensors(model.config(), model.weightTypes()))
    if (spec.name != "pos_emb")
      count += static_cast<double>(spec.elements());
  return count;
}

/// One model with a number of threads, measured in several ways.
struct ModelBench {
  Model &model;
  const BenchOptions &options;
  const MachineLimits &limits;
  unsigned threads;
  BenchTable &table;
  std::string types = describeTypes(model.config(), model.weightTypes());

  /// Tokens/s of `body`, which runs `count` tokens.
  Expected<Figure> rate(int64_t count, function_ref<Error()> body) {
    std::vector<double> samples;
    for (unsigned run = 0; run <= options.runs; ++run) {
      auto start = std::chrono::steady_clock::now();
      if (Error error = body())
        return error;
      std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      if (run > 0) // the first touches its pages
        samples.push_back(count / passed.count());
    }
    return figureOf(samples);
  }

  void add(StringRef kind, int64_t count, const Figure &figure, double flopsOfToken, double bytesOfToken) {
    double gflops = flopsOfToken * figure.median * 1e-9, gigabytes = bytesOfToken * figure.median * 1e-9;
    double compile = model.compiled().times.total();
    table.rows.push_back({options.shape + " " + types, fmt::format("{} {}", kind.str(), count), fmt::format("{}", threads),
                          fmt::format("{:.1f}", figure.median), fmt::format("{:.1f} - {:.1f}", figure.least, figure.most),
                          fmt::format("{:.1f}", gflops), fmt::format("{:.0f} %", 100 * gflops / limits.gflops.median),
                          fmt::format("{:.1f}", gigabytes),
                          fmt::format("{:.0f} %", 100 * gigabytes / limits.gigabytes.median),
                          fmt::format("{:.0f}", compile)});
    table.json.push_back(json::Object{{"model", options.shape}, {"type", types}, {"kind", kind}, {"tokens", count}, {"threads", threads},
                                      {"tokens_per_second", figure.median}, {"tokens_per_second_min", figure.least},
                                      {"tokens_per_second_max", figure.most}, {"gflops", gflops}, {"gbs", gigabytes},
                                      {"peak_gflops", limits.gflops.median}, {"read_gbs", limits.gigabytes.median},
                                      {"compile_ms", compile}});
  }

  Error prefill(int64_t count) {
    std::vector<int32_t> tokens = someTokens(count, model.config().vocabSize);
    auto figure = rate(count, [&] { return model.prefill(tokens, count - 1); });
    if (!figure)
      return figure.takeError();
    add("prefill", count, *figure, flopsOf(model.config(), count) / count, weightBytesOf(model) / count);
    return Error::success();
  }

  /// `count` tokens one by one, from an empty cache.
  Error decode(int64_t count) {
    std::vector<int32_t> tokens = someTokens(count, model.config().vocabSize);
    auto figure = rate(count, [&]() -> Error {
      for (int64_t i = 0; i < count; ++i)
        if (Error error = model.prefill(ArrayRef(tokens).slice(i, 1), 0, {}, i))
          return error;
      return Error::success();
    });
    if (!figure)
      return figure.takeError();
    double bytes = weightBytesOf(model);
    add("decode", count, *figure, 2 * weightsOf(model), bytes);
    // Its bytes are the cache's.
    auto attention = measureAttention(model.config(), options, threads);
    if (!attention)
      return attention.takeError();
    add("attention over", attention->keys, attention->perSecond, attention->flops, attention->cacheBytes);
    double seconds = 1 / attention->perSecond.median, read = attention->cacheBytes / (limits.gigabytes.median * 1e9);
    json::Object &row = *table.json.back().getAsObject();
    row["cache_bytes"] = attention->cacheBytes;
    row["ns_per_key"] = seconds * 1e9 / static_cast<double>(attention->keys);
    row["times_read"] = seconds / read;
    return Error::success();
  }
};
} // namespace

Expected<BenchTable> ckjit::tool::benchModel(const BenchOptions &options) {
  auto shape = shapeOf(options.shape);
  if (!shape)
    return shape.takeError();
  CompileOptions compile = options.compile;
  compile.decode = options.decode > 0;
  Expected<FormatChoice> choice = chooseFormats(*shape, options.formats);
  if (!choice)
    return choice.takeError();
  noteFallbacks(*shape, *choice);
  if (!all_of(choice->types, [](DType t) { return t == DType::FP32; }))
    compile.weightTypes = std::move(choice->types);
  BenchTable table;
  table.heads = {"model", "run", "threads", "tokens/s", "range", "GFLOP/s", "of FMA peak", "GB/s of weights", "of read",
                 "compile ms"};
  for (unsigned threads : options.threads) {
    auto limits = measureLimits(options.compile, threads, options.runs);
    if (!limits)
      return limits.takeError();
    auto model = Model::create(buildForwardGraph(*shape), options.shape, {compile, threads, nullptr, options.link});
    if (!model)
      return model.takeError();
    fillModel(**model);
    ModelBench bench{**model, options, *limits, threads, table};
    for (int64_t count : options.tokens)
      if (Error error = bench.prefill(count))
        return error;
    if (options.decode > 0)
      if (Error error = bench.decode(options.decode))
        return error;
  }
  return table;
}
