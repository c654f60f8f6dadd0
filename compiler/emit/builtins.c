// The functions that LLVM may call on its own account, for code objects that import nothing. The linker takes them in
// where generated code refers to them. Compiled once per architecture, for its oldest level, so they must not rely on
// any extension.
#include <stddef.h>
#include <stdint.h>

// 16 bytes at any address: every target here has such registers.
typedef uint8_t Block __attribute__((vector_size(16), aligned(1), may_alias));

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  uint8_t* d = to;
  const uint8_t* s = from;
  for (; size >= 64; size -= 64, d += 64, s += 64) {
    const Block a = *(const Block*)s, b = *(const Block*)(s + 16), c = *(const Block*)(s + 32),
                e = *(const Block*)(s + 48);
    *(Block*)d = a;
    *(Block*)(d + 16) = b;
    *(Block*)(d + 32) = c;
    *(Block*)(d + 48) = e;
  }
  for (; size >= 16; size -= 16, d += 16, s += 16) *(Block*)d = *(const Block*)s;
  for (; size > 0; --size) *d++ = *s++;
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if ((uintptr_t)d - (uintptr_t)s >= size) {
    // Forwards is right: the target starts before the source or past its end.
    for (; size >= 16; size -= 16, d += 16, s += 16) *(Block*)d = *(const Block*)s;
    for (; size > 0; --size) *d++ = *s++;
    return to;
  }
  for (; size >= 16; size -= 16) *(Block*)(d + size - 16) = *(const Block*)(s + size - 16);
  for (; size > 0; --size) d[size - 1] = s[size - 1];
  return to;
}

void* memset(void* to, int value, size_t size) {
  uint8_t* d = to;
  const uint8_t v = (uint8_t)value;
  const Block block = {v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v};
  for (; size >= 64; size -= 64, d += 64) {
    *(Block*)d = block;
    *(Block*)(d + 16) = block;
    *(Block*)(d + 32) = block;
    *(Block*)(d + 48) = block;
  }
  for (; size >= 16; size -= 16, d += 16) *(Block*)d = block;
  for (; size > 0; --size) *d++ = v;
  return to;
}

// Half-precision conversions, which x86-64 without F16C calls. 64-bit Arm has instructions.
#if defined(__x86_64__)
static float FloatOf(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t BitsOf(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

static _Float16 HalfOf(uint16_t bits) {
  _Float16 value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

float __extendhfsf2(_Float16 half) {
  uint16_t bits;
  __builtin_memcpy(&bits, &half, sizeof bits);
  const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) {  // infinity; NaN becomes quiet
    return FloatOf(sign | 0x7f800000 | (magnitude & 0x3ff) << 13 | (magnitude > 0x7c00 ? 0x400000 : 0));
  }
  // Shifted into place the exponent is too small by 112; the product corrects it, exactly, for subnormals too.
  return FloatOf(sign | BitsOf(FloatOf(magnitude << 13) * 0x1p112f));
}

// Round to nearest, ties to even.
_Float16 __truncsfhf2(float value) {
  const uint32_t bits = BitsOf(value), magnitude = bits & 0x7fffffff;
  const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000);
  if (magnitude > 0x7f800000) return HalfOf(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x477ff000) return HalfOf(sign | 0x7c00);  // 65520 and above round to infinity
  if (magnitude < 0x38800000) {                               // below 2^-14: a subnormal, in steps of 2^-24
    // Adding 0.5 aligns the lowest bit of the sum to 2^-24, so that the addition itself rounds.
    return HalfOf(sign | (uint16_t)(BitsOf(FloatOf(magnitude) + 0.5f) - 0x3f000000));
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return HalfOf(sign | (uint16_t)((magnitude - 0x38000000 + 0xfff + odd) >> 13));
}

// Rounding to float first would round twice; rounding it to odd makes the second rounding right.
_Float16 __truncdfhf2(double value) {
  float near = (float)value;
  uint32_t bits = BitsOf(near);
  if ((double)near != value && near == near && (bits & 1) == 0) {
    const int toward_zero_is_down = (double)near > value ? bits >> 31 == 0 : bits >> 31 != 0;
    bits = toward_zero_is_down ? bits - 1 : bits + 1;
    near = FloatOf(bits);
  }
  return __truncsfhf2(near);
}
#endif
