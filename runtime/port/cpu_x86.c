/* CPU features of x86-64: CPUID, and XGETBV for the register state that the operating system saves (Intel SDM volume
 * 1, 14.3 and 15.2-15.4). */
#include "runtime/port/port.h"

#if defined(__x86_64__)
#include <cpuid.h>

static uint64_t ExtendedControl(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((uint64_t)high << 32) | low;
}

typedef struct Bit {
  uint32_t bit;
  uint64_t feature;
} Bit;

static uint64_t Collect(uint32_t word, const Bit* bits, size_t count) {
  uint64_t features = 0;
  for (size_t i = 0; i < count; ++i) {
    if ((word >> bits[i].bit) & 1) features |= bits[i].feature;
  }
  return features;
}
#define COLLECT(word, bits) Collect(word, bits, sizeof(bits) / sizeof((bits)[0]))

/* Leaf 1 ECX, leaf 7 EBX and ECX, leaf 7.1 EAX, leaf 0x80000001 ECX. */
static const Bit kLeaf1[] = {{0, AOT_X86_SSE3},    {9, AOT_X86_SSSE3},   {12, AOT_X86_FMA},   {13, AOT_X86_CX16},
                             {19, AOT_X86_SSE4_1}, {20, AOT_X86_SSE4_2}, {22, AOT_X86_MOVBE}, {23, AOT_X86_POPCNT},
                             {28, AOT_X86_AVX},    {29, AOT_X86_F16C}};
static const Bit kLeaf7b[] = {{3, AOT_X86_BMI1},      {5, AOT_X86_AVX2},      {8, AOT_X86_BMI2},
                              {16, AOT_X86_AVX512F},  {17, AOT_X86_AVX512DQ}, {28, AOT_X86_AVX512CD},
                              {30, AOT_X86_AVX512BW}, {31, AOT_X86_AVX512VL}};
static const Bit kLeaf7c[] = {{11, AOT_X86_AVX512VNNI}};
static const Bit kLeaf7Sub1[] = {{5, AOT_X86_AVX512BF16}};
static const Bit kExtended[] = {{5, AOT_X86_LZCNT}};

static const uint64_t kNeedYmm = AOT_X86_AVX | AOT_X86_AVX2 | AOT_X86_F16C | AOT_X86_FMA;
static const uint64_t kNeedZmm = AOT_X86_AVX512F | AOT_X86_AVX512DQ | AOT_X86_AVX512CD | AOT_X86_AVX512BW |
                                 AOT_X86_AVX512VL | AOT_X86_AVX512VNNI | AOT_X86_AVX512BF16;

void aot_port_detect_cpu(aot_cpu* cpu) {
  uint32_t a, b, c, d;
  bool saves_state = false;
  uint64_t features = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    features |= COLLECT(c, kLeaf1);
    saves_state = ((c >> 27) & 1) != 0; /* OSXSAVE */
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    const uint32_t subleaves = a;
    features |= COLLECT(b, kLeaf7b) | COLLECT(c, kLeaf7c);
    if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) features |= COLLECT(a, kLeaf7Sub1);
  }
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) features |= COLLECT(c, kExtended);
  const uint64_t saved = saves_state ? ExtendedControl() : 0;
  if ((saved & 0x06) != 0x06) features &= ~(kNeedYmm | kNeedZmm);
  if ((saved & 0xe6) != 0xe6) features &= ~kNeedZmm;
  cpu->arch = AOT_ARCH_X86_64;
  cpu->features = features;
  cpu->vector_bits = (features & AOT_X86_AVX512F) != 0 ? 512 : (features & AOT_X86_AVX) != 0 ? 256 : 128;
}
#endif
