/*===- ManyEngines.c - 1,000 engines leave nothing behind ----------------===*
 *
 * Makes and destroys 1,000 engines, each with a model that runs a session (the first compiles it, the others find it in
 * the cache, in the folder that is the argument; every hundredth compiles again), and looks at what the process holds: memory,
 * threads, mappings and files must be what they were after the first few. Under LeakSanitizer nothing may be lost.
 *
 *===----------------------------------------------------------------------===*/
#define _DEFAULT_SOURCE
#include "Host.h"
#include <dirent.h>
#include <malloc.h>
#include <string.h>

enum { kEngines = 1000, kEnginesPerCompile = 100, kWarmUp = 210 };

struct Held {
  long residentKiB, threads, mappings, files;
};

static long countEntries(const char *folder) {
  DIR *dir = opendir(folder);
  long count = 0;
  MUST(dir);
  while (readdir(dir))
    ++count;
  closedir(dir);
  return count;
}

static struct Held look(void) {
  struct Held held = {0, 0, 0, 0};
  char line[512];
  FILE *file = fopen("/proc/self/status", "r");
  MUST(file);
  while (fgets(line, sizeof line, file)) {
    sscanf(line, "VmRSS: %ld", &held.residentKiB);
    sscanf(line, "Threads: %ld", &held.threads);
  }
  fclose(file);
  file = fopen("/proc/self/maps", "r");
  MUST(file);
  while (fgets(line, sizeof line, file))
    held.mappings += strchr(line, '\n') != NULL;
  fclose(file);
  held.files = countEntries("/proc/self/fd");
  return held;
}

static void print(const char *when, struct Held held) {
  printf("%s: %ld KiB resident, %ld threads, %ld mappings, %ld files\n", when, held.residentKiB, held.threads,
         held.mappings, held.files);
  fflush(stdout);
}

int main(int argc, char **argv) {
  struct Held before = {0, 0, 0, 0}, after;
  float first[kTinyVocabulary], logits[kTinyVocabulary];
  int i;
  MUST(argc == 2);
  /* One heap that grows in one piece: with an arena a thread, how many regions the allocator holds depends on which
   * threads met, and a count of them says nothing about engines. A sanitizer's allocator has neither, and refuses. */
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  for (i = 0; i < kEngines; ++i) {
    ckjit_engine *engine = hostEngine(2, i % kEnginesPerCompile == 50 ? NULL : argv[1]);
    ckjit_model *model = NULL;
    if (i == kWarmUp) {
      before = look();
      print("after the first", before);
    }
    MUST(ckjit_model_create_random(engine, kTinyConfig, 1, NULL, &model) == CKJIT_OK);
    hostRun(model, i ? logits : first);
    MUST(i == 0 || memcmp(first, logits, sizeof first) == 0);
    if (i % 2) { /* in either order */
      ckjit_engine_destroy(engine);
      ckjit_model_destroy(model);
    } else {
      ckjit_model_destroy(model);
      ckjit_engine_destroy(engine);
    }
  }
  after = look();
  print("after all", after);
  MUST(after.threads == 1);
  MUST(after.files == before.files);
  /* Engines that left a region would show 790; a sanitizer's allocator maps some more of its own. */
  MUST(after.mappings <= before.mappings + CKJIT_MAPPINGS_SLACK);
  /* 790 engines with their models later: a leak of 3 KiB in each would show. */
  MUST(after.residentKiB <= before.residentKiB + CKJIT_RESIDENT_SLACK_KIB);
  return 0;
}
