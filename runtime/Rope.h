/*===- Rope.h - Angles of the positions ----------------------------*- C -*-===*/
#ifndef CKRT_ROPE_H
#define CKRT_ROPE_H

#include <stdint.h>

/** Fills rows [first, end) of the tables [context][head_dim / 2]: cos and sin of position * theta^(-2i / head_dim),
 *  the frequency in long double rounded to fp32, the angle a product in fp32. */
void ckrt_rope_fill(float *cosines, float *sines, int64_t first, int64_t end, int64_t head_dim, float theta);

#endif
