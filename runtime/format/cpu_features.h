/* Names of CPU features, as a manifest requires them and a port detects them. Freestanding.
 *
 * Names are those of Linux's /proc/cpuinfo where it has one ("avx512f", "asimddp"); "fp16" stands for the two Arm words
 * fphp and asimdhp, "lzcnt" for abm. A feature is a bit of a 64-bit mask; each architecture has bits of its own. */
#ifndef AOT_RUNTIME_FORMAT_CPU_FEATURES_H_
#define AOT_RUNTIME_FORMAT_CPU_FEATURES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AOT_ARCH_UNKNOWN = 0, AOT_ARCH_X86_64 = 1, AOT_ARCH_AARCH64 = 2 };

/* x86-64. AVX and above also mean that the operating system saves the registers. */
#define AOT_X86_SSE3 (UINT64_C(1) << 0)
#define AOT_X86_SSSE3 (UINT64_C(1) << 1)
#define AOT_X86_SSE4_1 (UINT64_C(1) << 2)
#define AOT_X86_SSE4_2 (UINT64_C(1) << 3)
#define AOT_X86_POPCNT (UINT64_C(1) << 4)
#define AOT_X86_CX16 (UINT64_C(1) << 5)
#define AOT_X86_AVX (UINT64_C(1) << 6)
#define AOT_X86_AVX2 (UINT64_C(1) << 7)
#define AOT_X86_BMI1 (UINT64_C(1) << 8)
#define AOT_X86_BMI2 (UINT64_C(1) << 9)
#define AOT_X86_F16C (UINT64_C(1) << 10)
#define AOT_X86_FMA (UINT64_C(1) << 11)
#define AOT_X86_LZCNT (UINT64_C(1) << 12)
#define AOT_X86_MOVBE (UINT64_C(1) << 13)
#define AOT_X86_AVX512F (UINT64_C(1) << 14)
#define AOT_X86_AVX512BW (UINT64_C(1) << 15)
#define AOT_X86_AVX512CD (UINT64_C(1) << 16)
#define AOT_X86_AVX512DQ (UINT64_C(1) << 17)
#define AOT_X86_AVX512VL (UINT64_C(1) << 18)
#define AOT_X86_AVX512VNNI (UINT64_C(1) << 19)
#define AOT_X86_AVX512BF16 (UINT64_C(1) << 20)

/* 64-bit Arm. */
#define AOT_ARM_FP (UINT64_C(1) << 0)
#define AOT_ARM_ASIMD (UINT64_C(1) << 1)
#define AOT_ARM_CRC32 (UINT64_C(1) << 2)
#define AOT_ARM_ATOMICS (UINT64_C(1) << 3)
#define AOT_ARM_ASIMDRDM (UINT64_C(1) << 4)
#define AOT_ARM_FP16 (UINT64_C(1) << 5)
#define AOT_ARM_LRCPC (UINT64_C(1) << 6)
#define AOT_ARM_ASIMDDP (UINT64_C(1) << 7)
#define AOT_ARM_SVE (UINT64_C(1) << 8)
#define AOT_ARM_SVE2 (UINT64_C(1) << 9)
#define AOT_ARM_I8MM (UINT64_C(1) << 10)
#define AOT_ARM_BF16 (UINT64_C(1) << 11)

/* What a processor offers. */
typedef struct aot_cpu {
  uint32_t arch;        /* AOT_ARCH_... */
  uint64_t features;    /* bits of that architecture */
  uint32_t vector_bits; /* widest vector registers that code may use */
} aot_cpu;

/* The bits behind a name, or 0 if the architecture has no such feature. */
uint64_t aot_cpu_feature_bits(uint32_t arch, const char* name, size_t size);

/* AOT_ARCH_... of a triple, by its first component. */
uint32_t aot_cpu_arch_of_triple(const char* triple, size_t size);

/* AOT_ARCH_... of an ELF machine number, and the architecture's name ("aarch64"; "unknown"). */
uint32_t aot_cpu_arch_of_elf(uint32_t machine);
const char* aot_cpu_arch_name(uint32_t arch);

#ifdef __cplusplus
}
#endif

#endif
