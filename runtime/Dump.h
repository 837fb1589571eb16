/*===- Dump.h - Where the buffers stand, as the seed prints it -----*- C -*-===*/
#ifndef CKRT_DUMP_H
#define CKRT_DUMP_H

#include "Description.h"

/** Prints --dump (layer 0) or --dump-all on standard output. */
void ckrt_dump(const struct ckrt_description *description, int cores, int all_layers);

#endif
