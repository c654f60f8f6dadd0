/* Little-endian loads and checked size arithmetic for readers of untrusted bytes. Freestanding; no alignment is
 * assumed. */
#ifndef AOT_RUNTIME_FORMAT_BYTES_H_
#define AOT_RUNTIME_FORMAT_BYTES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that somebody else owns. */
typedef struct aot_span {
  const uint8_t* data;
  size_t size;
} aot_span;

/* Text inside a manifest: `size` bytes without a NUL among them, followed by one, so that data is also a C string. */
typedef struct aot_text {
  const char* data;
  uint32_t size;
} aot_text;

static inline uint16_t aot_load_u16(const uint8_t* p) { return (uint16_t)(p[0] | ((unsigned)p[1] << 8)); }

static inline uint32_t aot_load_u32(const uint8_t* p) {
  return (uint32_t)p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16) | ((uint32_t)p[3] << 24);
}

static inline uint64_t aot_load_u64(const uint8_t* p) {
  return (uint64_t)aot_load_u32(p) | ((uint64_t)aot_load_u32(p + 4) << 32);
}

/* Each gives false, and leaves *out alone, where the result doesn't fit 64 bits. */
static inline bool aot_add_u64(uint64_t a, uint64_t b, uint64_t* out) {
  if (a > UINT64_MAX - b) return false;
  *out = a + b;
  return true;
}

static inline bool aot_multiply_u64(uint64_t a, uint64_t b, uint64_t* out) {
  if (b != 0 && a > UINT64_MAX / b) return false;
  *out = a * b;
  return true;
}

/* `alignment` is a power of two. */
static inline bool aot_round_up_u64(uint64_t value, uint64_t alignment, uint64_t* out) {
  uint64_t sum;
  if (!aot_add_u64(value, alignment - 1, &sum)) return false;
  *out = sum & ~(alignment - 1);
  return true;
}

static inline bool aot_is_power_of_two(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

/* Whether [offset, offset + length) lies inside [0, size). */
static inline bool aot_range_fits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

#ifdef __cplusplus
}
#endif

#endif
