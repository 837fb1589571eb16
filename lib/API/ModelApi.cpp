//===- ModelApi.cpp - ckjit_model -----------------------------------------===//
#include "Handles.h"
#include "ckjit/Weights/BlockCodec.h"
#include "ckjit/Weights/Bump.h"
#include "ckjit/Weights/Conversion.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cstring>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::capi;

namespace {

/// One model on its way: what it is made with, and the steps, each of which tells its progress.
class Opening {
public:
  Opening(std::shared_ptr<const EngineState> engine, const ckjit_model_options &options)
      : engine(std::move(engine)), options(options), progress{options.progress, options.progress_user} {}

  Expected<std::unique_ptr<ckjit_model>> open(StringRef path);
  Expected<std::unique_ptr<ckjit_model>> random(StringRef configJson, uint64_t seed);

private:
  Expected<std::unique_ptr<BumpFile>> openFile(StringRef path);
  Expected<CKIRGraph> graphFor(const BumpFile &file);
  Error compile(const CKIRGraph &graph, StringRef where, const WeightTypes &types = {});
  Error load(const BumpFile &file);
  Expected<WeightTypes> randomTypes(const ModelConfig &config) const;
  Error fillRandom(uint64_t seed);
  Expected<std::unique_ptr<ckjit_model>> finish(std::string weights);

  std::shared_ptr<const EngineState> engine;
  const ckjit_model_options &options;
  Progress progress;
  std::optional<CKIRGraph> given; ///< of ir_path
  std::unique_ptr<Model> model;
  double loadMilliseconds = 0;
};

/// Milliseconds since `start`.
double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Expected<std::unique_ptr<BumpFile>> Opening::openFile(StringRef path) {
  BumpOpenOptions open;
  open.allowRaw = options.raw != 0;
  open.overrides.contextWindow = options.context;
  if (options.weight_type)
    open.weightType = findWeightFormat(StringRef(options.weight_type))->type;
  if (options.checksum != CKJIT_CHECKSUM_AUTO)
    open.verifyChecksum = options.checksum == CKJIT_CHECKSUM_ALWAYS;
  if (options.config_path)
    open.configPath = options.config_path;
  if (options.ir_path) {
    auto graph = loadGraphJson(options.ir_path);
    if (!graph)
      return graph.takeError();
    if (auto kinds = validateGraph(*graph, options.ir_path); !kinds)
      return kinds.takeError();
    given = std::move(*graph);
    open.graphConfig = given->config;
    open.graphSource = "ir_path " + std::string(options.ir_path);
  }
  open.progress = [&](uint64_t done, uint64_t total) { return progress.tell("check", done, total); };
  return BumpFile::open(path, open);
}

Expected<CKIRGraph> Opening::graphFor(const BumpFile &file) {
  CKIRGraph graph = given ? std::move(*given) : buildForwardGraph(file.config);
  graph.config = file.config;
  return graph;
}

Error Opening::compile(const CKIRGraph &graph, StringRef where, const WeightTypes &types) {
  if (Error error = progress.tell("compile", 0, 1))
    return error;
  ModelOptions how;
  how.compile.target = engine->target;
  how.compile.pipeline.strict = engine->options.strict != 0;
  how.compile.pipeline.quantize = engine->options.activations != CKJIT_ACTIVATIONS_FP32;
  how.compile.weightTypes = types;
  how.compile.decode = true;
  how.threads = engine->options.threads;
  how.link.perf = engine->options.perf != 0;
  how.link.gdb = engine->options.gdb != 0;
  how.cache = engine->cache ? &*engine->cache : nullptr;
  auto made = Model::create(graph, where, how);
  if (!made)
    return made.takeError();
  model = std::move(*made);
  if (const std::string &note = model->compiled().cacheNote; !note.empty())
    if (Error error = engine->log(CKJIT_LOG_WARNING, note))
      return error;
  return progress.tell("compile", 1, 1);
}

Error Opening::load(const BumpFile &file) {
  auto start = std::chrono::steady_clock::now();
  uint64_t all = 0;
  for (const BumpTensor &tensor : file.tensors)
    all += tensor.bytes;
  if (Error error = progress.tell("load", 0, all))
    return error;
  auto tell = [&](uint64_t done, uint64_t total) { return progress.tell("load", done, total); };
  if (Error error = model->load(file, tell))
    return error;
  loadMilliseconds = millisecondsSince(start);
  return Error::success();
}

Expected<WeightTypes> Opening::randomTypes(const ModelConfig &config) const {
  if (!options.weight_type)
    return WeightTypes();
  auto choice = chooseFormats(config, {.matrices = findWeightFormat(StringRef(options.weight_type))->type});
  if (!choice)
    return choice.takeError();
  return std::move(choice->types);
}

/// The bytes of a random tensor in another type than fp32, as `ck-jit init --type` has them.
static Error encodeRandom(const WeightSource &source, size_t index, const TensorSpec &spec, DType type,
                          MutableArrayRef<uint8_t> bytes) {
  const int64_t cols = spec.shape.back(), rowBytes = *storedBytes({cols}, type);
  const bool padded = spec.logical.back() != cols / spec.heads;
  std::vector<float> values(cols);
  for (int64_t row = 0; row < static_cast<int64_t>(bytes.size()) / rowBytes; ++row) {
    if (Error error = source.read(index, spec, row, values))
      return error;
    if (quantize(type, values, bytes.slice(row * rowBytes, rowBytes), padded ? Zeros::Kept : Zeros::Free))
      return createStringError("random weights: " + tensorLabel(spec) + " has a value that " + dtypeName(type) +
                               " cannot hold");
  }
  return Error::success();
}

Error Opening::fillRandom(uint64_t seed) {
  auto start = std::chrono::steady_clock::now();
  const std::vector<TensorSpec> specs = weightTensors(model->config(), model->weightTypes());
  auto indexOf = [&](const TensorSpec &spec) -> size_t {
    return find_if(specs, [&](const TensorSpec &s) { return s.name == spec.name && s.layer == spec.layer; }) - specs.begin();
  };
  uint64_t all = 0, done = 0;
  for (const TensorSpec &spec : specs)
    all += model->stored(spec).first.size();
  Error error = Error::success();
  model->fillWeights([&](const TensorSpec &spec, float *dst) {
    if (error)
      return;
    error = produceRandomTensor(spec, indexOf(spec), model->config(), seed, [&](ArrayRef<float> values) -> Error {
      dst = std::copy(values.begin(), values.end(), dst);
      done += values.size() * sizeof(float);
      return progress.tell("load", done, all);
    });
  });
  const std::unique_ptr<WeightSource> source = randomSource(model->config(), seed);
  model->fillStored([&](const TensorSpec &spec, DType type, MutableArrayRef<uint8_t> bytes) {
    if (error)
      return;
    error = encodeRandom(*source, indexOf(spec), spec, type, bytes);
    done += bytes.size();
    if (!error)
      error = progress.tell("load", done, all);
  });
  loadMilliseconds = millisecondsSince(start);
  return error;
}

Expected<std::unique_ptr<ckjit_model>> Opening::finish(std::string weights) {
  const CompiledObject &compiled = model->compiled();
  if (Error error = engine->log(CKJIT_LOG_INFO,
                                formatv("{0}: {1} kernels for {2} {3} in {4:f1} ms, weights in {5:f1} ms, {6} threads",
                                        weights.empty() ? "random model" : weights, compiled.kernels.size(),
                                        compiled.target.cpu, compiled.cached ? "from the cache" : "compiled",
                                        compiled.times.total(), loadMilliseconds, model->threads())
                                    .str()))
    return error;
  auto state = std::make_shared<ModelState>();
  state->engine = std::move(engine);
  state->weights = std::move(weights);
  state->weightTypes = describeTypes(model->config(), model->weightTypes());
  state->model = std::move(model);
  state->loadMilliseconds = loadMilliseconds;
  return std::unique_ptr<ckjit_model>(new ckjit_model{.state = std::move(state)});
}

Expected<std::unique_ptr<ckjit_model>> Opening::open(StringRef path) {
  auto file = openFile(path);
  if (!file)
    return withStatus(CKJIT_FILE_ERROR, file.takeError());
  if (Error error = engine->log(CKJIT_LOG_DEBUG, path + ": " + bumpKindName((*file)->kind) + ", config from " +
                                                     (*file)->configSource))
    return error;
  auto graph = graphFor(**file);
  if (!graph)
    return graph.takeError();
  if (Error error = compile(*graph, options.ir_path ? StringRef(options.ir_path) : path, (*file)->weightTypes()))
    return error;
  if (Error error = load(**file))
    return withStatus(CKJIT_FILE_ERROR, std::move(error));
  return finish(path.str());
}

Expected<std::unique_ptr<ckjit_model>> Opening::random(StringRef configJson, uint64_t seed) {
  auto config = parseModelConfig(configJson, "config_json");
  if (!config)
    return withStatus(CKJIT_INVALID_ARGUMENT, config.takeError());
  if (options.context > config->contextWindow)
    return fail(CKJIT_INVALID_ARGUMENT, "context is " + Twine(options.context) + ", expected at most " +
                                            Twine(config->contextWindow) + ", as the config says");
  if (options.context)
    config->contextWindow = options.context;
  auto types = randomTypes(*config);
  if (!types)
    return types.takeError();
  if (Error error = compile(buildForwardGraph(*config), "config_json", *types))
    return error;
  if (Error error = fillRandom(seed))
    return error;
  return finish("");
}

Error checkModelOptions(const ckjit_model_options &options) {
  if (options.context < 0)
    return fail(CKJIT_INVALID_ARGUMENT, "context is " + Twine(options.context) + ", expected 0 or more");
  if (options.checksum < CKJIT_CHECKSUM_AUTO || options.checksum > CKJIT_CHECKSUM_NEVER)
    return fail(CKJIT_INVALID_ARGUMENT, "checksum is " + Twine(options.checksum) + ", expected a ckjit_checksum, 0 to 2");
  if (Error error = notEmpty(options.config_path, "config_path"))
    return error;
  if (Error error = notEmpty(options.ir_path, "ir_path"))
    return error;
  if (options.weight_type && !findWeightFormat(StringRef(options.weight_type)))
    return fail(CKJIT_INVALID_ARGUMENT, "weight_type is '" + Twine(options.weight_type) +
                                            "', expected a format of weights such as q8_0");
  if (options.config_path && options.ir_path)
    return fail(CKJIT_INVALID_ARGUMENT, "config_path and ir_path are both given, expected one: an IR file holds its config");
  return Error::success();
}

using Step = function_ref<Expected<std::unique_ptr<ckjit_model>>(Opening &, const ckjit_model_options &)>;

/// What opening a file and making a random model have in common.
Expected<std::unique_ptr<ckjit_model>> openModel(ckjit_engine *engine, const ckjit_model_options *given, Step step) {
  if (Error error = check(engine, "engine"))
    return error;
  if (Error error = engine->state->checkProcess("the engine"))
    return error;
  auto options = readOptions(given, ckjit_model_options{}, "ckjit_model");
  if (!options)
    return options.takeError();
  if (Error error = checkModelOptions(*options))
    return error;
  Opening opening(engine->state, *options);
  return step(opening, *options);
}

Error fillInfo(const ModelState &state, ckjit_model_info &info) {
  const Model &model = *state.model;
  const ModelConfig &config = model.config();
  info.layers = config.numLayers;
  info.hidden_size = config.hiddenSize;
  info.intermediate_size = config.intermediateSize;
  info.heads = config.numHeads;
  info.kv_heads = config.numKVHeads;
  info.vocabulary = config.vocabSize;
  info.context = config.contextWindow;
  info.rms_norm_eps = config.rmsNormEps;
  info.rope_theta = config.ropeTheta;
  info.threads = model.threads();
  info.kernels = static_cast<uint32_t>(model.compiled().kernels.size());
  info.from_cache = model.compiled().cached;
  info.compile_ms = model.compiled().times.total();
  info.load_ms = state.loadMilliseconds;
  for (const Buffer &buffer : model.plan().buffers)
    if (buffer.role == BufferRole::Weight && buffer.name != "lm_head_weight") // an alias of the embedding
      info.weight_bytes += buffer.bytes;
  info.reserved_bytes = info.session_bytes = model.reservedBytes();
  auto resident = model.residentBytes();
  if (!resident)
    return resident.takeError();
  info.resident_bytes = *resident;
  info.weight_types = state.weightTypes.c_str();
  info.int8_activations =
      usesInt8Activations({.target = {}, .pipeline = model.options(), .weightTypes = model.weightTypes()});
  return Error::success();
}
} // namespace

extern "C" {

int ckjit_model_options_init(ckjit_model_options *options, size_t struct_size) {
  return initOptions(options, struct_size, ckjit_model_options{}, "ckjit_model_options");
}

int ckjit_model_open(ckjit_engine *engine, const char *weights_path, const ckjit_model_options *options,
                     ckjit_model **model) {
  return create<ckjit_model>(model, "model", [&]() -> Expected<std::unique_ptr<ckjit_model>> {
    if (Error error = notNull(weights_path, "weights_path"))
      return error;
    if (Error error = notEmpty(weights_path, "weights_path"))
      return error;
    return openModel(engine, options,
                     [&](Opening &opening, const ckjit_model_options &) { return opening.open(weights_path); });
  });
}

int ckjit_model_create_random(ckjit_engine *engine, const char *config_json, uint64_t seed,
                              const ckjit_model_options *options, ckjit_model **model) {
  return create<ckjit_model>(model, "model", [&]() -> Expected<std::unique_ptr<ckjit_model>> {
    if (Error error = notNull(config_json, "config_json"))
      return error;
    return openModel(engine, options,
                     [&](Opening &opening, const ckjit_model_options &read) -> Expected<std::unique_ptr<ckjit_model>> {
                       if (read.config_path || read.ir_path || read.raw || read.checksum)
                         return fail(CKJIT_INVALID_ARGUMENT, "config_path, ir_path, raw or checksum is set, expected "
                                                             "none of them: a random model has no file");
                       return opening.random(config_json, seed);
                     });
  });
}

void ckjit_model_destroy(ckjit_model *model) { destroy(model, "model"); }

int ckjit_model_get_info(const ckjit_model *model, ckjit_model_info *info) {
  return guard([&]() -> Error {
    if (Error error = check(model, "model"))
      return error;
    if (Error error = notNull(info, "info"))
      return error;
    if (info->struct_size < kFirstBytes<ckjit_model_info>)
      return fail(CKJIT_INVALID_ARGUMENT, "ckjit_model_info: struct_size is " + Twine(info->struct_size) +
                                              ", expected sizeof(ckjit_model_info), " + Twine(sizeof(ckjit_model_info)));
    ckjit_model_info found = {};
    if (Error error = fillInfo(*model->state, found))
      return error;
    // A newer caller's fields stay as they are; an older one's struct ends before ours.
    found.struct_size = info->struct_size;
    std::memcpy(static_cast<void *>(info), &found, std::min(info->struct_size, sizeof found));
    return Error::success();
  });
}

} // extern "C"
