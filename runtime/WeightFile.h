/*===- WeightFile.h - Reads BUMPWGT3, BUMPWGT2 and headerless files *- C -*-===*\
|* What the seed's loader accepts, and checked: no byte is read or written out of place, whatever the file holds.
\*===----------------------------------------------------------------------===*/
#ifndef CKRT_WEIGHTFILE_H
#define CKRT_WEIGHTFILE_H

#include "Description.h"
#include "Error.h"
#include "Team.h"

struct ckrt_weight_file {
  int fd; /**< -1: none */
  const char *path;
  uint64_t size;
  int version;           /**< 3, 2, or 0: headerless */
  uint64_t tensors_at;   /**< bytes from the file's start */
  int quantized;         /**< some tensor is q4_k or q6_k */
  char first_quantized[64];
};

/** Opens a file and reads its dtype table, if it is a BUMPWGT3. `uniform_quantized` is what files without a table hold
 *  (CK_WEIGHT_DTYPE). 0, or -1: it can't be read, or its table has another length than the model, or a dtype that the
 *  seed's runtime has no kernel for. */
int ckrt_weights_open(struct ckrt_weight_file *file, const char *path, const struct ckrt_description *description,
                      int uniform_quantized, struct ckrt_error *error);
/** Header against model, size and checksum. 0 or -1. */
int ckrt_weights_check(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                       struct ckrt_error *error);
/** Reads all tensors (fp32, checked before) to their places in the arena at `base`. 0 or -1. */
int ckrt_weights_read(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                      unsigned char *base, struct ckrt_team *team, struct ckrt_error *error);
void ckrt_weights_close(struct ckrt_weight_file *file);

#endif
