/*===- OutputFile.h - A file that appears whole or not at all ------*- C -*-===*/
#ifndef CKRT_OUTPUTFILE_H
#define CKRT_OUTPUTFILE_H

#include <stddef.h>
#include <stdint.h>

/** A file being written: under another name beside its place, unless that is a pipe or a device. */
struct ckrt_output {
  int fd;
  const char *path;
  char *temporary; /**< null: written in place */
};

/** 0; or -1 after saying why on standard error, as do the others. */
int ckrt_output_open(struct ckrt_output *output, const char *path);
int ckrt_output_write(struct ckrt_output *output, const void *bytes, uint64_t count);
/** Puts the file in its place if `whole`, else removes it. -1 if it isn't in its place. */
int ckrt_output_close(struct ckrt_output *output, int whole);

#endif
