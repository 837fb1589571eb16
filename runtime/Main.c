/*===- Main.c - The standalone program ------------------------------------===*\
|* The seed's main(): its order of steps, its messages, its exit codes (0, or 1 for any failure).
\*===----------------------------------------------------------------------===*/
#include "Buffers.h"
#include "Dump.h"
#include "Model.h"
#include "Options.h"
#include "OutputFile.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern const struct ckrt_description ckjit_description __attribute__((visibility("hidden")));

static int fail(const char *message) {
  fprintf(stderr, "%s\n", message);
  return 1;
}

/** What the seed says of a step that failed; the reason stands on the line before. */
static const char *message_of(enum ckrt_status status) {
  switch (status) {
  case CKRT_BAD_DTYPES: return "failed to read weight dtype table";
  case CKRT_BAD_WEIGHTS: return "failed to load model weights";
  case CKRT_NO_MEMORY: return "layout_model failed";
  default: return NULL;
  }
}

static int load(struct ckrt_model *model, const struct ckrt_options *options) {
  const char *note = ckrt_activations_note(model->description);
  if (note)
    fprintf(stderr, "%s\n", note);
  struct ckrt_error error;
  enum ckrt_status status = ckrt_model_init(model, options->model_weights, /*training=*/0, &error);
  if (status == CKRT_OK)
    return 0;
  fail(error.text);
  return message_of(status) ? fail(message_of(status)) : 1;
}

/** Reads as many ids as the context holds; more are left alone. */
static int read_tokens(struct ckrt_model *model, const char *path) {
  size_t context = (size_t)model->description->context;
  int32_t *ids = malloc(context * sizeof *ids);
  if (!ids)
    return fail("failed to alloc tokens");
  FILE *file = fopen(path, "rb");
  size_t got = file ? fread(ids, sizeof *ids, context, file) : 0;
  if (!file || ferror(file))
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
  else if (got < context)
    fprintf(stderr, "%s: holds %zu token ids, expected the %zu of the context as int32\n", path, got, context);
  if (file)
    fclose(file);
  if (got == context)
    ckrt_model_embed(model, ids, (int)context);
  free(ids);
  return got == context ? 0 : fail("failed to read tokens");
}

static int write_logits(const struct ckrt_model *model, const char *path) {
  const struct ckrt_description *d = model->description;
  struct ckrt_output output;
  int result = ckrt_output_open(&output, path);
  if (result == 0)
    result = ckrt_output_write(&output, model->logits,
                               (size_t)d->context * (size_t)d->vocab * sizeof(float));
  if (ckrt_output_close(&output, result == 0) != 0)
    return fail("failed to write logits");
  return 0;
}

/** The tensors in the file's order, as they were loaded, without a header. */
static int write_weights(const struct ckrt_model *model, const char *path) {
  const struct ckrt_description *d = model->description;
  struct ckrt_output output;
  int result = ckrt_output_open(&output, path);
  for (uint32_t i = 0; result == 0 && i < d->tensors; ++i) {
    const struct ckrt_buffer *tensor = ckrt_tensor(d, i);
    result = ckrt_output_write(&output, model->arena.base + tensor->offset, tensor->bytes);
  }
  if (ckrt_output_close(&output, result == 0) != 0)
    return fail("failed to save model weights");
  return 0;
}

static int run(struct ckrt_model *model, const struct ckrt_options *options) {
  if (load(model, options) != 0)
    return 1;
  if (options->tokens && read_tokens(model, options->tokens) != 0)
    return 1;
  if (options->dump)
    ckrt_dump(model->description, options->cores, options->dump_all);
  if (!options->no_forward && ckrt_model_forward(model) != 0)
    return fail("memory: none left for the threads");
  if (options->out_logits && write_logits(model, options->out_logits) != 0)
    return 1;
  if (options->out_weights && write_weights(model, options->out_weights) != 0)
    return 1;
  if (fflush(stdout) != 0)
    return fail("standard output: cannot write");
  return 0;
}

int main(int argc, char **argv) {
  struct ckrt_options options;
  switch (ckrt_parse(&options, &ckjit_description, argc, argv)) {
  case CKRT_HELP: return 0;
  case CKRT_USAGE: return 1;
  case CKRT_RUN: break;
  }
  if (ckrt_check_options(&options, &ckjit_description) != 0)
    return 1;
  struct ckrt_model model = {.description = &ckjit_description};
  int code = run(&model, &options);
  ckrt_model_free(&model);
  return code;
}
