/*===- ckernel_codegen.h - The seed's graph and code generator -----*- C -*-===*
 *
 * The names, structs and functions of C-Kernel-Engine's ckernel_codegen.h and ckernel_ir.h, for programs that have them.
 * ckjit.h includes this file unless CKJIT_WITHOUT_CODEGEN is defined.
 *
 *===----------------------------------------------------------------------===*/
#ifndef CKJIT_CKERNEL_CODEGEN_H
#define CKJIT_CKERNEL_CODEGEN_H

#include <stdint.h>
#include <stdio.h>

#ifndef CKJIT_API
#define CKJIT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CK_OP_RMSNORM = 0,
  CK_OP_LINEAR_QKV,
  CK_OP_ATTENTION,
  CK_OP_ADD,
  CK_OP_LINEAR,
  CK_OP_SPLIT,
  CK_OP_SWIGLU,
  CK_OP_RMSNORM_BWD,
  CK_OP_LINEAR_QKV_BWD,
  CK_OP_ATTENTION_BWD,
  CK_OP_ADD_BWD,
  CK_OP_LINEAR_BWD,
  CK_OP_SPLIT_BWD,
  CK_OP_SWIGLU_BWD
} CKOpType;

typedef struct {
  int num_layers;
  int hidden_size;
  int intermediate_size;
  int num_heads;
  int num_kv_heads;
  int vocab_size;
  int context_window;
  float rms_norm_eps;
  float rope_theta;
} CKModelConfig;

typedef struct {
  uint16_t layer;
  uint16_t node; /* 0xFFFF as a producer: the layer's input */
} CKKernelId;

typedef struct {
  CKKernelId producer;
  uint8_t out_index;
} CKInputRef;

typedef struct {
  CKKernelId id;
  CKOpType op;
  CKInputRef inputs[4];
  uint8_t n_inputs;
  uint8_t n_outputs;
} CKIRNode;

typedef struct {
  CKModelConfig config;
  int num_nodes;
  CKIRNode *nodes;
} CKIRGraph;

typedef enum {
  CK_EMIT_STANDALONE = 0, /* an executable with main() */
  CK_EMIT_LIBRARY = 1     /* a shared object with the functions of a model */
} CKEmitMode;

/* Writes the C skeleton text of `forward` and `backward` (may be NULL) to `out`. Writes nothing if forward or out is
 * NULL, or if a node isn't one (more than 4 inputs, an unknown op); ckjit_last_error() tells. */
CKJIT_API void ck_codegen_c_skeleton(const CKIRGraph *forward, const CKIRGraph *backward, FILE *out);

/* Compiles `forward` for this machine into the ELF file `path` - where the seed wrote C - and tells of its kernels in
 * `path`.kernels.json: a shared object with the seed's functions of a model, or an executable with the seed's options.
 * Needs ld.lld. Returns 0, or -1 with ckjit_last_error(); then there is neither file. */
CKJIT_API int ck_codegen_emit_runtime(const CKIRGraph *forward, const char *path, CKEmitMode mode);

#ifdef __cplusplus
}
#endif

#endif /* CKJIT_CKERNEL_CODEGEN_H */
