/* Reader of an artifact's manifest. Freestanding C11: no allocation, no library beyond memcpy and memcmp; fit for a
 * microcontroller and for a server that is handed bytes by strangers.
 *
 * aot_manifest_open checks the version first, then the digest, then every field, so that the accessors can't fail
 * except for an index that is out of range. An aot_manifest points into the caller's bytes, which must outlive it; it
 * is never written after opening, so any number of threads may read it. */
#ifndef AOT_RUNTIME_FORMAT_MANIFEST_H_
#define AOT_RUNTIME_FORMAT_MANIFEST_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format/bytes.h"
#include "runtime/format/fault.h"
#include "runtime/format/manifest_layout.h"
#include "runtime/include/aot/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of one element (sub-byte types take one), or 0 for a number that is no such type. */
uint32_t aot_dtype_bytes(uint32_t dtype);
/* "float32"; "unknown" for a number that is no such type. Static storage. */
const char* aot_dtype_name(uint32_t dtype);
/* Whether elements are floats of 16 bits or more: those have samples of type double in a self-test; all others (8-bit
 * floats too, by their bits) integers. */
bool aot_dtype_is_float(uint32_t dtype);

typedef struct aot_manifest_info {
  uint8_t key[32];
  uint8_t model_sha256[32];
  uint8_t code_sha256[32];
  uint8_t weights_sha256[32];
  uint64_t code_size;
  uint64_t weights_size;
  uint64_t arena_size;         /* bytes, exact */
  uint64_t scratch_size;       /* the part of the arena, in bytes, that holds no value of the plan */
  uint64_t descriptor_address; /* of the descriptor in the code object's address space */
  uint32_t arena_alignment;    /* bytes, a power of two */
  uint32_t page_size;          /* alignment of the weights in a `.so`, bytes */
  uint32_t code_abi_version;
  uint32_t vector_bits;
  aot_text model_name;
  aot_text compiler_version;
  aot_text options; /* canonical, `key=value` a line */
  aot_text target_name;
  aot_text triple;
} aot_manifest_info;

/* An array section. */
typedef struct aot_manifest_array {
  const uint8_t* records;
  uint32_t count;
  uint32_t record_size;
} aot_manifest_array;

typedef struct aot_manifest {
  aot_span bytes;
  uint32_t version;
  aot_manifest_info info;
  aot_span strings;
  aot_manifest_array features, inputs, outputs, dims, quantizations, quantization_values, states, bounds, plan,
      operators;
  aot_span self_test; /* empty: there is none */
  aot_manifest_array buckets;
  aot_span bucket_section;
  uint64_t name_bytes; /* of all records, those of buckets among them */
} aot_manifest;

typedef struct aot_manifest_tensor {
  aot_text name;
  uint32_t dtype;
  uint32_t rank;
  int64_t dims[AOT_MAX_RANK];
  uint64_t bytes;
  uint32_t quantization; /* index, or AOT_NO_INDEX */
} aot_manifest_tensor;

typedef struct aot_manifest_quantization {
  int32_t axis; /* -1: one scale for the tensor */
  uint32_t count;
  uint32_t first; /* for aot_manifest_quantization_value */
} aot_manifest_quantization;

/* The output takes the place of the input: both have the same buffer. */
typedef struct aot_manifest_state {
  uint32_t input;
  uint32_t output;
} aot_manifest_state;

/* The dimensions of the output are bounds: a run writes those it found to the output `dims`, int64, one a dimension. */
typedef struct aot_manifest_bound {
  uint32_t output;
  uint32_t dims;
} aot_manifest_bound;

typedef struct aot_manifest_plan_entry {
  aot_text name;
  uint64_t offset; /* in the arena */
  uint64_t size;
  uint32_t first_step, last_step; /* inclusive */
} aot_manifest_plan_entry;

typedef struct aot_manifest_operator {
  aot_text name;
  uint32_t count;
} aot_manifest_operator;

/* Self-test vector: how to make the inputs, and what sampled elements of the outputs must be. */
typedef enum aot_self_test_kind {
  AOT_SELF_TEST_GENERATED = 0, /* aot_self_test_fill makes the input */
  AOT_SELF_TEST_DATA = 1       /* the input's bytes are stored */
} aot_self_test_kind;

typedef enum aot_tolerance_class {
  AOT_TOLERANCE_EXACT = 0,    /* integers and booleans */
  AOT_TOLERANCE_FLOAT = 1,    /* |got - want| <= absolute + relative * |want| */
  AOT_TOLERANCE_QUANTIZED = 2 /* integers; |got - want| <= absolute */
} aot_tolerance_class;

typedef struct aot_self_test_input {
  aot_self_test_kind kind;
  uint32_t fraction_bits;
  int64_t low, high;
  aot_span data;
} aot_self_test_input;

typedef struct aot_self_test_output {
  aot_tolerance_class tolerance;
  double relative, absolute;
  uint32_t first_sample, sample_count;
} aot_self_test_output;

typedef struct aot_self_test_sample {
  uint64_t index;     /* element of the output */
  double float_value; /* for float types */
  int64_t int_value;  /* for all others */
} aot_self_test_sample;

/* Opens and checks a manifest of exactly `size` bytes. On false, *fault (unless NULL) tells why. */
bool aot_manifest_open(const void* data, size_t size, aot_manifest* manifest, aot_fault* fault);

/* Each fills *out and returns true, or returns false for an index that is not below the count. */
bool aot_manifest_feature(const aot_manifest* manifest, uint32_t index, aot_text* out);
bool aot_manifest_input(const aot_manifest* manifest, uint32_t index, aot_manifest_tensor* out);
bool aot_manifest_output(const aot_manifest* manifest, uint32_t index, aot_manifest_tensor* out);
bool aot_manifest_quantization_at(const aot_manifest* manifest, uint32_t index, aot_manifest_quantization* out);
bool aot_manifest_quantization_value(const aot_manifest* manifest, uint32_t index, double* scale, int64_t* zero_point);
bool aot_manifest_state_at(const aot_manifest* manifest, uint32_t index, aot_manifest_state* out);
bool aot_manifest_bound_at(const aot_manifest* manifest, uint32_t index, aot_manifest_bound* out);
bool aot_manifest_plan_at(const aot_manifest* manifest, uint32_t index, aot_manifest_plan_entry* out);
bool aot_manifest_operator_at(const aot_manifest* manifest, uint32_t index, aot_manifest_operator* out);
/* Opens the manifest of a bucket: the tensors, states, bounds, plan, arena size and self-test vector of one binding of
 * the symbolic dimensions. The tensors of `manifest` itself are those of the first bucket, its arena size the largest.
 */
bool aot_manifest_bucket(const aot_manifest* manifest, uint32_t index, aot_text* name, aot_manifest* out);
/* False also if the artifact has no self-test vector. */
bool aot_manifest_self_test_seed(const aot_manifest* manifest, uint64_t* seed);
bool aot_manifest_self_test_input(const aot_manifest* manifest, uint32_t index, aot_self_test_input* out);
bool aot_manifest_self_test_output(const aot_manifest* manifest, uint32_t index, aot_self_test_output* out);
bool aot_manifest_self_test_sample(const aot_manifest* manifest, uint32_t index, aot_self_test_sample* out);

#ifdef __cplusplus
}
#endif

#endif
