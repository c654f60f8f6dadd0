/* What a loaded model consists of. Inside the runtime only. */
#ifndef AOT_RUNTIME_CORE_MODEL_H_
#define AOT_RUNTIME_CORE_MODEL_H_

#include <stdatomic.h>

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

struct aot_model {
  aot_manifest manifest;          /* points into one of the parts */
  aot_part parts[AOT_PART_COUNT]; /* the whole file, or manifest, code and weights; unused ones are empty */
  aot_copy manifest_copy;         /* with AOT_LOAD_VERIFY; what `manifest` points into then */
  aot_copy code_copy;             /* while loading */
  aot_code_map code;
  aot_code_entry entry;
  const uint8_t* weights;
  void* arena; /* NULL: none of its own, or none needed */
  uint64_t arena_bytes;
  atomic_flag arena_in_use;
};

#endif
