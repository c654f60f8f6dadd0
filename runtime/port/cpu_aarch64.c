/* CPU features of 64-bit Arm, from the auxiliary vector (Linux: Documentation/arch/arm64/elf_hwcaps.rst). */
#include "runtime/port/port.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>

/* Bit numbers of AT_HWCAP and AT_HWCAP2, spelled out for C libraries older than the kernel. */
enum {
  kFp = 0,
  kAsimd = 1,
  kCrc32 = 7,
  kAtomics = 8,
  kFphp = 9,
  kAsimdhp = 10,
  kAsimdrdm = 12,
  kLrcpc = 15,
  kAsimddp = 20,
  kSve = 22
};
enum { kSve2 = 1, kI8mm = 13, kBf16 = 14 };
enum { kGetSveLength = 51, kSveLengthMask = 0xffff }; /* PR_SVE_GET_VL */

void aot_port_detect_cpu(aot_cpu* cpu) {
  const uint64_t first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  const struct {
    uint64_t mask, word, feature;
  } kBits[] = {
      {UINT64_C(1) << kFp, first, AOT_ARM_FP},
      {UINT64_C(1) << kAsimd, first, AOT_ARM_ASIMD},
      {UINT64_C(1) << kCrc32, first, AOT_ARM_CRC32},
      {UINT64_C(1) << kAtomics, first, AOT_ARM_ATOMICS},
      {UINT64_C(1) << kAsimdrdm, first, AOT_ARM_ASIMDRDM},
      {(UINT64_C(1) << kFphp) | (UINT64_C(1) << kAsimdhp), first, AOT_ARM_FP16},
      {UINT64_C(1) << kLrcpc, first, AOT_ARM_LRCPC},
      {UINT64_C(1) << kAsimddp, first, AOT_ARM_ASIMDDP},
      {UINT64_C(1) << kSve, first, AOT_ARM_SVE},
      {UINT64_C(1) << kSve2, second, AOT_ARM_SVE2},
      {UINT64_C(1) << kI8mm, second, AOT_ARM_I8MM},
      {UINT64_C(1) << kBf16, second, AOT_ARM_BF16},
  };
  cpu->arch = AOT_ARCH_AARCH64;
  cpu->features = 0;
  for (size_t i = 0; i < sizeof kBits / sizeof kBits[0]; ++i) {
    if ((kBits[i].word & kBits[i].mask) == kBits[i].mask) cpu->features |= kBits[i].feature;
  }
  cpu->vector_bits = 128;
  if ((cpu->features & AOT_ARM_SVE) != 0) {
    const int length = prctl(kGetSveLength, 0, 0, 0, 0);
    if (length > 0) cpu->vector_bits = 8u * ((uint32_t)length & kSveLengthMask);
  }
}
#endif
