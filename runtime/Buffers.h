/*===- Buffers.h - The tables behind a description -----------------*- C -*-===*/
#ifndef CKRT_BUFFERS_H
#define CKRT_BUFFERS_H

#include "Description.h"
#include <stddef.h>
#include <string.h>

static inline const void *ckrt_table(const struct ckrt_description *description, uint32_t at) {
  return (const unsigned char *)description + at;
}

/** The tensor that stands at place `index` of the weight file. */
static inline const struct ckrt_buffer *ckrt_tensor(const struct ckrt_description *description, uint32_t index) {
  const uint32_t *tensors = (const uint32_t *)ckrt_table(description, description->tensors_at);
  return (const struct ckrt_buffer *)ckrt_table(description, description->buffers_at) + tensors[index];
}

/** The buffer of that name (layer -1: global); null if there is none. */
static inline const struct ckrt_buffer *ckrt_find(const struct ckrt_description *description, const char *name,
                                                  int64_t layer) {
  const struct ckrt_buffer *buffers = (const struct ckrt_buffer *)ckrt_table(description, description->buffers_at);
  for (uint32_t i = 0; i < description->buffers; ++i)
    if (buffers[i].layer == layer && strncmp(buffers[i].name, name, sizeof buffers[i].name) == 0)
      return &buffers[i];
  return NULL;
}

/** May the tensor of that name have another type than fp32? */
static inline int ckrt_may_be_quantized(const char *name) {
  static const char *const names[] = {"token_emb", "wq", "wk", "wv", "wo", "w1", "w2"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(name, names[i]) == 0)
      return 1;
  return 0;
}

/** The first tensor whose type isn't that of token_emb, of those that may have another than fp32; null if all agree. */
static inline const struct ckrt_buffer *ckrt_other_type(const struct ckrt_description *description) {
  for (uint32_t i = 0; i < description->tensors; ++i) {
    const struct ckrt_buffer *tensor = ckrt_tensor(description, i);
    if (ckrt_may_be_quantized(tensor->name) && tensor->dtype != ckrt_tensor(description, 0)->dtype)
      return tensor;
  }
  return NULL;
}

/** Some weight isn't fp32. */
static inline int ckrt_is_quantized(const struct ckrt_description *description) {
  return ckrt_tensor(description, 0)->dtype != 0 || ckrt_other_type(description);
}

/** Every padded dimension is a multiple of 16 floats. */
static inline int64_t ckrt_aligned(int64_t elements) { return (elements + 15) / 16 * 16; }

#endif
