#include "runtime/format/cpu_features.h"

#include <stdbool.h>
#include <string.h>

typedef struct Feature {
  const char* name;
  uint64_t bits;
} Feature;

static const Feature kX86[] = {
    {"sse3", AOT_X86_SSE3},
    {"ssse3", AOT_X86_SSSE3},
    {"sse4.1", AOT_X86_SSE4_1},
    {"sse4.2", AOT_X86_SSE4_2},
    {"popcnt", AOT_X86_POPCNT},
    {"cx16", AOT_X86_CX16},
    {"avx", AOT_X86_AVX},
    {"avx2", AOT_X86_AVX2},
    {"bmi1", AOT_X86_BMI1},
    {"bmi2", AOT_X86_BMI2},
    {"f16c", AOT_X86_F16C},
    {"fma", AOT_X86_FMA},
    {"lzcnt", AOT_X86_LZCNT},
    {"movbe", AOT_X86_MOVBE},
    {"avx512f", AOT_X86_AVX512F},
    {"avx512bw", AOT_X86_AVX512BW},
    {"avx512cd", AOT_X86_AVX512CD},
    {"avx512dq", AOT_X86_AVX512DQ},
    {"avx512vl", AOT_X86_AVX512VL},
    {"avx512vnni", AOT_X86_AVX512VNNI},
    {"avx512bf16", AOT_X86_AVX512BF16},
};

static const Feature kArm[] = {
    {"fp", AOT_ARM_FP},           {"asimd", AOT_ARM_ASIMD},       {"crc32", AOT_ARM_CRC32},
    {"atomics", AOT_ARM_ATOMICS}, {"asimdrdm", AOT_ARM_ASIMDRDM}, {"fp16", AOT_ARM_FP16},
    {"lrcpc", AOT_ARM_LRCPC},     {"asimddp", AOT_ARM_ASIMDDP},   {"sve", AOT_ARM_SVE},
    {"sve2", AOT_ARM_SVE2},       {"i8mm", AOT_ARM_I8MM},         {"bf16", AOT_ARM_BF16},
};

static bool Equals(const char* name, size_t size, const char* text) {
  return strlen(text) == size && memcmp(name, text, size) == 0;
}

uint64_t aot_cpu_feature_bits(uint32_t arch, const char* name, size_t size) {
  const Feature* table = arch == AOT_ARCH_X86_64 ? kX86 : kArm;
  size_t count = 0;
  if (arch == AOT_ARCH_X86_64) count = sizeof kX86 / sizeof kX86[0];
  if (arch == AOT_ARCH_AARCH64) count = sizeof kArm / sizeof kArm[0];
  for (size_t i = 0; i < count; ++i) {
    if (Equals(name, size, table[i].name)) return table[i].bits;
  }
  return 0;
}

uint32_t aot_cpu_arch_of_triple(const char* triple, size_t size) {
  size_t dash = 0;
  while (dash < size && triple[dash] != '-') ++dash;
  if (Equals(triple, dash, "x86_64")) return AOT_ARCH_X86_64;
  if (Equals(triple, dash, "aarch64")) return AOT_ARCH_AARCH64;
  return AOT_ARCH_UNKNOWN;
}

uint32_t aot_cpu_arch_of_elf(uint32_t machine) {
  if (machine == 62) return AOT_ARCH_X86_64;   /* EM_X86_64 */
  if (machine == 183) return AOT_ARCH_AARCH64; /* EM_AARCH64 */
  return AOT_ARCH_UNKNOWN;
}

const char* aot_cpu_arch_name(uint32_t arch) {
  if (arch == AOT_ARCH_X86_64) return "x86_64";
  if (arch == AOT_ARCH_AARCH64) return "aarch64";
  return "unknown";
}
