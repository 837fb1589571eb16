/*===- Sha256.c - SHA-256 (FIPS 180-4) ------------------------------------===*/
#include "Sha256.h"
#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned by) { return x >> by | x << (32 - by); }

/** One round; the caller renames instead of moving: what was h comes back as the new a, and d as the new e. */
static inline void step(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g,
                        uint32_t *h, uint32_t word) {
  uint32_t t1 = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + word;
  *d += t1;
  *h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t state[8], const unsigned char *block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
           block[4 * i + 3];
  for (int i = 16; i < 64; ++i)
    w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; i += 8) {
    step(a, b, c, &d, e, f, g, &h, constants[i] + w[i]);
    step(h, a, b, &c, d, e, f, &g, constants[i + 1] + w[i + 1]);
    step(g, h, a, &b, c, d, e, &f, constants[i + 2] + w[i + 2]);
    step(f, g, h, &a, b, c, d, &e, constants[i + 3] + w[i + 3]);
    step(e, f, g, &h, a, b, c, &d, constants[i + 4] + w[i + 4]);
    step(d, e, f, &g, h, a, b, &c, constants[i + 5] + w[i + 5]);
    step(c, d, e, &f, g, h, a, &b, constants[i + 6] + w[i + 6]);
    step(b, c, d, &e, f, g, h, &a, constants[i + 7] + w[i + 7]);
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += sums[i];
}

void ckrt_sha256_start(struct ckrt_sha256 *hash) {
  static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memset(hash, 0, sizeof *hash);
  memcpy(hash->state, first, sizeof first);
}

void ckrt_sha256_update(struct ckrt_sha256 *hash, const unsigned char *bytes, size_t count) {
  size_t held = hash->bytes % 64;
  hash->bytes += count;
  if (held) {
    size_t taken = count < 64 - held ? count : 64 - held;
    memcpy(hash->block + held, bytes, taken);
    bytes += taken;
    count -= taken;
    if (held + taken < 64)
      return;
    compress(hash->state, hash->block);
  }
  for (; count >= 64; bytes += 64, count -= 64)
    compress(hash->state, bytes);
  memcpy(hash->block, bytes, count);
}

void ckrt_sha256_digest(const struct ckrt_sha256 *hash, unsigned char digest[32]) {
  struct ckrt_sha256 last = *hash;
  size_t held = last.bytes % 64;
  unsigned char end[128] = {0x80};
  size_t count = (held < 56 ? 64 : 128) - held;
  for (int i = 0; i < 8; ++i)
    end[count - 1 - (size_t)i] = (unsigned char)(hash->bytes * 8 >> 8 * i);
  ckrt_sha256_update(&last, end, count);
  for (int i = 0; i < 32; ++i)
    digest[i] = (unsigned char)(last.state[i / 4] >> (24 - 8 * (i % 4)));
}
