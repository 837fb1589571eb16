//===- Model.h - A program, its weights and its threads ---------*- C++ -*-===//
#ifndef CKJIT_API_MODEL_H
#define CKJIT_API_MODEL_H

#include <ckjit/Engine.h>

namespace ckjit {
inline namespace api {

struct ModelOptions {
  std::string configPath; ///< empty: the file's footer, else config.json beside the file
  std::string irPath;     ///< run this graph in place of the config's; not with configPath
  int64_t context = 0;    ///< at most this many tokens; 0: as the config says
  bool raw = false;       ///< accept a weight file without a header
  ckjit_checksum checksum = CKJIT_CHECKSUM_AUTO;
  std::string weightType; ///< of a random model's weights, or a file's without a dtype table; empty: fp32
  Progress progress;      ///< stages check, compile, load
};

/// A compiled model. May be used by several threads at once, and destroyed before its sessions.
class Model {
public:
  /// Opens a weight file, checks it, compiles the model and loads its weights.
  static Expected<Model> open(const Engine &engine, const std::string &weightsPath, const ModelOptions &options = {}) {
    ckjit_model_options c = toC(options);
    ckjit_model *model = nullptr;
    int code = ckjit_model_open(engine.get(), weightsPath.c_str(), &c, &model);
    return wrap(code, model);
  }

  /// A model of random weights for the text of a config.json; of the options, context, weightType and progress count.
  static Expected<Model> random(const Engine &engine, const std::string &configJson, uint64_t seed,
                                const ModelOptions &options = {}) {
    ckjit_model_options c = toC(options);
    ckjit_model *model = nullptr;
    int code = ckjit_model_create_random(engine.get(), configJson.c_str(), seed, &c, &model);
    return wrap(code, model);
  }

  Expected<ckjit_model_info> info() const {
    ckjit_model_info info = {};
    info.struct_size = sizeof info;
    Status status = detail::finish(ckjit_model_get_info(handle.get(), &info));
    if (!status)
      return status;
    return info;
  }

  ckjit_model *get() const { return handle.get(); }

private:
  explicit Model(ckjit_model *model) : handle(model) {}

  static ckjit_model_options toC(const ModelOptions &options) {
    auto textOrNull = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
    ckjit_model_options c = ckjit_model_default_options();
    c.config_path = textOrNull(options.configPath);
    c.ir_path = textOrNull(options.irPath);
    c.context = options.context;
    c.raw = options.raw;
    c.checksum = options.checksum;
    c.weight_type = textOrNull(options.weightType);
    if (options.progress) {
      c.progress = detail::progress;
      c.progress_user = const_cast<Progress *>(&options.progress);
    }
    return c;
  }

  static Expected<Model> wrap(int code, ckjit_model *model) {
    Status status = detail::finish(code);
    if (!status)
      return status;
    return Model(model);
  }

  detail::Owner<ckjit_model, ckjit_model_destroy> handle;
};

} // namespace api
} // namespace ckjit
#endif
