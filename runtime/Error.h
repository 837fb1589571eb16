/*===- Error.h - Why a step of the runtime failed ------------------*- C -*-===*/
#ifndef CKRT_ERROR_H
#define CKRT_ERROR_H

#include <stdarg.h>
#include <stdio.h>

/** A message: what was looked at, what was found, what is expected. Cut off where it is longer. */
struct ckrt_error {
  char text[512];
};

/** Fills in the message and returns `code`, so that `return ckrt_fail(...)` reads well. */
__attribute__((format(printf, 3, 4))) static inline int ckrt_fail(struct ckrt_error *error, int code,
                                                                 const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return code;
}

#endif
