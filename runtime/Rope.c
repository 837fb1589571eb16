/*===- Rope.c - Angles of the positions -----------------------------------===*/
#include "Rope.h"
#include <math.h>

void ckrt_rope_fill(float *cosines, float *sines, int64_t first, int64_t end, int64_t head_dim, float theta) {
  int64_t half = head_dim / 2;
  for (int64_t i = 0; i < half; ++i) {
    long double exponent = (long double)(2 * i) / (long double)head_dim;
    float frequency = (float)(1.0L / powl((long double)theta, exponent));
    for (int64_t row = first; row < end; ++row) {
      float angle = (float)row * frequency;
      cosines[row * half + i] = cosf(angle);
      sines[row * half + i] = sinf(angle);
    }
  }
}
