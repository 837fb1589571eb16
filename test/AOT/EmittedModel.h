//===- EmittedModel.h - A model compiled to a library -----------*- C++ -*-===//
#ifndef CKJIT_TEST_AOT_EMITTEDMODEL_H
#define CKJIT_TEST_AOT_EMITTEDMODEL_H

#include "Engine/ModelRun.h"
#include "Weights/TestFiles.h"
#include "ckjit/AOT/EmitRuntime.h"

namespace ckjit::test {

/// What a program printed on standard error, and its exit code.
struct Ran {
  int code = 0;
  std::string errors;
};
/// Runs a program with some variables added to the environment ("NAME=value").
Ran runProgram(const std::vector<std::string> &arguments, const std::vector<std::string> &environment = {});

/// Compiles the canonical graph of `config` to `dir`/`name`.
std::string emitLibrary(const TempDir &dir, const std::string &name, const ModelConfig &config,
                        const CompileOptions &options = hostOptions());

/// A loaded library; the seed's functions by name.
class SeedLibrary {
public:
  explicit SeedLibrary(const std::string &path);
  ~SeedLibrary();
  SeedLibrary(const SeedLibrary &) = delete;

  template <typename Function> Function *find(const char *name) const {
    return reinterpret_cast<Function *>(symbol(name));
  }
  int init(const char *weights) const { return find<int(const char *)>("ck_model_init")(weights); }
  int embed(llvm::ArrayRef<int32_t> ids) const {
    return find<int(const int32_t *, int)>("ck_model_embed_tokens")(ids.data(), static_cast<int>(ids.size()));
  }
  int forward(float *logits = nullptr) const { return find<int(float *)>("ck_model_forward")(logits); }
  int enableCache(int capacity) const { return find<int(int)>("ck_model_kv_cache_enable")(capacity); }
  int decode(int32_t id, float *logits) const { return find<int(int32_t, float *)>("ck_model_decode")(id, logits); }
  void setThreads(int threads) const { find<void(int)>("ck_set_num_threads")(threads); }
  void free() const { find<void()>("ck_model_free")(); }

private:
  void *symbol(const char *name) const;
  void *handle;
};

} // namespace ckjit::test
#endif
