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
  int quantized;         /**< some tensor isn't fp32 */
  int32_t other;         /**< the first tensor that isn't of the type it was compiled for; -1: none */
  unsigned other_dtype;  /**< what that one is */
};

/** "fp32", "q4_k", ...; "unknown" for a code without meaning. */
const char *ckrt_dtype_name(unsigned dtype);
/** The type that CK_WEIGHT_DTYPE names (SPEC 2.2, and those of ck-jit); -1: none. */
int ckrt_dtype_by_environment(void);

/** Opens a file and reads its dtype table, if it is a BUMPWGT3. In files without a table all weights that may be are of
 *  type `dtype`. 0, or -1: it can't be read, or its table has another length than the model, or a dtype that the tensor
 *  can't have. */
int ckrt_weights_open(struct ckrt_weight_file *file, const char *path, const struct ckrt_description *description,
                      unsigned dtype, struct ckrt_error *error);
/** Fills in quantized, other and other_dtype as a file without a table has them; 0. */
int ckrt_weights_assume(struct ckrt_weight_file *file, const struct ckrt_description *description, unsigned dtype);
/** 0, or -1: some tensor has another type than it was compiled for. */
int ckrt_weights_check_types(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                             struct ckrt_error *error);
/** Header against model, size and checksum, of a file whose types are right. 0 or -1. */
int ckrt_weights_check(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                       struct ckrt_error *error);
/** Reads all tensors (types and sizes checked before) to their places in the arena at `base`. 0 or -1. */
int ckrt_weights_read(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                      unsigned char *base, struct ckrt_team *team, struct ckrt_error *error);
void ckrt_weights_close(struct ckrt_weight_file *file);

#endif
