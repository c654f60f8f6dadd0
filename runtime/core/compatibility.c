#include "runtime/core/compatibility.h"

#include "runtime/core/error.h"
#include "runtime/format/entry.h"

static aot_status CheckFeatures(const aot_manifest* m, const aot_cpu* cpu, const char* path, aot_error* error) {
  char missing[256];
  aot_text_builder list;
  aot_text_begin(&list, missing, sizeof missing);
  for (uint32_t i = 0; i < m->features.count; ++i) {
    aot_text name;
    aot_manifest_feature(m, i, &name);
    const uint64_t bits = aot_cpu_feature_bits(cpu->arch, name.data, name.size);
    /* A name that this runtime doesn't know can't be vouched for. */
    if (bits != 0 && (cpu->features & bits) == bits) continue;
    if (list.size != 0) aot_text_add(&list, ", ");
    aot_text_add_bytes(&list, name.data, name.size);
  }
  if (list.size == 0) return AOT_OK;
  return AOT_REPORT(error, AOT_MISSING_CPU_FEATURE, path, AOT_NO_OFFSET, AOT_TEXT("compiled for "),
                    AOT_TEXT(m->info.target_name.data), AOT_TEXT("; this processor lacks "), AOT_TEXT(missing));
}

aot_status aot_check_compatibility(const aot_manifest* m, const aot_cpu* cpu, const char* path, aot_error* error) {
  if (m->info.code_abi_version != AOT_CODE_ABI_VERSION) {
    return AOT_REPORT(error, AOT_VERSION_MISMATCH, path, AOT_NO_OFFSET, AOT_TEXT("code ABI version "),
                      AOT_NUMBER(m->info.code_abi_version), AOT_TEXT(", this runtime has version "),
                      AOT_NUMBER(AOT_CODE_ABI_VERSION));
  }
  if (aot_cpu_arch_of_triple(m->info.triple.data, m->info.triple.size) != cpu->arch) {
    return AOT_REPORT(error, AOT_WRONG_TARGET, path, AOT_NO_OFFSET, AOT_TEXT("compiled for "),
                      AOT_TEXT(m->info.target_name.data), AOT_TEXT(" ("), AOT_TEXT(m->info.triple.data),
                      AOT_TEXT("), this processor is "), AOT_TEXT(aot_cpu_arch_name(cpu->arch)));
  }
  const aot_status status = CheckFeatures(m, cpu, path, error);
  if (status != AOT_OK) return status;
  /* Code for scalable vectors is compiled for one length; on another it would be silently wrong. */
  bool scalable = false;
  for (uint32_t i = 0; i < m->features.count; ++i) {
    aot_text name;
    aot_manifest_feature(m, i, &name);
    const uint64_t bits = aot_cpu_feature_bits(cpu->arch, name.data, name.size);
    scalable |= cpu->arch == AOT_ARCH_AARCH64 && (bits & (AOT_ARM_SVE | AOT_ARM_SVE2)) != 0;
  }
  if (scalable ? m->info.vector_bits != cpu->vector_bits : m->info.vector_bits > cpu->vector_bits) {
    return AOT_REPORT(error, AOT_MISSING_CPU_FEATURE, path, AOT_NO_OFFSET, AOT_TEXT("compiled for vectors of "),
                      AOT_NUMBER(m->info.vector_bits), AOT_TEXT(" bits, this processor has "),
                      AOT_NUMBER(cpu->vector_bits));
  }
  return AOT_OK;
}
