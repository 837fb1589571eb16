/*===- OutputFile.c - A file that appears whole or not at all -------------===*/
#include "OutputFile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(const struct ckrt_output *output, const char *step) {
  fprintf(stderr, "%s: %s: %s\n", output->path, step, strerror(errno));
  return -1;
}

/** The rights that a new file gets. */
static mode_t default_mode(void) {
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

int ckrt_output_open(struct ckrt_output *output, const char *path) {
  *output = (struct ckrt_output){.fd = -1, .path = path};
  struct stat status;
  int exists = lstat(path, &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    /* A pipe, a device, a link: written where it leads. */
    output->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return output->fd < 0 ? failed(output, "open") : 0;
  }
  static const char ending[] = ".XXXXXX";
  output->temporary = malloc(strlen(path) + sizeof ending);
  if (!output->temporary)
    return failed(output, "memory");
  strcpy(output->temporary, path);
  strcat(output->temporary, ending);
  output->fd = mkostemp(output->temporary, O_CLOEXEC);
  if (output->fd < 0) {
    free(output->temporary);
    output->temporary = NULL;
    return failed(output, "open");
  }
  if (fchmod(output->fd, exists ? status.st_mode & 0777 : default_mode()) != 0)
    return failed(output, "chmod");
  return 0;
}

int ckrt_output_write(struct ckrt_output *output, const void *bytes, uint64_t count) {
  for (const unsigned char *at = bytes; count;) {
    ssize_t written = write(output->fd, at, count < 1 << 30 ? count : 1 << 30);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failed(output, "write");
    at += written;
    count -= (uint64_t)written;
  }
  return 0;
}

int ckrt_output_close(struct ckrt_output *output, int whole) {
  int result = whole && output->fd >= 0 ? 0 : -1;
  if (output->fd >= 0 && close(output->fd) != 0 && result == 0)
    result = failed(output, "close");
  if (output->temporary && result == 0 && rename(output->temporary, output->path) != 0)
    result = failed(output, "rename");
  if (output->temporary && result != 0)
    unlink(output->temporary);
  free(output->temporary);
  output->temporary = NULL;
  output->fd = -1;
  return result;
}
