//===- Sha256.cpp - SHA-256 of payloads of any length ---------------------===//
#include "Sha256.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;
using namespace ckjit::weights;

// Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
static constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t sigma(uint32_t x, int a, int b, int c) { return rotr(x, a) ^ rotr(x, b) ^ rotr(x, c); }

void Sha256::compress(const uint8_t *block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i)
    w[i] = support::endian::read32be(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t t1 = h + sigma(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    uint32_t t2 = sigma(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += sum[i];
}

void Sha256::update(ArrayRef<uint8_t> data) {
  size_t held = total % pending.size();
  total += data.size();
  if (held != 0) {
    size_t taken = std::min(pending.size() - held, data.size());
    std::copy_n(data.begin(), taken, pending.begin() + held);
    data = data.drop_front(taken);
    if (held + taken < pending.size())
      return;
    compress(pending.data());
  }
  for (; data.size() >= pending.size(); data = data.drop_front(pending.size()))
    compress(data.data());
  std::copy(data.begin(), data.end(), pending.begin());
}

Digest Sha256::finish() {
  uint64_t bits = total * 8;
  size_t held = total % pending.size();
  // 0x80, zeros up to 8 bytes before a block's end, then the length in bits.
  std::array<uint8_t, 128> padding{0x80};
  size_t count = (held < 56 ? 56 : 120) - held;
  support::endian::write64be(padding.data() + count, bits);
  update(ArrayRef(padding).take_front(count + 8));
  Digest digest;
  for (int i = 0; i < 8; ++i)
    support::endian::write32be(digest.data() + 4 * i, state[i]);
  return digest;
}
