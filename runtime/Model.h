/*===- Model.h - The model in memory, as library and standalone use it *- C -*-===*/
#ifndef CKRT_MODEL_H
#define CKRT_MODEL_H

#include "Arena.h"
#include "Description.h"
#include "Error.h"
#include "Team.h"

/** What ck_model_init returns. -1 to -6 are the seed's. */
enum ckrt_status {
  CKRT_OK = 0,
  CKRT_NO_MEMORY = -1,          /**< the seed: layout failed */
  CKRT_BAD_WEIGHTS = -2,        /**< weights load failed */
  CKRT_QUANTIZED_TRAINING = -5,
  CKRT_BAD_DTYPES = -6,         /**< dtype table unreadable, or types other than compiled for */
  CKRT_WRONG_CPU = -7,          /**< the code uses instructions that this machine lacks */
  CKRT_NO_TRAINING = -8         /**< CK_ENABLE_TRAINING asks for what this model was compiled without */
};

struct ckrt_model {
  const struct ckrt_description *description;
  struct ckrt_arena arena;
  struct ckrt_team *team;
  int threads; /**< asked for; 0: decide */
  int ready;
  int32_t *ids;   /**< [context]: what was embedded, row by row */
  float *first_row; /**< [vocab]: holds logits row 0 while a decode step uses it */
  /* Buffers of the arena; the angles are null without RoPE. */
  float *logits, *cosines, *sines;
  int32_t *tokens, *targets;
  int active;     /**< rows of ids */
  int cached;     /**< tokens whose keys and values the cache holds */
  int capacity;   /**< of the cache; 0: not enabled */
  int rope_rows;  /**< rows of the RoPE tables filled so far */
};

/** Checks the CPU, opens `path` (null: all weights stay zero), reserves memory and reads the weights. On an error
 *  nothing is left behind. `training` says that CK_ENABLE_TRAINING asks for it. */
enum ckrt_status ckrt_model_init(struct ckrt_model *model, const char *path, int training, struct ckrt_error *error);
void ckrt_model_free(struct ckrt_model *model);

/** Sets the rows to run; ids out of the vocabulary count as 0. 1 <= count <= context. */
void ckrt_model_embed(struct ckrt_model *model, const int32_t *ids, int count);
/** Runs rows 0 to active - 1 (all of the context if none was embedded: with id 0) from position 0 and computes all
 *  their logits. 0, or -1: no memory for the threads. */
int ckrt_model_forward(struct ckrt_model *model);
/** Runs one token behind the `cached` ones (fewer than capacity); its logits become row `cached`. 0 or -1. */
int ckrt_model_decode(struct ckrt_model *model, int32_t id);

/** What to say where CK_Q8K_ACTIVATIONS asks for other activations than were compiled in; null: nothing. */
const char *ckrt_activations_note(const struct ckrt_description *description);

#endif
