/* cancel: shows what a long prompt is at, gives it up half-way, and runs it again to the end. The model is random, so
 * that no file is needed. */
#include <ckjit/ckjit.h>

#include <inttypes.h>
#include <stdio.h>

static const char config[] = "{\"num_hidden_layers\": 2, \"hidden_size\": 64, \"intermediate_size\": 128,"
                             " \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"vocab_size\": 512,"
                             " \"max_position_embeddings\": 1024, \"rope_theta\": 10000.0}";

/* Cancels at the number of tokens that `user` points to. */
static int show(const char *stage, uint64_t done, uint64_t total, void *user) {
  const uint64_t *most = user;
  printf("%s: %" PRIu64 " of %" PRIu64 "\n", stage, done, total);
  return done >= *most;
}

static int failed(const char *what) {
  fprintf(stderr, "cancel: %s: %s\n", what, ckjit_last_error());
  return 1;
}

int main(void) {
  ckjit_engine *engine = NULL;
  ckjit_model *model = NULL;
  ckjit_session *session = NULL;
  ckjit_append_options options = ckjit_append_default_options();
  int32_t ids[1000];
  uint64_t most = 500;
  int i;
  for (i = 0; i < 1000; ++i)
    ids[i] = i * 37 % 512;
  if (ckjit_engine_create(NULL, &engine) != CKJIT_OK)
    return failed("engine");
  if (ckjit_model_create_random(engine, config, 7, NULL, &model) != CKJIT_OK)
    return failed("model");
  if (ckjit_session_create(model, 0, &session) != CKJIT_OK)
    return failed("session");
  options.progress = show;
  options.progress_user = &most;
  if (ckjit_session_append(session, ids, 1000, &options) != CKJIT_CANCELLED)
    return failed("an append that was to be cancelled");
  printf("%s; the session holds %" PRId64 " tokens\n", ckjit_last_error(), ckjit_session_cached(session));
  most = UINT64_MAX;
  if (ckjit_session_append(session, ids, 1000, &options) != CKJIT_OK)
    return failed("append");
  printf("the session holds %" PRId64 " tokens\n", ckjit_session_cached(session));
  ckjit_session_destroy(session);
  ckjit_model_destroy(model);
  ckjit_engine_destroy(engine);
  return 0;
}
