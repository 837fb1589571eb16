/*===- Host.h - What the host programs of the tests share ----------*- C -*-===*/
#ifndef CKJIT_TEST_API_HOST_H
#define CKJIT_TEST_API_HOST_H

#include <ckjit/ckjit.h>
#include <stdio.h>
#include <stdlib.h>

/* One layer, a few hundred bytes of machine code a kernel. */
static const char kTinyConfig[] = "{\"num_hidden_layers\": 1, \"hidden_size\": 16, \"intermediate_size\": 16,"
                                  " \"num_attention_heads\": 1, \"vocab_size\": 33, \"max_position_embeddings\": 64,"
                                  " \"rope_theta\": 10000.0}";
enum { kTinyVocabulary = 33 };

/* Ends the program, with the library's message, unless `condition` holds. */
#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, ckjit_last_error());    \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* An engine of `threads` threads; it keeps compiled code in `cache`, if that isn't NULL. */
static inline ckjit_engine *hostEngine(uint32_t threads, const char *cache) {
  ckjit_engine_options options = ckjit_engine_default_options();
  ckjit_engine *engine = NULL;
  options.threads = threads;
  options.cache = cache != NULL;
  options.cache_dir = cache;
  MUST(ckjit_engine_create(&options, &engine) == CKJIT_OK);
  return engine;
}

/* Runs 20 ids at once and 5 one by one, and copies the last row of logits. */
static inline void hostRun(ckjit_model *model, float logits[kTinyVocabulary]) {
  ckjit_session *session = NULL;
  const float *last = NULL;
  int32_t ids[25];
  int i;
  for (i = 0; i < 25; ++i)
    ids[i] = i * 7 % kTinyVocabulary;
  MUST(ckjit_session_create(model, 0, &session) == CKJIT_OK);
  MUST(ckjit_session_append(session, ids, 20, NULL) == CKJIT_OK);
  for (i = 20; i < 25; ++i)
    MUST(ckjit_session_append(session, &ids[i], 1, NULL) == CKJIT_OK);
  MUST(ckjit_session_last_logits(session, &last) == CKJIT_OK);
  for (i = 0; i < kTinyVocabulary; ++i)
    logits[i] = last[i];
  ckjit_session_destroy(session);
}

#endif
