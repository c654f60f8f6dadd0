/* SHA-256 (FIPS 180-4), freestanding: the digests of the artifact format must be checkable where no library is. */
#ifndef AOT_RUNTIME_FORMAT_SHA256_H_
#define AOT_RUNTIME_FORMAT_SHA256_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AOT_SHA256_SIZE 32

typedef struct aot_sha256_state {
  uint32_t hash[8];
  uint64_t length; /* bytes so far */
  uint8_t block[64];
} aot_sha256_state;

void aot_sha256_begin(aot_sha256_state* state);
void aot_sha256_update(aot_sha256_state* state, const void* data, size_t size);
void aot_sha256_end(aot_sha256_state* state, uint8_t digest[AOT_SHA256_SIZE]);

/* All at once. */
void aot_sha256(const void* data, size_t size, uint8_t digest[AOT_SHA256_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
