/* The compression of SHA-256 on instructions that some processors have for it. Not part of the interface. */
#ifndef AOT_RUNTIME_FORMAT_SHA256_BLOCKS_H_
#define AOT_RUNTIME_FORMAT_SHA256_BLOCKS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The constants of the 64 rounds. */
extern const uint32_t aot_sha256_rounds[64];

/* Whether this processor has the instructions. */
bool aot_sha256_is_fast(void);
/* Compresses whole blocks of 64 bytes into the hash; only where aot_sha256_is_fast. */
void aot_sha256_fast_blocks(uint32_t hash[8], const uint8_t* data, size_t blocks);

#endif
