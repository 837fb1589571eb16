/*===- Options.h - The command line of the standalone program ------*- C -*-===*/
#ifndef CKRT_OPTIONS_H
#define CKRT_OPTIONS_H

#include "Description.h"

/** The seed's options (SPEC 9). Dimensions start as the model's. */
struct ckrt_options {
  int dump, dump_all, no_forward, strict, litmus, backward;
  const char *model_weights, *tokens, *out_logits, *out_weights;
  int layers, embed, intermediate, heads, kv_heads, vocab, context, cores;
};

/** What becomes of the program after its command line is read. */
enum ckrt_parsed { CKRT_RUN, CKRT_HELP, CKRT_USAGE };

/** Reads the command line. CKRT_HELP: the usage has been printed; CKRT_USAGE: so has what is wrong. */
enum ckrt_parsed ckrt_parse(struct ckrt_options *options, const struct ckrt_description *description, int argc,
                            char **argv);

/** 0, or -1 after naming an option that asks for what the program wasn't compiled for. */
int ckrt_check_options(const struct ckrt_options *options, const struct ckrt_description *description);

#endif
