#include "runtime/format/sha256.h"

#include <stdatomic.h>
#include <string.h>

#include "runtime/format/sha256_blocks.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
const uint32_t aot_sha256_rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t Rotate(uint32_t x, unsigned n) { return (x >> n) | (x << (32 - n)); }

static uint32_t LoadBig(const uint8_t* p) {
  return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static void Compress(uint32_t hash[8], const uint8_t* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = LoadBig(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = Rotate(w[i - 15], 7) ^ Rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = Rotate(w[i - 2], 17) ^ Rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7];
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = Rotate(e, 6) ^ Rotate(e, 11) ^ Rotate(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + aot_sha256_rounds[i] + w[i];
    const uint32_t s0 = Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  hash[0] += a;
  hash[1] += b;
  hash[2] += c;
  hash[3] += d;
  hash[4] += e;
  hash[5] += f;
  hash[6] += g;
  hash[7] += h;
}

static void Blocks(uint32_t hash[8], const uint8_t* data, size_t blocks) {
  /* Asked once: the answer takes longer than some blocks do. Whoever asks at the same time gets the same answer. */
  enum { kUnknown, kSlow, kFast };
  static atomic_int speed = kUnknown;
  int known = atomic_load_explicit(&speed, memory_order_relaxed);
  if (known == kUnknown) {
    known = aot_sha256_is_fast() ? kFast : kSlow;
    atomic_store_explicit(&speed, known, memory_order_relaxed);
  }
  if (known == kFast) {
    aot_sha256_fast_blocks(hash, data, blocks);
    return;
  }
  for (; blocks > 0; --blocks, data += 64) Compress(hash, data);
}

void aot_sha256_begin(aot_sha256_state* state) {
  static const uint32_t kInitial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(state->hash, kInitial, sizeof kInitial);
  state->length = 0;
}

void aot_sha256_update(aot_sha256_state* state, const void* data, size_t size) {
  const uint8_t* p = (const uint8_t*)data;
  size_t held = (size_t)(state->length % 64);
  state->length += size;
  if (held != 0) {
    const size_t take = size < 64 - held ? size : 64 - held;
    if (take != 0) memcpy(state->block + held, p, take);
    if (held + take < 64) return;
    Blocks(state->hash, state->block, 1);
    p += take;
    size -= take;
  }
  if (size >= 64) Blocks(state->hash, p, size / 64);
  p += size / 64 * 64;
  size %= 64;
  if (size != 0) memcpy(state->block, p, size);
}

void aot_sha256_end(aot_sha256_state* state, uint8_t digest[AOT_SHA256_SIZE]) {
  static const uint8_t kPadding[64] = {0x80};
  uint8_t bits[8];
  const uint64_t length = state->length * 8;
  for (int i = 0; i < 8; ++i) bits[i] = (uint8_t)(length >> (56 - 8 * i));
  const size_t held = (size_t)(state->length % 64);
  aot_sha256_update(state, kPadding, held < 56 ? 56 - held : 120 - held);
  aot_sha256_update(state, bits, sizeof bits);
  for (int i = 0; i < 8; ++i) {
    digest[4 * i] = (uint8_t)(state->hash[i] >> 24);
    digest[4 * i + 1] = (uint8_t)(state->hash[i] >> 16);
    digest[4 * i + 2] = (uint8_t)(state->hash[i] >> 8);
    digest[4 * i + 3] = (uint8_t)state->hash[i];
  }
}

void aot_sha256(const void* data, size_t size, uint8_t digest[AOT_SHA256_SIZE]) {
  aot_sha256_state state;
  aot_sha256_begin(&state);
  aot_sha256_update(&state, data, size);
  aot_sha256_end(&state, digest);
}
