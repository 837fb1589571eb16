/*===- ckjit.h - The C interface of libckjit -----------------------*- C -*-===*
 *
 * A model is opened by an engine, compiled for this machine, and run in sessions:
 *
 *     ckjit_engine *engine;
 *     ckjit_model *model;
 *     ckjit_session *session;
 *     ckjit_engine_create(NULL, &engine);
 *     ckjit_model_open(engine, "model.bump", NULL, &model);
 *     ckjit_session_create(model, 0, &session);
 *     ckjit_session_append(session, ids, count, NULL);
 *     ckjit_session_last_logits(session, &logits);
 *
 * Results. A function that can fail returns a ckjit_status: CKJIT_OK, or a negative number, with the whole story in
 * ckjit_last_error(). A function that fails changes nothing, and sets what it should have made to NULL. The library
 * never prints, exits or throws; a NULL or a number out of range is an error like any other.
 *
 * Options. Each struct of options begins with its size, which the function ckjit_..._default_options() fills in, so that
 * programs compiled with an older ckjit.h go on to work. NULL for options means the defaults.
 *
 * Lifetime. Whatever ..._create, ..._open or ..._copy made is given back with the ..._destroy of its kind, once; NULL is
 * passed over. The order doesn't matter: a session keeps its model alive, and a model its engine.
 *
 * Threads. Any number of engines, models and sessions may be used from any number of threads at once. One session or
 * sampler is for one thread at a time, and nothing may be in use while it is destroyed. Sessions of one model take
 * turns at its threads, and kernels take up to 1 MiB of the calling thread's stack. Callbacks are called on the thread
 * that called the function they were given to, and must not call functions for the same session or sampler. They may
 * end their thread (pthread_exit); pthread_cancel takes effect when the function returns. No signal handler is set or
 * changed.
 *
 * Floating point. Functions and callbacks run with the default environment (round to nearest, no flushing, no traps) and
 * restore the caller's: results don't depend on it.
 *
 * fork(). A child process makes an engine of its own; models and sessions made before the fork can only be destroyed
 * there. While another thread is inside a function of this library, don't fork and go on without exec.
 *
 *===----------------------------------------------------------------------===*/
#ifndef CKJIT_CKJIT_H
#define CKJIT_CKJIT_H

#include <stddef.h>
#include <stdint.h>

#define CKJIT_VERSION_MAJOR 0
#define CKJIT_VERSION_MINOR 1
#define CKJIT_VERSION_PATCH 0

#ifndef CKJIT_API
#define CKJIT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Results ------------------------------------------------------------===*/

typedef enum ckjit_status {
  CKJIT_OK = 0,
  CKJIT_FAILED = -1,           /* any other reason: the message tells */
  CKJIT_INVALID_ARGUMENT = -2, /* a NULL, a handle of another kind, a number out of range */
  CKJIT_CACHE_FULL = -3,       /* the tokens don't fit into what is left of the session's capacity */
  CKJIT_CANCELLED = -4,        /* a callback returned non-zero */
  CKJIT_OUT_OF_MEMORY = -5,
  CKJIT_FILE_ERROR = -6,       /* a file can't be read, or isn't what it should be */
  CKJIT_UNSUPPORTED = -7,      /* sound, but nothing that this library or this machine can run */
  CKJIT_BUFFER_TOO_SMALL = -8, /* the count or length that was asked for tells what is needed */
  CKJIT_FORKED = -9            /* made before fork() in another process */
} ckjit_status;

/* "CKJIT_OK", "CKJIT_FAILED", ...; "unknown status" for other numbers. Never NULL. */
CKJIT_API const char *ckjit_status_name(int status);

/* What went wrong in the last function that failed on this thread; "" before the first. Valid until the next failure
 * on this thread. Never NULL. */
CKJIT_API const char *ckjit_last_error(void);

/* The library's version as major * 10000 + minor * 100 + patch, and as text; the version of LLVM it generates code with. */
CKJIT_API int ckjit_version(void);
CKJIT_API const char *ckjit_version_string(void);
CKJIT_API const char *ckjit_llvm_version_string(void);

/*===-- Callbacks ----------------------------------------------------------===*/

typedef enum ckjit_log_level { CKJIT_LOG_WARNING = 0, CKJIT_LOG_INFO = 1, CKJIT_LOG_DEBUG = 2 } ckjit_log_level;

/* Hears a line of text without a line end. Non-zero cancels what is being done: it returns CKJIT_CANCELLED. */
typedef int (*ckjit_log_fn)(ckjit_log_level level, const char *message, void *user);

/* Hears that `done` of `total` units of a stage are done: "check" (bytes of the file hashed), "compile" (steps), "load"
 * (bytes read or made), "append" (tokens). Non-zero cancels: the function returns CKJIT_CANCELLED, and everything is as
 * it was before. The last pieces of a stage may end without a word. */
typedef int (*ckjit_progress_fn)(const char *stage, uint64_t done, uint64_t total, void *user);

/*===-- Engine: how models are compiled and run ----------------------------===*/

typedef struct ckjit_engine ckjit_engine;

/* What quantized weights multiply. */
typedef enum ckjit_activations {
  CKJIT_ACTIVATIONS_AUTO = 0, /* int8; fp32 where strict is set */
  CKJIT_ACTIVATIONS_INT8 = 1, /* blocks of 8-bit codes, made once for each input: fast, and 1 to 3.5 % off */
  CKJIT_ACTIVATIONS_FP32 = 2  /* activations as they are */
} ckjit_activations;

typedef struct ckjit_engine_options {
  size_t struct_size;
  uint32_t threads;       /* of each model; 0: as many as the process may use cores; at most 1024 */
  int32_t strict;         /* non-zero: sum in double and round once, exact exp */
  const char *target_cpu; /* "native", or the name of an x86-64 CPU whose instructions this machine has */
  int32_t cache;          /* zero: compile each model anew; by default compiled code is kept on disk, 1 */
  const char *cache_dir;  /* where it is kept; NULL: $XDG_CACHE_HOME/ck-jit, else ~/.cache/ck-jit */
  int32_t perf;           /* non-zero: tell perf of kernels, by a jitdump file below $JITDUMPDIR, else the home */
  int32_t gdb;            /* non-zero: tell debuggers of kernels */
  ckjit_log_fn log;       /* NULL: silence */
  void *log_user;
  int32_t activations;    /* a ckjit_activations; int8 and strict exclude each other */
} ckjit_engine_options;

/* Fills a struct of `struct_size` bytes with the defaults; ckjit_engine_default_options() is its shorter form. */
CKJIT_API int ckjit_engine_options_init(ckjit_engine_options *options, size_t struct_size);
static inline ckjit_engine_options ckjit_engine_default_options(void) {
  ckjit_engine_options options;
  (void)ckjit_engine_options_init(&options, sizeof options);
  return options;
}

CKJIT_API int ckjit_engine_create(const ckjit_engine_options *options, ckjit_engine **engine);
CKJIT_API void ckjit_engine_destroy(ckjit_engine *engine);

/*===-- Model: a program, its weights and its threads ----------------------===*/

typedef struct ckjit_model ckjit_model;

typedef enum ckjit_checksum {
  CKJIT_CHECKSUM_AUTO = 0, /* of files up to 256 MiB */
  CKJIT_CHECKSUM_ALWAYS = 1,
  CKJIT_CHECKSUM_NEVER = 2
} ckjit_checksum;

typedef struct ckjit_model_options {
  size_t struct_size;
  const char *config_path; /* the model's config.json; NULL: the file's footer, else config.json beside the file */
  const char *ir_path;     /* run this graph (of `ck-jit ir --json`) in place of the config's; not with config_path */
  int64_t context;         /* at most this many tokens; 0: as the config says */
  int32_t raw;             /* non-zero: accept a weight file without a header */
  int32_t checksum;        /* a ckjit_checksum: whether the file's SHA-256 is checked */
  ckjit_progress_fn progress; /* stages check, compile, load; may be NULL */
  void *progress_user;
  const char *weight_type; /* of all weights where the file has no dtype table (no header, BUMPWGT2), or of a random
                            * model: "q4_k", "q8_0", ...; NULL: fp32. Not for files that have one */
} ckjit_model_options;

CKJIT_API int ckjit_model_options_init(ckjit_model_options *options, size_t struct_size);
static inline ckjit_model_options ckjit_model_default_options(void) {
  ckjit_model_options options;
  (void)ckjit_model_options_init(&options, sizeof options);
  return options;
}

/* Opens a weight file, checks it, compiles the model and loads its weights. */
CKJIT_API int ckjit_model_open(ckjit_engine *engine, const char *weights_path, const ckjit_model_options *options,
                               ckjit_model **model);

/* A model of random weights for the config.json that the text `config_json` is: everything runs on it, and it says
 * nothing sensible. The same seed gives the same weights everywhere, those of `ck-jit init --seed`. Of the options,
 * context, progress and weight_type count; others must be as they are by default. Weights whose rows aren't whole blocks of
 * that type get a finer one, as in `ck-jit init --type`. */
CKJIT_API int ckjit_model_create_random(ckjit_engine *engine, const char *config_json, uint64_t seed,
                                        const ckjit_model_options *options, ckjit_model **model);

/* Sessions of the model may live on. */
CKJIT_API void ckjit_model_destroy(ckjit_model *model);

typedef struct ckjit_model_info {
  size_t struct_size; /* to be set to sizeof(ckjit_model_info) by the caller */
  int64_t layers, hidden_size, intermediate_size, heads, kv_heads;
  int64_t vocabulary; /* V: ids are 0 to V - 1 */
  int64_t context;    /* most tokens of a session */
  float rms_norm_eps, rope_theta;
  uint32_t threads;
  uint32_t kernels;    /* distinct ones */
  int32_t from_cache;  /* non-zero: they weren't compiled now, but kept from before */
  double compile_ms, load_ms;
  uint64_t weight_bytes;   /* of the weights in memory */
  uint64_t reserved_bytes; /* address space of the model; what isn't touched costs no memory */
  uint64_t resident_bytes; /* of it in memory now */
  uint64_t session_bytes;  /* address space of each session */
  const char *weight_types; /* "fp32", "q4_k", "q4_k, embedding q6_k", "mixed: 12 q4_k, 2 q6_k, embedding q6_k"; the
                             * model's, valid as long as it */
  int32_t int8_activations; /* non-zero: quantized weights multiply int8 activations, zero: fp32 ones */
} ckjit_model_info;

CKJIT_API int ckjit_model_get_info(const ckjit_model *model, ckjit_model_info *info);

/*===-- Session: one conversation -------------------------------------------===*/

typedef struct ckjit_session ckjit_session;

/* An empty session for up to `capacity` tokens; 0: the context. */
CKJIT_API int ckjit_session_create(ckjit_model *model, int64_t capacity, ckjit_session **session);
CKJIT_API void ckjit_session_destroy(ckjit_session *session);
/* A session of its own with the same tokens, logits and losses: for many continuations of one prompt. */
CKJIT_API int ckjit_session_copy(const ckjit_session *session, ckjit_session **copy);

/* A target at which the loss passes over a position. */
#define CKJIT_IGNORED_TARGET (-100)

typedef struct ckjit_append_options {
  size_t struct_size;
  int64_t first_row;      /* logits are computed from this of the appended tokens on; -1: for the last one only */
  const int32_t *targets; /* NULL, or the id expected behind each token, for ckjit_session_losses() */
  ckjit_progress_fn progress; /* stage append; may be NULL */
  void *progress_user;
} ckjit_append_options;

CKJIT_API int ckjit_append_options_init(ckjit_append_options *options, size_t struct_size);
static inline ckjit_append_options ckjit_append_default_options(void) {
  ckjit_append_options options;
  (void)ckjit_append_options_init(&options, sizeof options);
  return options;
}

/* Runs `count` ids behind those the session holds. CKJIT_CACHE_FULL if they don't fit: nothing is overwritten. */
CKJIT_API int ckjit_session_append(ckjit_session *session, const int32_t *ids, int64_t count,
                                   const ckjit_append_options *options);

/* Logits [V] of row `row` of the last append, counted from its first token; or those of its last row. They stand until
 * the session changes. */
CKJIT_API int ckjit_session_logits(const ckjit_session *session, int64_t row, const float **logits);
CKJIT_API int ckjit_session_last_logits(const ckjit_session *session, const float **logits);
/* Cross entropies of the last append's rows from its first row on, `*count` of them, 0 where the target was ignored;
 * none (0) if it had no targets. */
CKJIT_API int ckjit_session_losses(const ckjit_session *session, const float **losses, int64_t *count);

/* Tokens the session holds, and may hold; a negative ckjit_status on an error. */
CKJIT_API int64_t ckjit_session_cached(const ckjit_session *session);
CKJIT_API int64_t ckjit_session_capacity(const ckjit_session *session);
/* Forgets all but the first `count` tokens; or all. */
CKJIT_API int ckjit_session_truncate(ckjit_session *session, int64_t count);
CKJIT_API int ckjit_session_reset(ckjit_session *session);

/*===-- Sampler: the next id from logits ------------------------------------===*/

typedef struct ckjit_sampler ckjit_sampler;

typedef struct ckjit_sampler_options {
  size_t struct_size;
  double temperature;    /* 0: the likeliest id */
  double repeat_penalty; /* 1: off */
  int64_t repeat_last;   /* ids that count as recent */
  int64_t top_k;         /* 0: off */
  double top_p;          /* 1: off */
  double min_p;          /* 0: off */
  uint64_t seed;
} ckjit_sampler_options;

CKJIT_API int ckjit_sampler_options_init(ckjit_sampler_options *options, size_t struct_size);
static inline ckjit_sampler_options ckjit_sampler_default_options(void) {
  ckjit_sampler_options options;
  (void)ckjit_sampler_options_init(&options, sizeof options);
  return options;
}

CKJIT_API int ckjit_sampler_create(const ckjit_sampler_options *options, ckjit_sampler **sampler);
CKJIT_API void ckjit_sampler_destroy(ckjit_sampler *sampler);
/* Chooses from logits [vocabulary] behind `history` (may be NULL if history_count is 0). */
CKJIT_API int ckjit_sampler_next(ckjit_sampler *sampler, const float *logits, int64_t vocabulary,
                                 const int32_t *history, int64_t history_count, int32_t *id);

/*===-- Vocabulary: text to ids and back ------------------------------------===*/

typedef struct ckjit_vocabulary ckjit_vocabulary;

/* Reads a vocabulary of `size` pieces in llama2.c's form. */
CKJIT_API int ckjit_vocabulary_load(const char *path, int64_t size, ckjit_vocabulary **vocabulary);
/* The one beside the weight file that `model` was opened from: tokenizer.bin or tok<V>.bin. */
CKJIT_API int ckjit_vocabulary_of_model(const ckjit_model *model, ckjit_vocabulary **vocabulary);
CKJIT_API void ckjit_vocabulary_destroy(ckjit_vocabulary *vocabulary);

/* Begin of text and the ids of `length` bytes of text. Writes them if they are at most `capacity` (`ids` may be NULL if
 * that is 0), else returns CKJIT_BUFFER_TOO_SMALL; `*count` is their number either way. */
CKJIT_API int ckjit_vocabulary_encode(const ckjit_vocabulary *vocabulary, const char *text, size_t length, int32_t *ids,
                                      int64_t capacity, int64_t *count);
/* The text of `id` behind `previous` (1, begin of text, at first): `*length` bytes, and a zero if there is room. The
 * bytes of one character may come from several ids. CKJIT_BUFFER_TOO_SMALL as above. */
CKJIT_API int ckjit_vocabulary_decode(const ckjit_vocabulary *vocabulary, int32_t previous, int32_t id, char *text,
                                      size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif

#ifndef CKJIT_WITHOUT_CODEGEN
#include <ckjit/ckernel_codegen.h>
#endif

#endif /* CKJIT_CKJIT_H */
