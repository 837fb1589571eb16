/*===- SeedProgram.c - A program written for the seed's libmodel.so -------===*\
|* SeedProgram LIBRARY WEIGHTS TOKENS PREFILL OUT
|* Knows the seed's functions by name and nothing else. Checks their return codes in every order, then runs the tokens
|* as one forward and as PREFILL tokens and steps, and writes both: [T][V] floats and [T - PREFILL][V] floats.
\*===----------------------------------------------------------------------===*/
#include <dlfcn.h>
#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int num_layers, hidden_size, intermediate_size, num_heads, num_kv_heads, vocab_size, context_window;
  float rms_norm_eps, rope_theta;
} CKModelInfo;

/* A program may have functions of these names itself, and see to it that libraries find them: another model's library
 * that was opened with RTLD_GLOBAL, say. A model calls its own. */
__attribute__((visibility("default"))) float *ck_model_get_logits(void);
__attribute__((visibility("default"))) void ck_model_free(void);
float *ck_model_get_logits(void) { abort(); }
void ck_model_free(void) { abort(); }

static int (*init)(const char *);
static void (*get_info)(CKModelInfo *);
static int (*embed_tokens)(const int32_t *, int);
static int (*forward)(float *);
static int (*kv_cache_enable)(int);
static void (*kv_cache_reset)(void);
static int (*kv_cache_get_tokens)(void);
static int (*decode)(int32_t, float *);
static float *(*get_logits)(void);
static int (*backward)(const int32_t *, const int32_t *, float *);
static void (*optimizer_step)(void);
static int (*enable_training)(float);
static void (*disable_training)(void);
static void (*set_learning_rate)(float);
static float (*get_learning_rate)(void);
static int (*is_training_enabled)(void);
static int (*get_context_window)(void);
static int (*get_vocab_size)(void);
static int (*get_hidden_size)(void);
static int (*get_active_tokens)(void);
static void (*free_model)(void);
static void (*set_strict_parity)(int);
static int (*strict_parity_enabled)(void);
static void (*set_num_threads)(int);

#define CHECK(condition)                                                                                             \
  do {                                                                                                               \
    if (!(condition)) {                                                                                              \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                        \
      exit(1);                                                                                                       \
    }                                                                                                                \
  } while (0)

static void bind(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "no function %s\n", name);
    exit(1);
  }
  memcpy(function, &symbol, sizeof symbol);
}

static void bind_all(void *library) {
  bind(library, "ck_model_init", &init);
  bind(library, "ck_model_get_info", &get_info);
  bind(library, "ck_model_embed_tokens", &embed_tokens);
  bind(library, "ck_model_forward", &forward);
  bind(library, "ck_model_kv_cache_enable", &kv_cache_enable);
  bind(library, "ck_model_kv_cache_reset", &kv_cache_reset);
  bind(library, "ck_model_kv_cache_get_tokens", &kv_cache_get_tokens);
  bind(library, "ck_model_decode", &decode);
  bind(library, "ck_model_get_logits", &get_logits);
  bind(library, "ck_model_backward", &backward);
  bind(library, "ck_model_optimizer_step", &optimizer_step);
  bind(library, "ck_model_enable_training", &enable_training);
  bind(library, "ck_model_disable_training", &disable_training);
  bind(library, "ck_model_set_learning_rate", &set_learning_rate);
  bind(library, "ck_model_get_learning_rate", &get_learning_rate);
  bind(library, "ck_model_is_training_enabled", &is_training_enabled);
  bind(library, "ck_model_get_context_window", &get_context_window);
  bind(library, "ck_model_get_vocab_size", &get_vocab_size);
  bind(library, "ck_model_get_hidden_size", &get_hidden_size);
  bind(library, "ck_model_get_active_tokens", &get_active_tokens);
  bind(library, "ck_model_free", &free_model);
  bind(library, "ck_set_strict_parity", &set_strict_parity);
  bind(library, "ck_strict_parity_enabled", &strict_parity_enabled);
  bind(library, "ck_set_num_threads", &set_num_threads);
}

/** Every function before ck_model_init, and again after ck_model_free. */
static void check_without_model(void) {
  int32_t id = 0;
  float number = 42;
  CHECK(embed_tokens(&id, 1) == -1);
  CHECK(forward(NULL) == -1);
  CHECK(kv_cache_enable(0) == -1);
  CHECK(kv_cache_get_tokens() == 0);
  CHECK(decode(0, &number) == -1);
  CHECK(get_logits() == NULL);
  CHECK(backward(&id, &id, &number) == -1);
  CHECK(enable_training(1e-3f) == -1);
  CHECK(number == 42);
  CHECK(get_context_window() == 0 && get_vocab_size() == 0 && get_hidden_size() == 0 && get_active_tokens() == 0);
  CHECK(is_training_enabled() == 0);
  kv_cache_reset();
  disable_training();
  free_model();
}

static void check_training(const int32_t *tokens) {
  float loss = 42;
  CHECK(enable_training(1e-3f) == -1);
  CHECK(is_training_enabled() == 0);
  /* Without training nothing may pretend to have run. */
  CHECK(backward(tokens, tokens, &loss) == -1 && loss == 42);
  CHECK(backward(NULL, NULL, NULL) == -1);
  optimizer_step();
  set_learning_rate(0.5f);
  CHECK(get_learning_rate() == 0.5f);
}

static int same(const float *a, const float *b, size_t count) { return memcmp(a, b, count * sizeof *a) == 0; }

/** Prefill and steps, in `capacity` places; `rows` takes the logits of the steps. */
static void run_steps(const int32_t *tokens, int count, int prefill, int capacity, float *rows) {
  size_t vocab = (size_t)get_vocab_size();
  CHECK(kv_cache_enable(capacity) == 0);
  CHECK(kv_cache_get_tokens() == 0);
  CHECK(embed_tokens(tokens, prefill) == 0);
  CHECK(kv_cache_get_tokens() == 0);
  CHECK(forward(NULL) == 0);
  CHECK(kv_cache_get_tokens() == prefill);
  float *before = malloc((size_t)prefill * vocab * sizeof *before);
  CHECK(before);
  memcpy(before, get_logits(), (size_t)prefill * vocab * sizeof *before);
  for (int t = prefill; t < count; ++t) {
    float *row = rows + (size_t)(t - prefill) * vocab;
    CHECK(decode(tokens[t], row) == 0);
    CHECK(kv_cache_get_tokens() == t + 1 && get_active_tokens() == t + 1);
    /* Row t of the logits, and the rows before it as they were. */
    CHECK(same(get_logits() + (size_t)t * vocab, row, vocab));
  }
  CHECK(same(get_logits(), before, (size_t)prefill * vocab));
  free(before);
}

static void check_limits(const int32_t *tokens, int count) {
  int context = get_context_window();
  size_t vocab = (size_t)get_vocab_size();
  float *row = malloc(vocab * sizeof *row), *again = malloc(vocab * sizeof *again);
  CHECK(row && again);
  CHECK(embed_tokens(NULL, 1) == -1 && embed_tokens(tokens, 0) == -1 && embed_tokens(tokens, -3) == -1);
  /* A cache of two: what is embedded is cut to it, and it is full after them. */
  if (count >= 3 && context >= 3) {
    CHECK(kv_cache_enable(2) == 0);
    CHECK(embed_tokens(tokens, 3) == 0 && get_active_tokens() == 2);
    CHECK(forward(NULL) == 0 && kv_cache_get_tokens() == 2);
    CHECK(decode(tokens[2], row) == -3);
    CHECK(kv_cache_get_tokens() == 2 && get_active_tokens() == 2);
    /* Emptied, it takes tokens from position 0 again: the same bits each time. */
    kv_cache_reset();
    CHECK(kv_cache_get_tokens() == 0);
    CHECK(decode(tokens[0], row) == 0 && kv_cache_get_tokens() == 1);
    kv_cache_reset();
    CHECK(decode(tokens[0], again) == 0 && same(row, again, vocab));
    CHECK(decode(tokens[1], NULL) == 0);
    CHECK(decode(tokens[1], NULL) == -3);
  }
  /* Ids out of the vocabulary count as 0. */
  CHECK(kv_cache_enable(context + 1) == 0);
  CHECK(decode(0, row) == 0);
  kv_cache_reset();
  CHECK(decode(-5, again) == 0 && same(row, again, vocab));
  kv_cache_reset();
  CHECK(decode((int32_t)vocab, again) == 0 && same(row, again, vocab));
  free(row);
  free(again);
}

static int32_t *read_tokens(const char *path, int *count) {
  FILE *file = fopen(path, "rb");
  CHECK(file);
  int32_t *tokens = malloc(65536 * sizeof *tokens);
  CHECK(tokens);
  *count = (int)fread(tokens, sizeof *tokens, 65536, file);
  fclose(file);
  CHECK(*count > 0);
  return tokens;
}

int main(int argc, char **argv) {
  CHECK(argc == 6);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  bind_all(library);
  int count = 0, prefill = atoi(argv[4]);
  int32_t *tokens = read_tokens(argv[3], &count);
  CKModelInfo info;
  check_without_model();
  CHECK(init(argv[2]) == 0);
  CHECK(init("/nowhere") == 0); /* already initialised */
  get_info(&info);
  CHECK(info.vocab_size == get_vocab_size() && info.context_window == get_context_window());
  CHECK(info.hidden_size == get_hidden_size() && info.num_layers > 0 && info.num_kv_heads <= info.num_heads);
  CHECK(decode(0, NULL) == -2);
  /* How sums are made is compiled in. */
  int strict = strict_parity_enabled();
  set_strict_parity(!strict);
  CHECK(strict_parity_enabled() == strict);
  set_strict_parity(strict);
  /* Nothing embedded: all of the context runs, nothing is copied. */
  float untouched = 42;
  CHECK(forward(&untouched) == 0 && untouched == 42 && get_active_tokens() == 0);
  size_t vocab = (size_t)info.vocab_size, all = (size_t)count * vocab, steps = (size_t)(count - prefill) * vocab;
  float *logits = malloc(all * sizeof *logits), *again = malloc(all * sizeof *again);
  float *rows = malloc(steps * sizeof *rows);
  CHECK(logits && again && rows);
  CHECK(embed_tokens(tokens, count) == 0 && get_active_tokens() == count);
  CHECK(forward(logits) == 0);
  CHECK(same(logits, get_logits(), all));
  set_num_threads(2);
  CHECK(forward(again) == 0 && same(logits, again, all));
  /* How the host rounds is its own affair, also when the threads are started. */
  CHECK(fesetround(FE_UPWARD) == 0);
  set_num_threads(2);
  CHECK(forward(again) == 0 && same(logits, again, all) && fegetround() == FE_UPWARD);
  CHECK(fesetround(FE_TONEAREST) == 0);
  set_num_threads(0);
  check_training(tokens);
  run_steps(tokens, count, prefill, info.context_window, rows);
  /* A forward after steps runs all that is there. */
  CHECK(forward(again) == 0 && same(logits, again, all));
  check_limits(tokens, count);
  free_model();
  check_without_model();
  CHECK(init(argv[2]) == 0);
  CHECK(embed_tokens(tokens, count) == 0 && forward(again) == 0 && same(logits, again, all));
  FILE *out = fopen(argv[5], "wb");
  CHECK(out && fwrite(logits, sizeof *logits, all, out) == all && fwrite(rows, sizeof *rows, steps, out) == steps);
  CHECK(fclose(out) == 0);
  free(rows);
  free(again);
  free(logits);
  free(tokens);
  /* Without ck_model_free: unloading takes the threads along. */
  CHECK(dlclose(library) == 0);
  return 0;
}
