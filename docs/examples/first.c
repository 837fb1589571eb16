/* first WEIGHTS: the likeliest id behind the ids 1, 403, 407. */
#include <ckjit/ckjit.h>
#include <stdio.h>

int main(int argc, char **argv) {
  ckjit_engine *engine = NULL;
  ckjit_model *model = NULL;
  ckjit_session *session = NULL;
  const float *logits = NULL;
  ckjit_model_info info = {.struct_size = sizeof info};
  int32_t ids[] = {1, 403, 407}, best = 0, id;
  int ok = argc == 2 && ckjit_engine_create(NULL, &engine) == CKJIT_OK &&
           ckjit_model_open(engine, argv[1], NULL, &model) == CKJIT_OK &&
           ckjit_model_get_info(model, &info) == CKJIT_OK &&
           ckjit_session_create(model, 0, &session) == CKJIT_OK &&
           ckjit_session_append(session, ids, 3, NULL) == CKJIT_OK &&
           ckjit_session_last_logits(session, &logits) == CKJIT_OK;
  for (id = 0; ok && id < info.vocabulary; ++id)
    best = logits[id] > logits[best] ? id : best;
  if (ok)
    printf("%d\n", (int)best);
  else
    fprintf(stderr, "first: %s\n", argc == 2 ? ckjit_last_error() : "give a weight file");
  ckjit_session_destroy(session);
  ckjit_model_destroy(model);
  ckjit_engine_destroy(engine);
  return !ok;
}
