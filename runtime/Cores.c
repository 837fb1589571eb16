/*===- Cores.c - How many cores this process may use ----------------------===*/
#include "Cores.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned allowed_cpus(void) {
  /* The kernel refuses a set smaller than its own, and doesn't tell that size. */
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (!set)
      break;
    int result = sched_getaffinity(0, bytes, set), code = errno;
    int count = result == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (result == 0 && count > 0)
      return (unsigned)count;
    if (code != EINVAL)
      break;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

/** The numbers of a file, up to `count`; a word that is none (cgroup v2's "max") counts as -1. */
static int read_numbers(const char *path, long long *numbers, int count) {
  FILE *file = fopen(path, "re");
  if (!file)
    return 0;
  char text[128];
  int found = 0;
  if (fgets(text, sizeof text, file)) {
    char *rest = NULL;
    for (char *word = strtok_r(text, " \n", &rest); word && found < count; word = strtok_r(NULL, " \n", &rest)) {
      char *end = NULL;
      numbers[found] = strtoll(word, &end, 10);
      if (end == word || *end)
        numbers[found] = -1;
      ++found;
    }
  }
  fclose(file);
  return found;
}

static unsigned cut(unsigned cores, long long quota, long long period) {
  if (quota <= 0 || period <= 0)
    return cores;
  long long granted = quota / period + (quota % period != 0);
  return granted < cores ? (unsigned)granted : cores;
}

/** Cuts to the quota of one group, of cgroup v2 or of v1. */
static unsigned cut_to_group(unsigned cores, const char *folder) {
  char path[4096 + 64];
  long long v2[2], quota, period;
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  if (read_numbers(path, v2, 2) == 2)
    cores = cut(cores, v2[0], v2[1]);
  snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
  if (read_numbers(path, &quota, 1) == 1) {
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (read_numbers(path, &period, 1) == 1)
      cores = cut(cores, quota, period);
  }
  return cores;
}

/** Cuts to the quotas of `root`, root/a, root/a/b for the group "/a/b". */
static unsigned cut_along(unsigned cores, const char *root, const char *group) {
  char folder[4096];
  cores = cut_to_group(cores, root);
  size_t length = strlen(root);
  /* "/../x": the group lies outside the part of the tree that this process sees. */
  if (length + strlen(group) >= sizeof folder || strstr(group, ".."))
    return cores;
  for (const char *slash = group; *slash == '/' && slash[1];) {
    slash += 1 + strcspn(slash + 1, "/");
    snprintf(folder, sizeof folder, "%s%.*s", root, (int)(slash - group), group);
    cores = cut_to_group(cores, folder);
  }
  return cores;
}

static int has_cpu_controller(const char *controllers, size_t length) {
  while (length) {
    size_t word = 0;
    while (word < length && controllers[word] != ',')
      ++word;
    if (word == 3 && memcmp(controllers, "cpu", 3) == 0)
      return 1;
    word += word < length;
    controllers += word;
    length -= word;
  }
  return 0;
}

unsigned ckrt_usable_cores(void) {
  unsigned cores = allowed_cpus();
  FILE *file = fopen("/proc/self/cgroup", "re");
  char line[4096];
  /* hierarchy:controllers:path, where the path may hold colons itself */
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/')
      continue;
    size_t length = (size_t)(path - controllers - 1);
    if (length == 0) {
      cores = cut_along(cores, "/sys/fs/cgroup", path + 1);
      cores = cut_along(cores, "/sys/fs/cgroup/unified", path + 1);
    } else if (has_cpu_controller(controllers + 1, length)) {
      cores = cut_along(cores, "/sys/fs/cgroup/cpu", path + 1);
      cores = cut_along(cores, "/sys/fs/cgroup/cpu,cpuacct", path + 1);
      cores = cut_along(cores, "/sys/fs/cgroup/cpuacct,cpu", path + 1);
    }
  }
  if (file)
    fclose(file);
  return cores ? cores : 1;
}
