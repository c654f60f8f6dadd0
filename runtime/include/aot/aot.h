/* The runtime's C interface: load a compiled model, ask what it takes, run it.
 *
 *   aot_model* model;
 *   aot_error error;
 *   if (aot_load_file("model.so", NULL, &model, &error) != AOT_OK) { puts(error.message); return 1; }
 *   aot_run_args args = {.size = sizeof args};
 *   args.inputs = inputs;   args.input_count = 1;
 *   args.outputs = outputs; args.output_count = 1;
 *   if (aot_run(model, &args) != AOT_OK) ...
 *   aot_unload(model);
 *
 * Threads: every function may be called from any thread. A loaded model is not changed by queries, nor by runs that
 * bring their own arena and states: any number of those may go on at once. A run that uses the model's own arena or
 * states excludes another such run, which then fails with AOT_BUSY; nothing waits. aot_unload must come after all other
 * calls on the model.
 *
 * Memory: nothing is allocated after loading except inside aot_self_test, which gives it back. A run makes no system
 * call and takes no lock.
 *
 * Structures that start with `size` grow at their end in later versions: set it to the structure's sizeof and the rest
 * to zero. */
#ifndef AOT_AOT_H_
#define AOT_AOT_H_

#include <stddef.h>
#include <stdint.h>

#include "aot/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ----------------------------------------------------------------------------------------------------- */

typedef enum aot_status {
  /* One a line with its comment: docs/errors.md is made from them. */
  AOT_OK = 0,                  /* done */
  AOT_INVALID_ARGUMENT = 1,    /* the call is wrong: a null pointer, a count, a size or an alignment */
  AOT_NOT_FOUND = 2,           /* no such file, tensor or model */
  AOT_IO_ERROR = 3,            /* the operating system refused; system_error tells why */
  AOT_OUT_OF_MEMORY = 4,       /* no memory for what loading needs, or for the buffers of a self-test */
  AOT_MALFORMED = 5,           /* the bytes are no artifact, or a damaged one */
  AOT_VERSION_MISMATCH = 6,    /* made for another version of the format or of the code ABI */
  AOT_WRONG_TARGET = 7,        /* made for another processor architecture */
  AOT_MISSING_CPU_FEATURE = 8, /* made for a more capable processor of this architecture */
  AOT_DIGEST_MISMATCH = 9,     /* the bytes are not those that were vouched for */
  AOT_ARENA_TOO_SMALL = 10,    /* a run's arena is smaller than aot_arena_bytes says */
  AOT_BUSY = 11,               /* in use by another thread or process */
  AOT_SELF_TEST_FAILED = 12,   /* the model computes something else than its reference */
  AOT_NO_SELF_TEST = 13,       /* the artifact brings no self-test vector */
  AOT_EXECUTION_FAILED = 14,   /* the model's code reported an error of its own */
  AOT_UNSUPPORTED = 15,        /* a newer interface was asked for than this runtime has */
  /* Fetching (aot/ota.h). */
  AOT_NETWORK_ERROR = 32, /* the repository could not be reached, or answered with an error */
  AOT_BAD_SIGNATURE = 33, /* metadata without the signatures that its role demands */
  AOT_EXPIRED = 34,       /* metadata that is no longer valid at this time */
  AOT_ROLLBACK = 35,      /* metadata older than what this device has seen */
  AOT_LIMIT_EXCEEDED = 36 /* longer than a limit of aot_fetch_limits allows */
} aot_status;

/* "AOT_OK", "AOT_MALFORMED"...: the code's name. Static storage; "AOT_UNKNOWN_STATUS" for a number that is none. */
const char* aot_status_text(aot_status status);

#define AOT_NO_OFFSET UINT64_MAX

/* Where an error is told. The caller owns it; every function accepts NULL instead. Written only on failure. */
typedef struct aot_error {
  aot_status status;
  int32_t system_error; /* errno's value behind it, or 0 */
  uint64_t offset;      /* byte in `path` (or in the part in memory) at which the fault lies, or AOT_NO_OFFSET */
  char path[256];       /* the file, cut to fit; empty for memory */
  char message[512];    /* one sentence: what was wrong, where, what would be right */
} aot_error;

/* ---- Loading ---------------------------------------------------------------------------------------------------- */

typedef struct aot_model aot_model;

enum {
  /* Compare the SHA-256 of code and weights with the manifest's. (The manifest's own digest is always checked.) Files
   * are read through before they are used, so that a bad block is IO_ERROR and no signal; manifest and code are copied
   * into memory of the process first, so that what runs is what was verified even if the file is changed meanwhile.
   * Costs two passes over the file, the code's size in memory that isn't shared, and as much again while loading. */
  AOT_LOAD_VERIFY = 1u,
  /* Bring the weights and the code into memory now, so that the first run is as fast as the next. */
  AOT_LOAD_PREFAULT = 2u,
  /* Don't allocate an arena: every run brings its own. */
  AOT_LOAD_NO_ARENA = 4u,
  /* Don't keep states (see below): every run brings the buffers of all of them. */
  AOT_LOAD_NO_STATE = 8u
};

typedef struct aot_load_options {
  size_t size;
  uint32_t flags; /* AOT_LOAD_...; options that are NULL mean AOT_LOAD_PREFAULT alone */
  const uint8_t*
      manifest_sha256; /* 32 bytes that the manifest must have as its digest (from signed metadata), or NULL */
} aot_load_options;

/* A file, or memory if path is NULL. Memory must be aligned to 64 bytes and stay as it is until aot_unload; code is
 * copied out of it, weights are used in place. A file must not be changed in place while the model is loaded. */
typedef struct aot_source {
  const char* path;
  const void* data;
  size_t bytes;
} aot_source;

/* The parts of an artifact as a registry or an update client keeps them. */
typedef struct aot_parts {
  size_t size;
  aot_source manifest;
  aot_source code;
  aot_source weights;
} aot_parts;

/* Each loads an artifact: checks format version, digest of the manifest, code ABI version, architecture, CPU features
 * and vector length, all before any code is mapped, then maps code (read and execute) and weights (read-only; shared
 * among processes where they come from a file). On AOT_OK *model is the caller's, to be ended by aot_unload; on
 * anything else it is NULL and nothing stays behind.
 *
 * Errors: INVALID_ARGUMENT, NOT_FOUND, IO_ERROR, OUT_OF_MEMORY, MALFORMED, VERSION_MISMATCH, WRONG_TARGET,
 * MISSING_CPU_FEATURE, DIGEST_MISMATCH, UNSUPPORTED. */
aot_status aot_load_file(const char* path, const aot_load_options* options, aot_model** model, aot_error* error);
aot_status aot_load_memory(const void* data, size_t bytes, const aot_load_options* options, aot_model** model,
                           aot_error* error);
aot_status aot_load_parts(const aot_parts* parts, const aot_load_options* options, aot_model** model, aot_error* error);

/* NULL is fine. */
void aot_unload(aot_model* model);

/* ---- Questions -------------------------------------------------------------------------------------------------- */

#define AOT_MAX_DIMS 16
#define AOT_NO_STATE UINT32_MAX
#define AOT_NO_DIMS UINT32_MAX

typedef struct aot_tensor_info {
  size_t size;
  const char* name; /* lives as long as the model */
  uint32_t dtype;   /* aot_dtype */
  uint32_t rank;
  int64_t dims[AOT_MAX_DIMS]; /* rank of them; the last varies fastest in memory */
  uint64_t bytes;             /* of a buffer for it, exact */
  uint32_t state;             /* of an input: the output written over it; of an output: the input; or AOT_NO_STATE */
  uint32_t quantized; /* 1: real = scale * (stored - zero_point); 0: not, or not with one scale for the tensor */
  double scale;
  int64_t zero_point;
  /* Of an output whose dimensions the data decides: the number of the int64 output that a run writes them to; dims and
   * bytes are then the largest there can be. Else AOT_NO_DIMS. See aot_actual_output_info. */
  uint32_t dims_output;
} aot_tensor_info;

typedef struct aot_model_info {
  size_t size;
  /* Texts live as long as the model. */
  const char* model_name;
  const char* target_name;
  const char* triple;
  const char* compiler_version;
  const char* options; /* canonical, `key=value` a line */
  uint32_t format_version;
  uint32_t code_abi_version;
  uint32_t vector_bits;
  uint64_t code_bytes, weights_bytes;
  char key[65];          /* artifact key, hexadecimal */
  char model_sha256[65]; /* of the model that was compiled, hexadecimal */
} aot_model_info;

uint32_t aot_input_count(const aot_model* model);
uint32_t aot_output_count(const aot_model* model);
/* INVALID_ARGUMENT: index not below the count, or info->size too small. */
aot_status aot_input_info(const aot_model* model, uint32_t index, aot_tensor_info* info);
aot_status aot_output_info(const aot_model* model, uint32_t index, aot_tensor_info* info);
/* Index of the tensor with that name. NOT_FOUND if there is none. */
aot_status aot_input_index(const aot_model* model, const char* name, uint32_t* index);
aot_status aot_output_index(const aot_model* model, const char* name, uint32_t* index);
/* Exact: a run needs this many bytes (may be 0) at this alignment. */
uint64_t aot_arena_bytes(const aot_model* model);
uint32_t aot_arena_alignment(const aot_model* model);
aot_status aot_get_model_info(const aot_model* model, aot_model_info* info);

/* Buckets. An artifact may hold several bindings of the model's symbolic dimensions (--bucket batch=1 --bucket batch=8)
 * over one copy of the weights. Names, types and ranks of inputs and outputs are the same in all; dimensions, sizes and
 * the memory of a run differ. What the functions above say is the first bucket's, except aot_arena_bytes: the largest.
 * An artifact without buckets has one, with an empty name. */
typedef struct aot_bucket_info {
  size_t size;
  const char* name;     /* "batch=8"; lives as long as the model */
  uint64_t arena_bytes; /* of a run of this bucket, exact */
} aot_bucket_info;

uint32_t aot_bucket_count(const aot_model* model);
/* INVALID_ARGUMENT: a number not below its count, or info->size too small. */
aot_status aot_get_bucket_info(const aot_model* model, uint32_t bucket, aot_bucket_info* info);
aot_status aot_bucket_input_info(const aot_model* model, uint32_t bucket, uint32_t index, aot_tensor_info* info);
aot_status aot_bucket_output_info(const aot_model* model, uint32_t bucket, uint32_t index, aot_tensor_info* info);
/* The first bucket whose inputs have these dimensions: one pointer for each input, with as many dimensions as it has,
 * or NULL for any. NOT_FOUND: none has. INVALID_ARGUMENT: another number of inputs than the model's. */
aot_status aot_find_bucket(const aot_model* model, const int64_t* const* input_dims, uint32_t input_count,
                           uint32_t* bucket);

/* ---- Running ---------------------------------------------------------------------------------------------------- */

/* Runs task(task_context, index) for each index in [0, count), in any order and on any threads, and returns when all
 * are done. */
typedef void (*aot_task)(void* task_context, uint32_t index);
typedef void (*aot_parallel_for)(void* pool, uint32_t count, aot_task task, void* task_context);

/* Called on the calling thread after each step of a run, in order, with the step's number from 0: for profiles. */
typedef void (*aot_trace)(void* trace_context, uint32_t step);

/* Members are only added at the end. `size` may be that of an older version: what comes behind it counts as NULL. */
typedef struct aot_run_args {
  size_t size;
  /* One pointer for each input and output, in the model's order, aligned to their element type, with the exact number
   * of bytes. No output may overlap an input or another output, except that the two of a state pair must be the same
   * buffer; or both NULL: the state that the model keeps. */
  const void* const* inputs;
  void* const* outputs;
  uint32_t input_count;
  uint32_t output_count;
  /* Sizes of the buffers for a check against the model's, or NULL: not checked. */
  const uint64_t* input_bytes;
  const uint64_t* output_bytes;
  /* NULL: the model's own arena. Its contents before and after a run mean nothing. */
  void* arena;
  uint64_t arena_bytes;
  /* NULL: everything on the calling thread. The result is the same to the bit. */
  aot_parallel_for parallel_for;
  void* pool;       /* first argument of parallel_for */
  aot_error* error; /* or NULL */
  /* NULL: none. Artifacts of compilers that knew no trace call none. */
  aot_trace trace;
  void* trace_context; /* first argument of trace */
  /* Of an artifact with buckets: the shapes of the inputs, one pointer to its dimensions for each (NULL: any), by which
   * the run takes the first bucket that has them; or, where input_dims is NULL, the bucket's number. */
  const int64_t* const* input_dims;
  uint32_t bucket;
} aot_run_args;

/* States. A pair of input and output that was compiled as a state (--state INPUT=OUTPUT; aot_tensor_info.state) is one
 * buffer: what a run finds there is the old value, what it leaves there the new one. The model keeps a buffer for each
 * pair, which is zero after loading, and uses it for runs that give NULL for both. A caller with several streams gives
 * each its own buffers instead. Buckets in which a state has the same shape share its buffer. After EXECUTION_FAILED a
 * state means nothing. aot_self_test doesn't touch them. */

/* Makes all states that the model keeps zero. INVALID_ARGUMENT: it keeps none. BUSY. */
aot_status aot_reset_states(aot_model* model, aot_error* error);
/* Copies the kept state of an input out of the model, or into it; `bytes` is the input's size. INVALID_ARGUMENT: no
 * state, another size, or the model keeps none. BUSY. */
aot_status aot_read_state(aot_model* model, uint32_t bucket, uint32_t input, void* to, uint64_t bytes,
                          aot_error* error);
aot_status aot_write_state(aot_model* model, uint32_t bucket, uint32_t input, const void* from, uint64_t bytes,
                           aot_error* error);

/* Fills the outputs. Deterministic: the same inputs give the same bits. On any error the outputs are untouched, except
 * with EXECUTION_FAILED.
 *
 * Errors: INVALID_ARGUMENT, NOT_FOUND (no bucket has the shapes), ARENA_TOO_SMALL, BUSY (the model's own arena or
 * states are in use), EXECUTION_FAILED, UNSUPPORTED. */
aot_status aot_run(aot_model* model, const aot_run_args* args);

/* After a run: aot_output_info with the dimensions and bytes that the run found, read from its `outputs` (as in
 * aot_run_args). Of an output whose dimensions the data decides, the first info->bytes of its buffer are the tensor,
 * packed in row-major order; the rest of the buffer is zero. All other outputs are as aot_output_info says.
 *
 *   if (aot_actual_output_info(model, 0, outputs, &info) == AOT_OK) printf("%lld boxes\n", (long long)info.dims[0]);
 *
 * INVALID_ARGUMENT: as aot_output_info; a null pointer; dimensions that no run wrote (negative or beyond the bounds).
 */
aot_status aot_actual_output_info(const aot_model* model, uint32_t index, void* const* outputs, aot_tensor_info* info);
/* The same after a run of that bucket. */
aot_status aot_bucket_actual_output_info(const aot_model* model, uint32_t bucket, uint32_t index, void* const* outputs,
                                         aot_tensor_info* info);

/* Runs the artifact's self-test vector and compares the outputs. AOT_OK: as the reference says. NO_SELF_TEST: there is
 * nothing to compare with. SELF_TEST_FAILED: the message tells output, element, both values. OUT_OF_MEMORY. BUSY: the
 * model's own arena is in use.
 *
 * Takes buffers for all inputs and outputs while it runs, and an arena where the model has none (AOT_LOAD_NO_ARENA). */
aot_status aot_self_test(aot_model* model, aot_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
