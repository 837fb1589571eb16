/*===- WeightFile.c - Reads BUMPWGT3, BUMPWGT2 and headerless files -------===*/
#include "WeightFile.h"
#include "Buffers.h"
#include "Sha256.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 8, HEADER_BYTES = 128, TABLE_AT = 132, CHECKSUM_AT = 64, CHECKSUM_BYTES = 32 };
enum { FP32 = 0, INT8 = 3, INT4 = 4, Q4_K = 7, Q6_K = 8, Q8_K = 10 };

/** By dtype code. */
static const char *const dtype_names[] = {"fp32", "bf16", "fp16", "int8", "int4", "q4_0", "q4_1",
                                          "q4_k", "q6_k", "q8_0", "q8_k", "q5_0", "q5_1"};

/** Some weight may have it. */
static int is_weight_type(unsigned dtype) {
  return dtype < sizeof dtype_names / sizeof *dtype_names && dtype != INT8 && dtype != INT4 && dtype != Q8_K;
}

/** Larger files are read without hashing them first. */
static const uint64_t checked_bytes = UINT64_C(256) << 20;

static uint32_t read32(const unsigned char *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t read64(const unsigned char *at) { return read32(at) | (uint64_t)read32(at + 4) << 32; }

/** Reads `count` bytes at `offset`, all or -1. */
static int read_at(const struct ckrt_weight_file *file, uint64_t offset, void *to, uint64_t count) {
  if (offset > file->size || count > file->size - offset)
    return -1;
  for (unsigned char *at = to; count;) {
    ssize_t got = pread(file->fd, at, count < 1 << 30 ? count : 1 << 30, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return -1;
    at += got;
    offset += (uint64_t)got;
    count -= (uint64_t)got;
  }
  return 0;
}

const char *ckrt_dtype_name(unsigned dtype) {
  return dtype < sizeof dtype_names / sizeof *dtype_names ? dtype_names[dtype] : "unknown";
}

int ckrt_dtype_by_environment(void) {
  static const struct {
    const char *name;
    int dtype;
  } seed_names[] = {{"q4_k_m", Q4_K}, {"Q4_K", Q4_K}, {"Q4_K_M", Q4_K}, {"q6_k_l", Q6_K}, {"Q6_K", Q6_K},
                    {"Q6_K_L", Q6_K}};
  const char *value = getenv("CK_WEIGHT_DTYPE");
  for (size_t i = 0; value && i < sizeof seed_names / sizeof *seed_names; ++i)
    if (strcmp(value, seed_names[i].name) == 0)
      return seed_names[i].dtype;
  for (unsigned dtype = 0; value && dtype < sizeof dtype_names / sizeof *dtype_names; ++dtype)
    if (is_weight_type(dtype) && strcmp(value, dtype_names[dtype]) == 0)
      return (int)dtype;
  return -1;
}

/** "token_emb", "wq of layer 3". */
struct label {
  char text[CKRT_NAME_BYTES + 32];
};

static struct label label_of(const struct ckrt_buffer *tensor) {
  struct label label;
  if (tensor->layer < 0)
    snprintf(label.text, sizeof label.text, "%s", tensor->name);
  else
    snprintf(label.text, sizeof label.text, "%s of layer %" PRId32, tensor->name, tensor->layer);
  return label;
}

static int take_dtype(struct ckrt_weight_file *file, const struct ckrt_description *description, uint32_t index,
                      unsigned dtype, struct ckrt_error *error) {
  const struct ckrt_buffer *tensor = ckrt_tensor(description, index);
  if (!is_weight_type(dtype) || (dtype != FP32 && !ckrt_may_be_quantized(tensor->name)))
    return ckrt_fail(error, -1, "%s: %s has dtype %u (%s), expected %" PRIu32 " (%s), for which the model was compiled",
                     file->path, label_of(tensor).text, dtype, ckrt_dtype_name(dtype), tensor->dtype,
                     ckrt_dtype_name(tensor->dtype));
  file->quantized |= dtype != FP32;
  if (dtype != tensor->dtype && file->other < 0) {
    file->other = (int32_t)index;
    file->other_dtype = dtype;
  }
  return 0;
}

int ckrt_weights_assume(struct ckrt_weight_file *file, const struct ckrt_description *description, unsigned dtype) {
  for (uint32_t i = 0; i < description->tensors; ++i) {
    unsigned own = ckrt_may_be_quantized(ckrt_tensor(description, i)->name) ? dtype : FP32;
    struct ckrt_error none;
    if (take_dtype(file, description, i, own, &none) != 0)
      return -1;
  }
  return 0;
}

int ckrt_weights_check_types(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                             struct ckrt_error *error) {
  if (file->other < 0)
    return 0;
  const struct ckrt_buffer *tensor = ckrt_tensor(description, (uint32_t)file->other);
  return ckrt_fail(error, -1, "%s: %s is %s%s, expected %s, for which the model was compiled", file->path,
                   label_of(tensor).text, ckrt_dtype_name(file->other_dtype),
                   file->version == 3 ? "" : " (no dtype table: all weights are of CK_WEIGHT_DTYPE, by default fp32)",
                   ckrt_dtype_name(tensor->dtype));
}

static int read_table(struct ckrt_weight_file *file, const struct ckrt_description *description,
                      struct ckrt_error *error) {
  unsigned char header[TABLE_AT];
  if (read_at(file, 0, header, sizeof header) != 0)
    return ckrt_fail(error, -1, "%s: has %" PRIu64 " bytes, expected at least the %d of a BUMPWGT3 header", file->path,
                     file->size, (int)TABLE_AT);
  uint32_t version = read32(header + MAGIC_BYTES), length = read32(header + HEADER_BYTES);
  if (version < 3)
    return ckrt_fail(error, -1, "%s: header version is %u, expected 3", file->path, version);
  if (length != description->tensors)
    return ckrt_fail(error, -1, "%s: dtype table has %u entries, expected %u: 14 for each of %d layers and 4",
                     file->path, length, description->tensors, description->layers);
  unsigned char dtypes[1024];
  for (uint32_t first = 0; first < length;) {
    uint32_t count = length - first < sizeof dtypes ? length - first : (uint32_t)sizeof dtypes;
    if (read_at(file, TABLE_AT + first, dtypes, count) != 0)
      return ckrt_fail(error, -1, "%s: ends inside the dtype table, at byte %" PRIu64, file->path, file->size);
    for (uint32_t i = 0; i < count; ++i)
      if (take_dtype(file, description, first + i, dtypes[i], error) != 0)
        return -1;
    first += count;
  }
  file->tensors_at = TABLE_AT + (uint64_t)length;
  return 0;
}

static int open_regular(struct ckrt_weight_file *file, struct ckrt_error *error) {
  /* Opening a pipe would wait for a writer. */
  file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (file->fd < 0 || fstat(file->fd, &status) != 0)
    return ckrt_fail(error, -1, "%s: %s", file->path, strerror(errno));
  if (!S_ISREG(status.st_mode))
    return ckrt_fail(error, -1, "%s: not a regular file, expected a weight file", file->path);
  file->size = (uint64_t)status.st_size;
  return 0;
}

int ckrt_weights_open(struct ckrt_weight_file *file, const char *path, const struct ckrt_description *description,
                      unsigned dtype, struct ckrt_error *error) {
  *file = (struct ckrt_weight_file){.fd = -1, .path = path, .other = -1};
  if (open_regular(file, error) != 0)
    return -1;
  char magic[MAGIC_BYTES];
  if (read_at(file, 0, magic, sizeof magic) != 0)
    return ckrt_fail(error, -1, "%s: has %" PRIu64 " bytes, expected a weight file", path, file->size);
  if (memcmp(magic, "BUMPWGT3", sizeof magic) == 0) {
    file->version = 3;
    return read_table(file, description, error);
  }
  if (memcmp(magic, "BUMPWGT2", sizeof magic) == 0) {
    file->version = 2;
    file->tensors_at = HEADER_BYTES;
  }
  return ckrt_weights_assume(file, description, dtype);
}

/** The header's dimensions; the seed wrote them and never looked. */
static int check_header(const unsigned char *header, const struct ckrt_weight_file *file,
                        const struct ckrt_description *description, struct ckrt_error *error) {
  const struct ckrt_description *d = description;
  int64_t head = d->hidden / d->heads;
  const struct {
    const char *name;
    int at, bytes;
    int64_t expected;
  } fields[] = {{"num_layers", 16, 4, d->layers},
                {"vocab_size", 20, 4, d->vocab},
                {"embed_dim", 24, 4, d->hidden},
                {"context length", 28, 4, d->context},
                {"num_heads", 32, 4, d->heads},
                {"head_dim", 36, 4, head},
                {"aligned embed dim", 40, 8, ckrt_aligned(d->hidden)},
                {"aligned head dim", 48, 8, ckrt_aligned(head)},
                {"aligned context", 56, 8, ckrt_aligned(d->context)}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
    uint64_t found = fields[i].bytes == 4 ? read32(header + fields[i].at) : read64(header + fields[i].at);
    if (found != (uint64_t)fields[i].expected)
      return ckrt_fail(error, -1, "%s: header %s is %" PRIu64 ", expected %" PRId64 ", as the model was compiled",
                       file->path, fields[i].name, found, fields[i].expected);
  }
  return 0;
}

/** Hashes from `from` to `to`. */
static int hash_bytes(const struct ckrt_weight_file *file, uint64_t from, uint64_t to, struct ckrt_sha256 *hash,
                      struct ckrt_error *error) {
  enum { PIECE = 1 << 20 };
  unsigned char *piece = malloc(PIECE);
  if (!piece)
    return ckrt_fail(error, -1, "%s: no memory to check it", file->path);
  int result = 0;
  while (result == 0 && from < to) {
    uint64_t count = to - from < PIECE ? to - from : PIECE;
    if (read_at(file, from, piece, count) != 0)
      result = ckrt_fail(error, -1, "%s: cannot read at byte %" PRIu64, file->path, from);
    ckrt_sha256_update(hash, piece, count);
    from += count;
  }
  free(piece);
  return result;
}

/** The checksum covers all up to the file's end; with a footer behind the tensors, up to the last tensor byte. */
static int check_sum(const unsigned char *header, const struct ckrt_weight_file *file, uint64_t end,
                     struct ckrt_error *error) {
  static const unsigned char none[CHECKSUM_BYTES];
  const unsigned char *expected = header + CHECKSUM_AT;
  if (file->size > checked_bytes || (file->version == 2 && memcmp(expected, none, sizeof none) == 0))
    return 0;
  struct ckrt_sha256 hash;
  unsigned char digest[CHECKSUM_BYTES];
  ckrt_sha256_start(&hash);
  if (hash_bytes(file, HEADER_BYTES, end, &hash, error) != 0)
    return -1;
  ckrt_sha256_digest(&hash, digest);
  if (memcmp(digest, expected, sizeof digest) == 0)
    return 0;
  if (hash_bytes(file, end, file->size, &hash, error) != 0)
    return -1;
  ckrt_sha256_digest(&hash, digest);
  if (memcmp(digest, expected, sizeof digest) == 0)
    return 0;
  return ckrt_fail(error, -1, "%s: the payload's SHA-256 isn't the header's: the file is damaged or was changed",
                   file->path);
}

int ckrt_weights_check(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                       struct ckrt_error *error) {
  unsigned char header[HEADER_BYTES];
  uint64_t bytes = 0; /* below 2^63: the compiler has laid the tensors out in an arena */
  for (uint32_t i = 0; i < description->tensors; ++i)
    bytes += ckrt_tensor(description, i)->bytes;
  if (read_at(file, 0, header, MAGIC_BYTES) == 0 && file->version == 0 && memcmp(header, "BUMPWGT", 7) == 0)
    return ckrt_fail(error, -1, "%s: magic is BUMPWGT%c, expected BUMPWGT3 or BUMPWGT2: this version of the format "
                                "cannot be read", file->path, header[7] >= ' ' && header[7] < 127 ? header[7] : '?');
  if (file->size < file->tensors_at || file->size - file->tensors_at < bytes)
    return ckrt_fail(error, -1, "%s: has %" PRIu64 " bytes, expected %" PRIu64 ": %" PRIu64 " bytes of tensors behind "
                                "%" PRIu64, file->path, file->size, file->tensors_at + bytes, bytes, file->tensors_at);
  if (file->version == 0)
    return 0;
  if (read_at(file, 0, header, sizeof header) != 0)
    return ckrt_fail(error, -1, "%s: cannot read the header", file->path);
  if (check_header(header, file, description, error) != 0)
    return -1;
  return check_sum(header, file, file->tensors_at + bytes, error);
}

struct reading {
  const struct ckrt_weight_file *file;
  const struct ckrt_description *description;
  unsigned char *base;
  atomic_int failed;
};

/** Threads take pieces in turn, so that each touches its share of the pages first. */
static void read_share(void *argument, unsigned tid, unsigned threads) {
  struct reading *reading = argument;
  const uint64_t piece = UINT64_C(4) << 20;
  uint64_t from = reading->file->tensors_at, turn = 0;
  for (uint32_t i = 0; i < reading->description->tensors; ++i) {
    const struct ckrt_buffer *tensor = ckrt_tensor(reading->description, i);
    for (uint64_t at = 0; at < tensor->bytes; at += piece) {
      uint64_t count = tensor->bytes - at < piece ? tensor->bytes - at : piece;
      if (turn++ % threads == tid &&
          read_at(reading->file, from + at, reading->base + tensor->offset + at, count) != 0)
        atomic_store(&reading->failed, 1);
    }
    from += tensor->bytes;
  }
}

int ckrt_weights_read(const struct ckrt_weight_file *file, const struct ckrt_description *description,
                      unsigned char *base, struct ckrt_team *team, struct ckrt_error *error) {
  struct reading reading = {.file = file, .description = description, .base = base};
  atomic_init(&reading.failed, 0);
  ckrt_team_run(team, read_share, &reading);
  if (atomic_load(&reading.failed))
    return ckrt_fail(error, -1, "%s: cannot read the tensors: %s", file->path, strerror(errno));
  return 0;
}

void ckrt_weights_close(struct ckrt_weight_file *file) {
  if (file->fd >= 0)
    close(file->fd);
  file->fd = -1;
}
