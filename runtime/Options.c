/*===- Options.c - The command line of the standalone program -------------===*/
#include "Options.h"
#include "Buffers.h"
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, TEXT, NUMBER, REAL };

/** An option, and where it goes; options of training and litmus go nowhere. */
struct option {
  const char *name;
  enum kind kind;
  size_t at; /**< in ckrt_options; NOWHERE */
};
#define NOWHERE ((size_t)-1)
#define AT(field) offsetof(struct ckrt_options, field)

static const struct option all_options[] = {
    {"--dump", FLAG, AT(dump)},
    {"--dump-all", FLAG, AT(dump_all)},
    {"--no-forward", FLAG, AT(no_forward)},
    {"--strict", FLAG, AT(strict)},
    {"--litmus", FLAG, AT(litmus)},
    {"--backward", FLAG, AT(backward)},
    {"--lr", REAL, NOWHERE},
    {"--hidden", TEXT, NOWHERE},
    {"--weights", TEXT, NOWHERE},
    {"--targets", TEXT, NOWHERE},
    {"--model-weights", TEXT, AT(model_weights)},
    {"--tokens", TEXT, AT(tokens)},
    {"--out-logits", TEXT, AT(out_logits)},
    {"--out-dlogits", TEXT, NOWHERE},
    {"--out-dhidden", TEXT, NOWHERE},
    {"--out-dweights", TEXT, NOWHERE},
    {"--out-loss", TEXT, NOWHERE},
    {"--out-weights", TEXT, AT(out_weights)},
    {"--steps", NUMBER, NOWHERE},
    {"--log-steps", FLAG, NOWHERE},
    {"--layers", NUMBER, AT(layers)},
    {"--embed", NUMBER, AT(embed)},
    {"--intermediate", NUMBER, AT(intermediate)},
    {"--heads", NUMBER, AT(heads)},
    {"--kv-heads", NUMBER, AT(kv_heads)},
    {"--vocab", NUMBER, AT(vocab)},
    {"--ctx", NUMBER, AT(context)},
    {"--cores", NUMBER, AT(cores)},
};

static void print_usage(const char *program) {
  printf("Usage: %s [options]\n", program);
  fputs(" --dump Print layout summary (layer 0 only)\n"
        " --dump-all Print layout summary for all layers\n"
        " --no-forward Skip forward pass (layout + alloc only)\n"
        " --layers N Override num_layers\n"
        " --embed N Override embed_dim\n"
        " --intermediate N Override intermediate_size\n"
        " --heads N Override num_attention_heads\n"
        " --kv-heads N Override num_kv_heads\n"
        " --vocab N Override vocab_size\n"
        " --ctx N Override context_window\n"
        " --cores N Override num_cores\n"
        " --litmus Run LM head + CE + backward litmus\n"
        " --backward Run backward pass + SGD update (requires --tokens/--targets)\n"
        " --lr F SGD learning rate (default: 1e-3 when --backward)\n"
        " --steps N Training steps (default: 1)\n"
        " --log-steps Print loss per step during training\n"
        " --strict Enable strict parity mode (single-thread + double GEMM)\n"
        " --hidden PATH Load hidden activations [T x aligned_D] f32\n"
        " --weights PATH Load LM head weights [V x aligned_D] f32 (litmus)\n"
        " --targets PATH Load target tokens [T] int32\n"
        " --model-weights PATH Load full model weights (bump format)\n"
        " --tokens PATH Load token IDs [T] int32 and build embeddings\n"
        " --out-logits PATH Write logits [T x V] f32\n"
        " --out-dlogits PATH Write d_logits [T x V] f32\n"
        " --out-dhidden PATH Write d_hidden [T x aligned_D] f32\n"
        " --out-dweights PATH Write d_weights [V x aligned_D] f32\n"
        " --out-loss PATH Write loss (single f32)\n"
        " --out-weights PATH Write model weights (flat, no header)\n"
        " --help Show this help\n"
        "\n"
        "This program was compiled for one model and for inference: a dimension other than the model's is an error,\n"
        "and so are --backward and --litmus; --strict needs a program compiled with it. Weights must have the types\n"
        "that it was compiled for; CK_WEIGHT_DTYPE says which one a file without a dtype table has (default fp32).\n"
        "Threads: CK_NUM_THREADS, else OMP_NUM_THREADS, else all usable cores; results don't depend on them.\n",
        stdout);
}

/** A number that can't be read leaves the option as it was, as in the seed. */
static void take_number(const char *text, int *to) {
  char *end = NULL;
  long value = strtol(text, &end, 10);
  if (end && *end == '\0')
    *to = value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

static void take(const struct option *option, const char *text, struct ckrt_options *options) {
  if (option->at == NOWHERE)
    return;
  unsigned char *field = (unsigned char *)options + option->at;
  if (option->kind == TEXT)
    memcpy(field, &text, sizeof text);
  else if (option->kind == NUMBER)
    take_number(text, (int *)(void *)field);
  else if (option->kind == FLAG)
    *(int *)(void *)field = 1;
}

static const struct option *find_option(const char *name) {
  for (size_t i = 0; i < sizeof all_options / sizeof *all_options; ++i)
    if (strcmp(name, all_options[i].name) == 0)
      return &all_options[i];
  return NULL;
}

enum ckrt_parsed ckrt_parse(struct ckrt_options *options, const struct ckrt_description *d, int argc, char **argv) {
  *options = (struct ckrt_options){.layers = d->layers,
                                   .embed = d->hidden,
                                   .intermediate = d->intermediate,
                                   .heads = d->heads,
                                   .kv_heads = d->kv_heads,
                                   .vocab = d->vocab,
                                   .context = d->context,
                                   .cores = 1};
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      print_usage(argv[0]);
      return CKRT_HELP;
    }
    const struct option *option = find_option(argv[i]);
    int valued = option && option->kind != FLAG;
    if (!option || (valued && i + 1 >= argc)) {
      fprintf(stderr, "Unknown or invalid arg: %s\n", argv[i]);
      print_usage(argv[0]);
      return CKRT_USAGE;
    }
    take(option, valued ? argv[++i] : NULL, options);
  }
  options->dump |= options->dump_all;
  return CKRT_RUN;
}

static int same(const char *option, int asked, int compiled) {
  if (asked == compiled)
    return 1;
  fprintf(stderr, "%s is %d, but this program was compiled for %d; compile the model anew for another\n", option, asked,
          compiled);
  return 0;
}

int ckrt_check_options(const struct ckrt_options *o, const struct ckrt_description *d) {
  /* As the seed's layout_model takes them. */
  int kv_heads = o->kv_heads > 0 ? o->kv_heads : o->heads, vocab = o->vocab > 0 ? o->vocab : 1;
  int context = o->context > 0 ? o->context : 1;
  if (!same("--layers", o->layers, d->layers) || !same("--embed", o->embed, d->hidden) ||
      !same("--intermediate", o->intermediate, d->intermediate) || !same("--heads", o->heads, d->heads) ||
      !same("--kv-heads", kv_heads, d->kv_heads) || !same("--vocab", vocab, d->vocab) ||
      !same("--ctx", context, d->context))
    return -1;
  const char *refused = o->backward ? "--backward" : o->litmus ? "--litmus" : NULL;
  if (refused) {
    fprintf(stderr, "%s: this program was compiled for inference; it has no training\n", refused);
    return -1;
  }
  const struct ckrt_buffer *other = ckrt_other_type(d);
  if (o->out_weights && other) {
    fprintf(stderr, "--out-weights: the weights are of several types (token_emb and %s differ), and the file it writes has "
                    "no dtype table to tell them apart; keep the weight file itself\n", other->name);
    return -1;
  }
  if (o->strict && !d->strict) {
    fprintf(stderr, 
            "--strict: this program was compiled without it; compile the model with `ck-jit compile --strict`\n");
    return -1;
  }
  return 0;
}
