/*===- Description.h - What a compiled model tells its runtime ----*- C -*-===*\
|* The one structure that the compiler (lib/AOT, C++) writes and the runtime (C) reads: plain numbers, no pointers, so
|* that it needs no relocation and stands in read-only memory. Tables follow it; `..._at` is their distance in bytes
|* from its start.
\*===----------------------------------------------------------------------===*/
#ifndef CKRT_DESCRIPTION_H
#define CKRT_DESCRIPTION_H

#include <stdint.h>

enum { CKRT_NAME_BYTES = 24 };

/** A piece of the arena, in bytes. */
struct ckrt_range {
  uint64_t offset, bytes;
};

/** A buffer of the arena: the seed's, by its names (layer -1: global), and "tokens", "targets", "loss". */
struct ckrt_buffer {
  char name[CKRT_NAME_BYTES];
  int32_t layer;
  uint32_t dtype; /**< the weight file's code of its type; of weights */
  uint64_t offset, bytes;
};

struct ckrt_description {
  int32_t layers, hidden, intermediate, heads, kv_heads, vocab, context;
  float eps, theta; /**< theta 0: no RoPE, learned positions */
  int32_t strict;   /**< sums in double, exact exp */
  int32_t int8;     /**< quantized weights multiply int8 activations */
  uint64_t arena_bytes; /**< all of it, scratch too */
  uint64_t plan_bytes;  /**< the seed's part of it */
  uint64_t layers_start;
  uint32_t buffers, buffers_at;   /**< ckrt_buffer */
  uint32_t tensors, tensors_at;   /**< uint32_t: the weight file's tensors in its order, as indices of buffers */
  uint32_t ranges, ranges_at;     /**< ckrt_range: where huge pages pay */
  uint32_t cpu_at;                /**< text: LLVM's name of the CPU that the code is for */
  uint32_t features_at;           /**< text: the features that the code may use, "avx2,fma" */
};

#endif
