/*===- Api.c - The functions of the seed's libmodel.so --------------------===*\
|* Names, arguments, return codes and the order of the checks are the seed's: one model a library, one thread at a time.
\*===----------------------------------------------------------------------===*/
#include "Model.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CK_API __attribute__((visibility("default")))

typedef struct {
  int num_layers, hidden_size, intermediate_size, num_heads, num_kv_heads, vocab_size, context_window;
  float rms_norm_eps, rope_theta;
} CKModelInfo;

static struct ckrt_model model;
static float learning_rate;
static atomic_int running; /**< a forward or a decode */

extern const struct ckrt_description ckjit_description __attribute__((visibility("hidden")));

/** Told once: that a function does nothing, where the seed's would, and returns no code to say so. */
static void tell_once(atomic_flag *told, const char *message) {
  if (!atomic_flag_test_and_set(told))
    fprintf(stderr, "%s\n", message);
}

CK_API int ck_model_init(const char *weights_path);
CK_API void ck_model_get_info(CKModelInfo *info);
CK_API int ck_model_embed_tokens(const int32_t *tokens, int count);
CK_API int ck_model_forward(float *logits_out);
CK_API int ck_model_kv_cache_enable(int capacity);
CK_API void ck_model_kv_cache_reset(void);
CK_API int ck_model_kv_cache_get_tokens(void);
CK_API int ck_model_decode(int32_t token, float *logits_out);
CK_API float *ck_model_get_logits(void);
CK_API int ck_model_backward(const int32_t *tokens, const int32_t *targets, float *loss_out);
CK_API void ck_model_optimizer_step(void);
CK_API int ck_model_enable_training(float lr);
CK_API void ck_model_disable_training(void);
CK_API void ck_model_set_learning_rate(float lr);
CK_API float ck_model_get_learning_rate(void);
CK_API int ck_model_is_training_enabled(void);
CK_API int ck_model_get_context_window(void);
CK_API int ck_model_get_vocab_size(void);
CK_API int ck_model_get_hidden_size(void);
CK_API int ck_model_get_active_tokens(void);
CK_API void ck_model_free(void);
CK_API void ck_set_strict_parity(int enabled);
CK_API int ck_strict_parity_enabled(void);
CK_API void ck_set_num_threads(int threads);

int ck_model_init(const char *weights_path) {
  if (model.ready)
    return CKRT_OK;
  const char *training = getenv("CK_ENABLE_TRAINING"), *note = ckrt_activations_note(&ckjit_description);
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (note)
    tell_once(&told, note);
  struct ckrt_error error;
  enum ckrt_status status =
      ckrt_model_init(&model, weights_path, training && strchr("1yY", training[0]) && training[0], &error);
  if (status != CKRT_OK)
    fprintf(stderr, "ck_model_init: %s\n", error.text);
  return status;
}

void ck_model_get_info(CKModelInfo *info) {
  const struct ckrt_description *d = &ckjit_description;
  if (info)
    *info = (CKModelInfo){d->layers, d->hidden,  d->intermediate, d->heads, d->kv_heads,
                          d->vocab,  d->context, d->eps,          d->theta};
}

int ck_model_embed_tokens(const int32_t *tokens, int count) {
  if (!model.ready || !tokens || count <= 0)
    return -1;
  int limit = model.capacity ? model.capacity : model.description->context;
  model.cached = 0;
  ckrt_model_embed(&model, tokens, count < limit ? count : limit);
  return 0;
}

int ck_model_forward(float *logits_out) {
  if (!model.ready)
    return -1;
  atomic_fetch_add(&running, 1);
  int result = ckrt_model_forward(&model);
  atomic_fetch_sub(&running, 1);
  if (result == 0 && logits_out && model.active > 0)
    memcpy(logits_out, ck_model_get_logits(),
           (size_t)model.active * (size_t)model.description->vocab * sizeof *logits_out);
  return result;
}

int ck_model_kv_cache_enable(int capacity) {
  if (!model.ready)
    return -1;
  int context = model.description->context;
  model.capacity = capacity <= 0 || capacity > context ? context : capacity;
  model.cached = 0;
  return 0;
}

void ck_model_kv_cache_reset(void) { model.cached = 0; }

int ck_model_kv_cache_get_tokens(void) { return model.cached; }

int ck_model_decode(int32_t token, float *logits_out) {
  if (!model.ready)
    return -1;
  if (!model.capacity)
    return -2;
  if (model.cached >= model.capacity)
    return -3;
  size_t row = (size_t)model.cached, vocab = (size_t)model.description->vocab;
  atomic_fetch_add(&running, 1);
  int result = ckrt_model_decode(&model, token);
  atomic_fetch_sub(&running, 1);
  if (result == 0 && logits_out)
    memcpy(logits_out, ck_model_get_logits() + row * vocab, vocab * sizeof *logits_out);
  return result;
}

float *ck_model_get_logits(void) { return model.ready ? model.logits : NULL; }

/* Training: the model was compiled for inference. Nothing pretends to have trained. */

int ck_model_backward(const int32_t *tokens, const int32_t *targets, float *loss_out) {
  (void)tokens, (void)targets, (void)loss_out;
  return -1;
}

void ck_model_optimizer_step(void) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  tell_once(&told, "ck_model_optimizer_step: this model was compiled for inference; no weight changes");
}

int ck_model_enable_training(float lr) {
  (void)lr;
  return -1;
}

void ck_model_disable_training(void) {}

void ck_model_set_learning_rate(float lr) { learning_rate = lr; }

float ck_model_get_learning_rate(void) { return learning_rate; }

int ck_model_is_training_enabled(void) { return 0; }

int ck_model_get_context_window(void) { return model.ready ? model.description->context : 0; }

int ck_model_get_vocab_size(void) { return model.ready ? model.description->vocab : 0; }

int ck_model_get_hidden_size(void) { return model.ready ? model.description->hidden : 0; }

int ck_model_get_active_tokens(void) { return model.active; }

void ck_model_free(void) {
  ckrt_model_free(&model);
  learning_rate = 0;
}

/** Before dlclose takes the code away, its threads must be gone. At exit another thread may still be inside. */
__attribute__((destructor)) static void unload(void) {
  if (!atomic_load(&running))
    ck_model_free();
}

int ck_strict_parity_enabled(void) { return ckjit_description.strict; }

void ck_set_strict_parity(int enabled) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (!enabled == !ckjit_description.strict)
    return;
  tell_once(&told, ckjit_description.strict
                       ? "ck_set_strict_parity: this model was compiled with --strict and stays so"
                       : "ck_set_strict_parity: this model was compiled without --strict and stays so");
}

void ck_set_num_threads(int threads) {
  model.threads = threads;
  ckrt_team_stop(model.team);
  model.team = NULL;
}
