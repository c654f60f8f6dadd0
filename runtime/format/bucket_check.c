#include <string.h>

#include "runtime/format/manifest_check.h"

static bool SameArray(const aot_manifest_array* a, const aot_manifest_array* b) { return a->count == b->count; }

/* Tensors of one position in both; only dimensions and what follows from them may differ. */
static bool SameTensor(const aot_manifest_tensor* a, const aot_manifest_tensor* b) {
  return a->dtype == b->dtype && a->rank == b->rank && a->name.size == b->name.size &&
         memcmp(a->name.data, b->name.data, a->name.size) == 0;
}

static bool SameInterface(const aot_manifest* a, const aot_manifest* b) {
  if (!SameArray(&a->inputs, &b->inputs) || !SameArray(&a->outputs, &b->outputs) ||
      !SameArray(&a->states, &b->states) || !SameArray(&a->bounds, &b->bounds)) {
    return false;
  }
  aot_manifest_tensor x, y;
  for (uint32_t i = 0; aot_manifest_input(a, i, &x) && aot_manifest_input(b, i, &y); ++i) {
    if (!SameTensor(&x, &y)) return false;
  }
  for (uint32_t i = 0; aot_manifest_output(a, i, &x) && aot_manifest_output(b, i, &y); ++i) {
    if (!SameTensor(&x, &y)) return false;
  }
  aot_manifest_state s, t;
  for (uint32_t i = 0; aot_manifest_state_at(a, i, &s) && aot_manifest_state_at(b, i, &t); ++i) {
    if (s.input != t.input || s.output != t.output) return false;
  }
  aot_manifest_bound c, d;
  for (uint32_t i = 0; aot_manifest_bound_at(a, i, &c) && aot_manifest_bound_at(b, i, &d); ++i) {
    if (c.output != d.output || c.dims != d.dims) return false;
  }
  return true;
}

bool aot_manifest_check_bucket(const aot_manifest* whole, const aot_manifest* bucket, uint64_t at, aot_fault* fault) {
  const aot_manifest_info *a = &whole->info, *b = &bucket->info;
  if (bucket->buckets.count != 0) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at, "number of buckets in a bucket", bucket->buckets.count, 0);
  }
  if (memcmp(a->key, b->key, sizeof a->key) != 0 ||
      memcmp(a->code_sha256, b->code_sha256, sizeof a->code_sha256) != 0 ||
      memcmp(a->weights_sha256, b->weights_sha256, sizeof a->weights_sha256) != 0 || a->code_size != b->code_size ||
      a->weights_size != b->weights_size || a->descriptor_address != b->descriptor_address) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at, "code or weights of a bucket: their size in bytes", b->code_size,
                    a->code_size);
  }
  if (b->arena_size > a->arena_size || b->arena_alignment != a->arena_alignment) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at, "arena size of a bucket", b->arena_size, a->arena_size);
  }
  if (!SameInterface(whole, bucket)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at,
                    "inputs and outputs of a bucket, which must have the whole's names and types: their number",
                    (uint64_t)bucket->inputs.count + bucket->outputs.count,
                    (uint64_t)whole->inputs.count + whole->outputs.count);
  }
  return true;
}
