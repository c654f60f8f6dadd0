/* Inside the manifest reader: the checks that opening makes on the records, and where the parts of a self-test vector
 * lie. */
#ifndef AOT_RUNTIME_FORMAT_MANIFEST_CHECK_H_
#define AOT_RUNTIME_FORMAT_MANIFEST_CHECK_H_

#include "runtime/format/manifest.h"

/* The pair at p names a text inside STRINGS. */
bool aot_manifest_check_text(const aot_manifest* manifest, const uint8_t* p, aot_fault* fault);
/* Values of manifest->info; `at` is the section's place for messages. */
bool aot_manifest_check_info(const aot_manifest* manifest, uint64_t at, aot_fault* fault);
/* Every record of every array. */
bool aot_manifest_check_records(const aot_manifest* manifest, aot_fault* fault);
/* After the records: the self-test vector, if there is one. */
bool aot_manifest_check_self_test(const aot_manifest* manifest, aot_fault* fault);

/* That the bucket, an opened manifest that lies at `at` in the whole, is one of the same code and weights: with the
 * same names and types, and no more memory than the whole says. */
bool aot_manifest_check_bucket(const aot_manifest* whole, const aot_manifest* bucket, uint64_t at, aot_fault* fault);

typedef struct aot_self_test_places {
  const uint8_t *inputs, *outputs, *samples, *data;
  uint32_t input_count, output_count, sample_count, data_size;
} aot_self_test_places;

/* All zero if the manifest has no self-test vector. The section must hold at least its header. */
aot_self_test_places aot_self_test_find(const aot_manifest* manifest);

#endif
