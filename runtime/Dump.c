/*===- Dump.c - Where the buffers stand, as the seed prints it ------------===*/
#include "Dump.h"
#include "Buffers.h"
#include <stdio.h>

static size_t at(const struct ckrt_description *description, const char *name, int layer) {
  const struct ckrt_buffer *buffer = ckrt_find(description, name, layer);
  return buffer ? (size_t)buffer->offset : 0;
}

static void dump_layer(const struct ckrt_description *d, int layer) {
  printf("Layer %d offsets (bytes):\n", layer);
  printf(" ln1_gamma=%zu ln2_gamma=%zu wq=%zu wk=%zu wv=%zu wo=%zu w1=%zu w2=%zu\n", at(d, "ln1_gamma", layer),
         at(d, "ln2_gamma", layer), at(d, "wq", layer), at(d, "wk", layer), at(d, "wv", layer), at(d, "wo", layer),
         at(d, "w1", layer), at(d, "w2", layer));
  printf(" ln1_out=%zu q=%zu k=%zu v=%zu scores=%zu attn_out=%zu\n", at(d, "ln1_out", layer), at(d, "q", layer),
         at(d, "k", layer), at(d, "v", layer), at(d, "scores", layer), at(d, "attn_out", layer));
  printf(" proj_tmp=%zu residual1=%zu ln2_out=%zu fc1_out=%zu swiglu_out=%zu mlp_out=%zu output=%zu\n",
         at(d, "proj_tmp", layer), at(d, "residual1", layer), at(d, "ln2_out", layer), at(d, "fc1_out", layer),
         at(d, "swiglu_out", layer), at(d, "mlp_out", layer), at(d, "output", layer));
}

void ckrt_dump(const struct ckrt_description *d, int cores, int all_layers) {
  int head = d->hidden / d->heads;
  printf("Model config:\n");
  printf(" layers=%d embed=%d intermediate=%d heads=%d kv_heads=%d\n", d->layers, d->hidden, d->intermediate, d->heads,
         d->kv_heads);
  printf(" head_dim=%d vocab=%d ctx=%d cores=%d\n", head, d->vocab, d->context, cores > 0 ? cores : 1);
  printf(" eps=%.6g rope_theta=%.6g\n", (double)d->eps, (double)d->theta);
  printf("Aligned dims (elements): embed=%zu head=%zu ctx=%zu\n", (size_t)ckrt_aligned(d->hidden),
         (size_t)ckrt_aligned(head), (size_t)ckrt_aligned(d->context));
  printf("Memory: total_bytes=%zu\n", (size_t)d->plan_bytes);
  printf("Global offsets (bytes): token=%zu pos=%zu embedded=%zu layers_start=%zu\n", at(d, "token_emb", -1),
         at(d, "pos_emb", -1), at(d, "embedded_input", -1), (size_t)d->layers_start);
  printf("Final offsets (bytes): final_ln_w=%zu final_ln_b=%zu final_ln_mean=%zu final_ln_rstd=%zu\n",
         at(d, "final_ln_weight", -1), at(d, "final_ln_bias", -1), at(d, "final_ln_mean", -1),
         at(d, "final_ln_rstd", -1));
  printf("LM/logits offsets (bytes): lm_head=%zu logits=%zu\n", at(d, "lm_head_weight", -1), at(d, "logits", -1));
  for (int layer = 0; layer < (all_layers ? d->layers : d->layers > 0); ++layer)
    dump_layer(d, layer);
}
