/*===- Model.c - The model in memory --------------------------------------===*/
#include "Model.h"
#include "Buffers.h"
#include "Cores.h"
#include "Cpu.h"
#include "Rope.h"
#include "WeightFile.h"
#include <fenv.h>
#include <stdlib.h>

/** Made by the compiler, hidden inside the library or program. */
extern const struct ckrt_description ckjit_description __attribute__((visibility("hidden")));
typedef void entry(void *team, uint64_t tid, uint64_t threads, uint64_t tokens, uint64_t first_row, uint64_t position,
                   const void *weights, void *state);
extern entry prefill __attribute__((visibility("hidden")));
extern entry decode __attribute__((visibility("hidden")));

enum { IGNORED_TARGET = -100 };

static int positive_number(const char *text) {
  char *end = NULL;
  long value = text ? strtol(text, &end, 10) : 0;
  return text && end != text && value > 0 ? (int)(value < CKRT_MAX_THREADS ? value : CKRT_MAX_THREADS) : 0;
}

/** The team for the next run: a new one after ck_set_num_threads, and in a child of fork(). */
static struct ckrt_team *team_of(struct ckrt_model *model) {
  if (model->team && !ckrt_team_is_whole(model->team)) {
    ckrt_team_stop(model->team);
    model->team = NULL;
  }
  if (model->team)
    return model->team;
  unsigned cores = ckrt_usable_cores();
  int threads = model->threads;
  if (threads <= 0)
    threads = positive_number(getenv("CK_NUM_THREADS"));
  if (threads <= 0)
    threads = positive_number(getenv("OMP_NUM_THREADS"));
  if (threads <= 0)
    threads = (int)cores;
  model->team = ckrt_team_start((unsigned)(threads < CKRT_MAX_THREADS ? threads : CKRT_MAX_THREADS), cores);
  return model->team;
}

const char *ckrt_activations_note(const struct ckrt_description *description) {
  const char *value = getenv("CK_Q8K_ACTIVATIONS");
  if (!value || !ckrt_is_quantized(description))
    return NULL;
  int asked = !(value[0] && strchr("0nNfF", value[0]));
  if (asked == description->int8)
    return NULL;
  return asked ? "CK_Q8K_ACTIVATIONS: this model was compiled with fp32 activations and stays so"
               : "CK_Q8K_ACTIVATIONS: this model was compiled with int8 activations and stays so; "
                 "`ck-jit compile --activations=fp32` makes the other";
}

/** A buffer of the whole model; null if it has none of that name. */
static void *buffer(const struct ckrt_model *model, const char *name) {
  const struct ckrt_buffer *found = ckrt_find(model->description, name, -1);
  return found ? model->arena.base + found->offset : NULL;
}

static enum ckrt_status reserve(struct ckrt_model *model, struct ckrt_error *error) {
  const struct ckrt_description *d = model->description;
  if (ckrt_arena_reserve(&model->arena, d->arena_bytes, error) != 0)
    return CKRT_NO_MEMORY;
  const struct ckrt_range *ranges = ckrt_table(d, d->ranges_at);
  for (uint32_t i = 0; i < d->ranges; ++i)
    ckrt_arena_advise_huge(&model->arena, ranges[i].offset, ranges[i].bytes);
  model->logits = buffer(model, "logits");
  model->cosines = buffer(model, "rope_cos_cache");
  model->sines = buffer(model, "rope_sin_cache");
  model->tokens = buffer(model, "tokens");
  model->targets = buffer(model, "targets");
  model->ids = calloc((size_t)d->context, sizeof *model->ids);
  model->first_row = malloc((size_t)d->vocab * sizeof *model->first_row);
  if (!model->ids || !model->first_row || !team_of(model))
    return (enum ckrt_status)ckrt_fail(error, CKRT_NO_MEMORY, "memory: none left");
  return CKRT_OK;
}

/** The order of the checks is the seed's: dtypes, training, layout, weights. */
static enum ckrt_status load(struct ckrt_model *model, struct ckrt_weight_file *file, const char *path, int training,
                             struct ckrt_error *error) {
  const struct ckrt_description *d = model->description;
  int dtype = ckrt_dtype_by_environment();
  if (path && ckrt_weights_open(file, path, d, dtype < 0 ? 0 : (unsigned)dtype, error) != 0)
    return CKRT_BAD_DTYPES;
  if (!path && dtype >= 0)
    ckrt_weights_assume(file, d, (unsigned)dtype);
  if (training && (path || dtype >= 0 ? file->quantized : ckrt_is_quantized(d)))
    return (enum ckrt_status)ckrt_fail(error, CKRT_QUANTIZED_TRAINING,
                                       "Quantized weights are inference-only; disable training");
  if (ckrt_weights_check_types(file, d, error) != 0)
    return CKRT_BAD_DTYPES;
  if (training)
    return (enum ckrt_status)ckrt_fail(error, CKRT_NO_TRAINING,
                                       "CK_ENABLE_TRAINING is set, but this model was compiled for inference");
  enum ckrt_status status = reserve(model, error);
  if (status != CKRT_OK || !path)
    return status;
  if (ckrt_weights_check(file, d, error) != 0 ||
      ckrt_weights_read(file, d, model->arena.base, model->team, error) != 0)
    return CKRT_BAD_WEIGHTS;
  return CKRT_OK;
}

enum ckrt_status ckrt_model_init(struct ckrt_model *model, const char *path, int training, struct ckrt_error *error) {
  const struct ckrt_description *d = &ckjit_description;
  model->description = d;
  if (ckrt_check_cpu(ckrt_table(d, d->cpu_at), ckrt_table(d, d->features_at), CKRT_WRONG_CPU, error) != 0)
    return CKRT_WRONG_CPU;
  struct ckrt_weight_file file = {.fd = -1, .path = "CK_WEIGHT_DTYPE", .other = -1};
  enum ckrt_status status = load(model, &file, path, training, error);
  ckrt_weights_close(&file);
  if (status != CKRT_OK)
    ckrt_model_free(model);
  model->ready = status == CKRT_OK;
  return status;
}

void ckrt_model_free(struct ckrt_model *model) {
  ckrt_team_stop(model->team);
  ckrt_arena_release(&model->arena);
  free(model->ids);
  free(model->first_row);
  /* The number of threads is the process's, not the model's. */
  *model = (struct ckrt_model){.description = model->description, .threads = model->threads};
}

static int32_t in_vocabulary(const struct ckrt_model *model, int32_t id) {
  return id < 0 || id >= model->description->vocab ? 0 : id;
}

void ckrt_model_embed(struct ckrt_model *model, const int32_t *ids, int count) {
  for (int i = 0; i < count; ++i)
    model->ids[i] = in_vocabulary(model, ids[i]);
  model->active = count;
}

struct launch {
  struct ckrt_model *model;
  struct ckrt_team *team;
  entry *program;
  uint64_t tokens, position;
};

static void run_program(void *argument, unsigned tid, unsigned threads) {
  const struct launch *launch = argument;
  unsigned char *arena = launch->model->arena.base;
  launch->program(launch->team, tid, threads, launch->tokens, 0, launch->position, arena, arena);
}

static int run_here(struct ckrt_model *model, entry *program, const int32_t *ids, int count, int position) {
  const struct ckrt_description *d = model->description;
  /* Ahead by a block, so that a decoded token seldom pays for frequencies. */
  int rows = position + count > d->context - 64 ? d->context : position + count + 64;
  if (model->cosines && model->sines && model->rope_rows < position + count) {
    ckrt_rope_fill(model->cosines, model->sines, model->rope_rows, rows, d->hidden / d->heads, d->theta);
    model->rope_rows = rows;
  }
  memcpy(model->tokens, ids, (size_t)count * sizeof *ids);
  struct launch launch = {model, team_of(model), program, (uint64_t)count, (uint64_t)position};
  if (!launch.team)
    return -1;
  ckrt_team_run(launch.team, run_program, &launch);
  return 0;
}

/** Runs `count` ids at `position`; their logits are rows 0 to count - 1. 0, or -1: no memory for the threads. However
 *  the host has its sums rounded or denormal numbers flushed, the results are the same. */
static int run(struct ckrt_model *model, entry *program, const int32_t *ids, int count, int position) {
  fenv_t before;
  fegetenv(&before);
  fesetenv(FE_DFL_ENV);
  int result = run_here(model, program, ids, count, position);
  fesetenv(&before);
  return result;
}

int ckrt_model_forward(struct ckrt_model *model) {
  int count = model->active > 0 ? model->active : model->description->context;
  for (int i = 0; model->targets && i < count; ++i)
    model->targets[i] = IGNORED_TARGET;
  if (run(model, prefill, model->ids, count, 0) != 0)
    return -1;
  if (model->capacity)
    model->cached = model->active;
  return 0;
}

int ckrt_model_decode(struct ckrt_model *model, int32_t id) {
  int row = model->cached;
  size_t bytes = (size_t)model->description->vocab * sizeof(float);
  model->ids[row] = in_vocabulary(model, id);
  /* A step's logits come out in row 0; the seed has them in the row of the token. */
  if (row)
    memcpy(model->first_row, model->logits, bytes);
  int result = run(model, decode, &model->ids[row], 1, row);
  if (row && result == 0) {
    memcpy(model->logits + (size_t)row * (size_t)model->description->vocab, model->logits, bytes);
    memcpy(model->logits, model->first_row, bytes);
  }
  if (result == 0)
    model->cached = model->active = row + 1;
  return result;
}
