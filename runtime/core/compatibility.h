/* Whether this runtime on this processor may run an artifact; decided from its manifest, before code is mapped. */
#ifndef AOT_RUNTIME_CORE_COMPATIBILITY_H_
#define AOT_RUNTIME_CORE_COMPATIBILITY_H_

#include "runtime/format/cpu_features.h"
#include "runtime/format/manifest.h"
#include "runtime/include/aot/aot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* VERSION_MISMATCH (code ABI), WRONG_TARGET, MISSING_CPU_FEATURE (the message lists all that are missing). */
aot_status aot_check_compatibility(const aot_manifest* manifest, const aot_cpu* cpu, const char* path,
                                   aot_error* error);

#ifdef __cplusplus
}
#endif

#endif
