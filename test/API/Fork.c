/*===- Fork.c - A host that forks with a live engine ---------------------===*/
#define _DEFAULT_SOURCE
#include "Host.h"
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ckjit_engine *engine;
static ckjit_model *model;
static ckjit_session *session;
static float expected[kTinyVocabulary];

/* What was inherited can't run and says so; a new engine can. */
static void childUsesItsOwn(void) {
  ckjit_engine *own = hostEngine(3, NULL);
  ckjit_model *ownModel = NULL, *none = NULL;
  ckjit_session *noSession = NULL;
  float logits[kTinyVocabulary];
  int32_t id = 1;
  MUST(ckjit_session_append(session, &id, 1, NULL) == CKJIT_FORKED);
  MUST(strstr(ckjit_last_error(), "threads don't survive fork()"));
  MUST(ckjit_session_create(model, 0, &noSession) == CKJIT_FORKED && !noSession);
  MUST(ckjit_model_create_random(engine, kTinyConfig, 1, NULL, &none) == CKJIT_FORKED && !none);
  MUST(ckjit_model_create_random(own, kTinyConfig, 1, NULL, &ownModel) == CKJIT_OK);
  hostRun(ownModel, logits);
  MUST(memcmp(expected, logits, sizeof logits) == 0);
  ckjit_model_destroy(ownModel);
  ckjit_engine_destroy(own);
}

static void childDestroysWhatItGot(void) {
  ckjit_session_destroy(session);
  ckjit_model_destroy(model);
  ckjit_engine_destroy(engine);
}

static void childDoesBoth(void) {
  childUsesItsOwn();
  childDestroysWhatItGot();
  MUST(hostEngine(1, NULL));
}

static void inChild(void (*body)(void)) {
  int status = -1;
  pid_t child;
  fflush(NULL);
  child = fork();
  MUST(child >= 0);
  if (child == 0) {
    alarm(60); /* a child that hangs ends by signal */
    body();
    _exit(0);
  }
  MUST(waitpid(child, &status, 0) == child);
  MUST(status == 0);
}

/* Other threads of the host, so that the child isn't a copy of a single-threaded process. */
static void *runOften(void *unused) {
  int i;
  (void)unused;
  for (i = 0; i < 200; ++i) {
    float logits[kTinyVocabulary];
    hostRun(model, logits);
    MUST(memcmp(expected, logits, sizeof logits) == 0);
  }
  return NULL;
}

int main(void) {
  float logits[kTinyVocabulary];
  pthread_t thread;
  engine = hostEngine(3, NULL);
  MUST(ckjit_model_create_random(engine, kTinyConfig, 1, NULL, &model) == CKJIT_OK);
  MUST(ckjit_session_create(model, 0, &session) == CKJIT_OK);
  hostRun(model, expected);
  inChild(childUsesItsOwn);
  inChild(childDestroysWhatItGot);
  inChild(childDoesBoth);
  MUST(pthread_create(&thread, NULL, runOften, NULL) == 0);
  inChild(childUsesItsOwn);
  inChild(childDoesBoth);
  pthread_join(thread, NULL);
  /* The parent's engine went on living. */
  hostRun(model, logits);
  MUST(memcmp(expected, logits, sizeof logits) == 0);
  ckjit_session_destroy(session);
  ckjit_model_destroy(model);
  ckjit_engine_destroy(engine);
  return 0;
}
