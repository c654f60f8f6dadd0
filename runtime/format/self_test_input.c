#include "runtime/format/self_test_input.h"

#include <string.h>

#include "runtime/format/manifest.h"

/* SplitMix64 (Steele, Lea, Flood 2014): a counter through a mixer, so that any element could be made alone. */
static uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Bits of n * 2^-fraction_bits as a binary float of the given widths; n is exact in it, subnormals don't occur. */
static uint64_t FloatBits(int64_t n, uint32_t fraction_bits, uint32_t mantissa_bits, uint32_t exponent_bits) {
  if (n == 0) return 0;
  const uint64_t sign = n < 0 ? 1 : 0;
  uint64_t magnitude = n < 0 ? (uint64_t)0 - (uint64_t)n : (uint64_t)n;
  uint32_t top = 0; /* index of the highest set bit */
  while (magnitude >> (top + 1) != 0) ++top;
  const int64_t bias = (INT64_C(1) << (exponent_bits - 1)) - 1;
  const uint64_t exponent = (uint64_t)((int64_t)top - (int64_t)fraction_bits + bias);
  magnitude &= ~(UINT64_C(1) << top);
  const uint64_t mantissa =
      top <= mantissa_bits ? magnitude << (mantissa_bits - top) : magnitude >> (top - mantissa_bits);
  return (sign << (mantissa_bits + exponent_bits)) | (exponent << mantissa_bits) | mantissa;
}

typedef struct Kind {
  uint32_t mantissa_bits, exponent_bits; /* floats; 0 for integers */
  int64_t low, high;                     /* what the type can hold */
  uint32_t max_fraction_bits;            /* so that the smallest value is normal */
} Kind;

static bool KindOf(uint32_t dtype, Kind* kind) {
  switch (dtype) {
    case AOT_FLOAT16:
      *kind = (Kind){10, 5, -(1 << 11), 1 << 11, 14};
      return true;
    case AOT_BFLOAT16:
      *kind = (Kind){7, 8, -(1 << 8), 1 << 8, 32};
      return true;
    case AOT_FLOAT32:
      *kind = (Kind){23, 8, -(1 << 24), 1 << 24, 32};
      return true;
    case AOT_FLOAT64:
      *kind = (Kind){52, 11, -(INT64_C(1) << 53), INT64_C(1) << 53, 32};
      return true;
    case AOT_BOOL:
      *kind = (Kind){0, 0, 0, 1, 0};
      return true;
    case AOT_UINT2:
      *kind = (Kind){0, 0, 0, 3, 0};
      return true;
    case AOT_INT2:
      *kind = (Kind){0, 0, -2, 1, 0};
      return true;
    case AOT_UINT4:
      *kind = (Kind){0, 0, 0, 15, 0};
      return true;
    case AOT_INT4:
      *kind = (Kind){0, 0, -8, 7, 0};
      return true;
    case AOT_UINT8:
      *kind = (Kind){0, 0, 0, UINT8_MAX, 0};
      return true;
    case AOT_INT8:
      *kind = (Kind){0, 0, INT8_MIN, INT8_MAX, 0};
      return true;
    case AOT_UINT16:
      *kind = (Kind){0, 0, 0, UINT16_MAX, 0};
      return true;
    case AOT_INT16:
      *kind = (Kind){0, 0, INT16_MIN, INT16_MAX, 0};
      return true;
    case AOT_UINT32:
      *kind = (Kind){0, 0, 0, UINT32_MAX, 0};
      return true;
    case AOT_INT32:
      *kind = (Kind){0, 0, INT32_MIN, INT32_MAX, 0};
      return true;
    case AOT_UINT64:
      *kind = (Kind){0, 0, 0, INT64_MAX, 0};
      return true;
    case AOT_INT64:
      *kind = (Kind){0, 0, INT64_MIN, INT64_MAX, 0};
      return true;
    default:
      return false;
  }
}

bool aot_self_test_fill(uint32_t dtype, uint64_t seed, uint32_t input, uint32_t fraction_bits, int64_t low,
                        int64_t high, uint64_t count, void* out) {
  Kind kind;
  if (!KindOf(dtype, &kind) || low > high || low < kind.low || high > kind.high ||
      fraction_bits > kind.max_fraction_bits) {
    return false;
  }
  const uint32_t bytes = aot_dtype_bytes(dtype);
  const uint64_t range = (uint64_t)high - (uint64_t)low + 1; /* 0: all 2^64 values */
  const uint64_t start = Mix(seed + UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)input + 1));
  uint8_t* p = (uint8_t*)out;
  for (uint64_t i = 0; i < count; ++i, p += bytes) {
    const uint64_t random = Mix(start + UINT64_C(0x9e3779b97f4a7c15) * (i + 1));
    const int64_t n = (int64_t)((uint64_t)low + (range != 0 ? random % range : random));
    uint64_t bits = (uint64_t)n;
    if (kind.mantissa_bits != 0) bits = FloatBits(n, fraction_bits, kind.mantissa_bits, kind.exponent_bits);
    for (uint32_t b = 0; b < bytes; ++b) p[b] = (uint8_t)(bits >> (8 * b));
  }
  return true;
}
