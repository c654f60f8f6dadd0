/* What a loaded model consists of. Inside the runtime only. */
#ifndef AOT_RUNTIME_CORE_MODEL_H_
#define AOT_RUNTIME_CORE_MODEL_H_

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/core/code_map.h"
#include "runtime/format/entry.h"
#include "runtime/format/manifest.h"
#include "runtime/include/aot/aot.h"

/* One source of bytes: a mapped file that the model owns, or memory that the caller does. */
typedef struct aot_part {
  const char* path; /* for messages while loading; NULL for memory */
  aot_port_file file;
  aot_span bytes;
  bool mapped;
} aot_part;

enum { AOT_PART_COUNT = 3 };

/* Pages of the model's own with a copy of bytes that somebody could change in the file. */
typedef struct aot_copy {
  void* pages; /* NULL: none */
  size_t bytes;
} aot_copy;

/* Buffers of the states that the model keeps, and the pointers of a run that uses them, in one allocation. */
typedef struct aot_states {
  void* pages; /* NULL: none, or not kept (AOT_LOAD_NO_STATE) */
  size_t bytes;
  const void** inputs; /* one for each input and output of the model; written by the run that uses them */
  void** outputs;
  uint8_t** buffers; /* one for each state of each bucket; buckets whose state has one shape share it */
  uint8_t* values;   /* all buffers together */
  size_t value_bytes;
} aot_states;

struct aot_model {
  aot_manifest manifest;          /* points into one of the parts */
  aot_manifest* bucket_memory;    /* NULL: the artifact has no buckets */
  const aot_manifest* buckets;    /* what a run goes by: the buckets', or the manifest itself */
  uint32_t bucket_count;          /* at least 1 */
  aot_part parts[AOT_PART_COUNT]; /* the whole file, or manifest, code and weights; unused ones are empty */
  aot_copy manifest_copy;         /* with AOT_LOAD_VERIFY; what `manifest` points into then */
  aot_copy code_copy;             /* while loading */
  aot_code_map code;
  aot_code_entry entry;
  const uint8_t* weights;
  void* arena; /* NULL: none of its own, or none needed */
  uint64_t arena_bytes;
  aot_states states;
  atomic_flag in_use; /* by who holds it: the arena and the states */
};

/* Allocates the states, zeroed. */
aot_status aot_states_allocate(aot_model* model, aot_error* error);
void aot_states_free(aot_model* model);
/* The buffer of a state in a bucket. Only where states are kept. */
uint8_t* aot_state_buffer(const aot_model* model, uint32_t bucket, uint32_t state);
/* Whether the caller leaves a state to the model: both pointers are NULL. */
bool aot_states_wanted(const aot_model* model, const aot_run_args* args);
/* Replaces the pointers of *args (inputs and outputs, of the model's number) by the model's own, which hold the
 * caller's and those of the states that are left to the model. */
void aot_states_use(aot_model* model, uint32_t bucket, aot_run_args* args);

#endif
