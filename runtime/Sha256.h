/*===- Sha256.h - SHA-256 (FIPS 180-4) -----------------------------*- C -*-===*/
#ifndef CKRT_SHA256_H
#define CKRT_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct ckrt_sha256 {
  uint32_t state[8];
  uint64_t bytes;
  unsigned char block[64];
};

void ckrt_sha256_start(struct ckrt_sha256 *hash);
void ckrt_sha256_update(struct ckrt_sha256 *hash, const unsigned char *bytes, size_t count);
/** The digest of all bytes so far; more may follow. */
void ckrt_sha256_digest(const struct ckrt_sha256 *hash, unsigned char digest[32]);

#endif
