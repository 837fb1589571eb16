/* generate WEIGHTS PROMPT: continues a text until the model ends it or its context is full. */
#include <ckjit/ckjit.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  ckjit_engine *engine = NULL;
  ckjit_model *model = NULL;
  ckjit_session *session = NULL;
  ckjit_sampler *sampler = NULL;
  ckjit_vocabulary *vocabulary = NULL;
  int32_t ids[4096] = {0}, id = 0;
  int64_t count = 0;
  ckjit_model_info info;
  int ok;
  info.struct_size = sizeof info;
  ok = argc == 3 && ckjit_engine_create(NULL, &engine) == CKJIT_OK &&
       ckjit_model_open(engine, argv[1], NULL, &model) == CKJIT_OK &&
       ckjit_model_get_info(model, &info) == CKJIT_OK && ckjit_session_create(model, 0, &session) == CKJIT_OK &&
       ckjit_sampler_create(NULL, &sampler) == CKJIT_OK && ckjit_vocabulary_of_model(model, &vocabulary) == CKJIT_OK &&
       ckjit_vocabulary_encode(vocabulary, argv[2], strlen(argv[2]), ids, 4096, &count) == CKJIT_OK &&
       ckjit_session_append(session, ids, count, NULL) == CKJIT_OK;
  if (ok)
    fputs(argv[2], stdout);
  for (id = ids[count ? count - 1 : 0]; ok;) {
    const float *logits = NULL;
    char text[256];
    size_t length = 0;
    int32_t previous = id;
    ok = ckjit_session_last_logits(session, &logits) == CKJIT_OK &&
         ckjit_sampler_next(sampler, logits, info.vocabulary, NULL, 0, &id) == CKJIT_OK &&
         ckjit_vocabulary_decode(vocabulary, previous, id, text, sizeof text, &length) == CKJIT_OK;
    if (!ok || id == 1 || id == 2) /* begin or end of text */
      break;
    fwrite(text, 1, length, stdout);
    if (ckjit_session_cached(session) == ckjit_session_capacity(session))
      break;
    ok = ckjit_session_append(session, &id, 1, NULL) == CKJIT_OK;
  }
  putchar('\n');
  if (!ok)
    fprintf(stderr, "generate: %s\n", argc == 3 ? ckjit_last_error() : "usage: generate WEIGHTS PROMPT");
  ckjit_vocabulary_destroy(vocabulary);
  ckjit_sampler_destroy(sampler);
  ckjit_session_destroy(session);
  ckjit_model_destroy(model);
  ckjit_engine_destroy(engine);
  return ok ? 0 : 1;
}
