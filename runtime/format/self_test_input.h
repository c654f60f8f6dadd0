/* The inputs of a self-test vector: pseudo-random elements that compiler and device make alike, to the bit.
 * Freestanding. */
#ifndef AOT_RUNTIME_FORMAT_SELF_TEST_INPUT_H_
#define AOT_RUNTIME_FORMAT_SELF_TEST_INPUT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes `count` elements of type `dtype` to `out`. Element i is n * 2^-fraction_bits, where n is drawn evenly from
 * [low, high] by SplitMix64 seeded with (seed, input index); integer and boolean types take n as it is, so
 * fraction_bits must be 0 for them. For float types |low| and |high| must be at most 2^8 for bfloat16, 2^11 for
 * float16, 2^24 for float32, so that each value is exact.
 *
 * Returns false, and writes nothing, for types that can't be generated (complex, 8-bit floats and below) and for ranges
 * beyond those limits or the integer type. */
bool aot_self_test_fill(uint32_t dtype, uint64_t seed, uint32_t input, uint32_t fraction_bits, int64_t low,
                        int64_t high, uint64_t count, void* out);

#ifdef __cplusplus
}
#endif

#endif
